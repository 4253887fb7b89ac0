"""Who answers: the base that is being loaded, the expert that is pinned, the profile in use, its adapters; and what
they know of the user."""

from functools import partial
from time import monotonic
from typing import Final

from textual import work

from engine.errors import AgentError
from ui.present import about_line, display_line
from ui.strings import say
from ui.terminal.adapters import AdaptersScreen
from ui.terminal.apart import apart
from ui.terminal.branching import BranchingScreen
from ui.terminal.memories import MemoriesScreen
from ui.terminal.overlays import ExpertsScreen, ProfilesScreen

MAX_NAME_CELLS: Final = 40


class AnsweringScreen(BranchingScreen):
    @work(exclusive=True, group="about")
    async def _learn_what_answers(self) -> None:
        """Waits for the base, which may take minutes the first time; the chat is there meanwhile."""
        self._waiting_since = monotonic()
        try:
            self.about = await apart(self._client.about)
        except AgentError as error:
            await self.show_error(error)
            return
        finally:
            self._waiting_since = None
            self._refresh()
        self._transcript.show_about(about_line(self.about, self._language))
        if self.about.notices:
            await self._transcript.note("\n".join((*self._notices, *map(display_line, self.about.notices))))

    @work(exclusive=True, group="experts")
    async def action_expert(self, name: str = "") -> None:
        """Pin `name`, go back to choosing with "auto", or ask which when there is no name."""
        try:
            experts = await apart(self._client.experts)
        except AgentError as error:
            await self.show_error(error)
            return
        known = {expert.lower(): expert for expert, _ in experts}
        if not name:
            self.app.push_screen(ExpertsScreen(experts, self.pinned, self._language), self._expert_chosen)
        elif name.lower() == "auto":
            self._expert_chosen("")
        elif name.lower() in known:
            self._expert_chosen(known[name.lower()])
        else:
            names = ", ".join(display_line(expert) for expert in known.values())
            await self.note("expert.unknown", name=display_line(name, MAX_NAME_CELLS), known=names)

    def _expert_chosen(self, expert: str | None) -> None:
        if expert is None:
            return
        self.pinned = expert or None
        if expert:
            self.say_briefly("expert.pinned", expert=display_line(expert))
        else:
            self.say_briefly("expert.unpinned")
        self._refresh()

    def action_adapters(self) -> None:
        """Which adapters there are; a change holds from the next turn on, so a turn that runs is no hindrance."""
        self.app.push_screen(AdaptersScreen(self._client, self._keymap, self._language))

    def action_memory(self, words: str = "") -> None:
        """What is remembered of the user; a change holds from the next turn on."""
        self.app.push_screen(MemoriesScreen(self._client, self._keymap, self._language, words))

    @work(exclusive=True, group="profiles")
    async def action_profile(self, name: str = "") -> None:
        """Answer with another profile, or ask which when there is no name."""
        if self._refuse_while_busy():
            return
        try:
            profiles = await apart(self._client.profiles)
        except AgentError as error:
            await self.show_error(error)
            return
        current = self.about.profile if self.about is not None else ""
        known = {profile.lower(): profile for profile, _ in profiles}
        if not name:
            self.app.push_screen(ProfilesScreen(profiles, current, self._language), self._profile_chosen)
        elif name.lower() in known:
            self._profile_chosen(known[name.lower()])
        else:
            names = ", ".join(display_line(profile) for profile in known.values())
            await self.note("profile.unknown", name=display_line(name, MAX_NAME_CELLS), known=names)

    def _profile_chosen(self, name: str | None) -> None:
        if name is not None and not self._refuse_while_busy():
            self._use_profile(name)

    @work(exclusive=True, group="profiles")
    async def _use_profile(self, name: str) -> None:
        self.loading_profile, self._waiting_since = name, monotonic()
        self._refresh()
        try:
            self.about = await apart(partial(self._client.use_profile, name))
        except AgentError as error:
            await self.show_error(error)
            return
        finally:
            self.loading_profile, self._waiting_since = "", None
            self._refresh()
        # The experts are others now.
        self.pinned = None
        lines = (
            say("profile.used", self._language, name=display_line(name)),
            about_line(self.about, self._language),
            *map(display_line, self.about.notices),
        )
        await self._transcript.note("\n".join(lines))
        self._refresh()
