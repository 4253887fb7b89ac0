"""The adapters of the profile in use, by expert: which there are, all that is known of one, and changes by hand."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from engine.adapters.records import AdapterDetails, AdapterRecord
from engine.errors import AgentError
from ui.adapter_changes import Change, carry_out, check_possible, question
from ui.adapter_groups import SHOWN, ExpertAdapters, Listed, has_own, read_groups
from ui.adapter_lines import age_text, short, state_text, verdict_text
from ui.client import Client
from ui.inert import display_line
from ui.present import error_lines
from ui.strings import say
from ui.terminal.adapter_details import CHANGING, CHANGING_FOOT, AdapterScreen
from ui.terminal.apart import apart
from ui.terminal.confirming import ConfirmScreen
from ui.terminal.keys import Keymap, foot
from ui.terminal.line import Line

ANSWERING, WAITING = "●", "○"
NOTE_CELLS: Final = 40
PURPOSE_CELLS: Final = 60


def adapter_line(one: Listed, now: datetime, language: str) -> str:
    """One line of the list: whether it answers, its hash, state, age, the gate's verdict, and its note."""
    record = one.record
    mark = ANSWERING if record.state in ("champion", "canary", "factory") else WAITING
    parts = (
        f"{mark} {short(record.content_hash)}",
        state_text(record, language),
        age_text(record.created_at, now, language),
        verdict_text(one.verdict, language) if record.kind != "factory" else "",
        display_line(record.note, NOTE_CELLS),
    )
    return " · ".join(part for part in parts if part)


class AdaptersScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = CHANGING
    help_topic = "adapters"

    def __init__(self, client: Client, keymap: Keymap, language: str) -> None:
        super().__init__()
        self._client = client
        self._keymap = keymap
        self._language = language
        self._shown = SHOWN
        self._entries: list[Listed | None] = []
        """What each line of the list stands for; None for a heading, and for the line that asks for older ones."""

    def compose(self) -> ComposeResult:
        keys = (("Enter", "foot.details"), *CHANGING_FOOT, ("Esc", "foot.close"))
        with Vertical(classes="panel"):
            yield Line(say("page.adapters", self._language), id="adapters-title", classes="title")
            yield OptionList(markup=False)
            yield Line(say("adapters.screen.loading", self._language), id="adapters-note")
            yield Line(foot(keys, self._keymap, self._language), classes="keys")

    def on_mount(self) -> None:
        self._read()

    # What is listed.

    @work(exclusive=True, group="adapters")
    async def _read(self, chosen: str = "", said: str = "") -> None:
        """List them anew with `chosen`, a hash, under the cursor; `said` is what was just done."""
        try:
            profile, groups = await apart(self._fetch)
        except AgentError as error:
            self._tell(error)
            return
        title = say("adapters.screen.title", self._language, profile=display_line(profile, NOTE_CELLS))
        self.query_one("#adapters-title", Line).show(title)
        self._fill(groups, chosen)
        self._say(said or ("" if has_own(groups) else say("adapters.screen.empty", self._language)))

    def _fetch(self) -> tuple[str, Sequence[ExpertAdapters]]:
        """(profile in use, its adapters). Waits for the base. Raises: AgentError."""
        profile, experts = self._client.about().profile, self._client.experts()
        return profile, read_groups(self._client.shelf, profile, experts, self._shown)

    def _fill(self, groups: Sequence[ExpertAdapters], chosen: str) -> None:
        options = self.query_one(OptionList)
        options.clear_options()
        self._entries = []
        now = datetime.now(UTC)
        for group in groups:
            purpose = display_line(group.purpose, PURPOSE_CELLS)
            heading = say("adapters.screen.group", self._language, expert=display_line(group.expert), purpose=purpose)
            options.add_option(Option(Content(heading), disabled=True))
            options.add_options(Option(Content(adapter_line(one, now, self._language))) for one in group.listed)
            self._entries += [None, *group.listed]
        if any(group.has_more for group in groups):
            options.add_option(Option(Content(say("adapters.screen.older", self._language))))
            self._entries.append(None)
        hashes = [one.record.content_hash if one else "" for one in self._entries]
        if hashes:
            options.highlighted = hashes.index(chosen) if chosen and chosen in hashes else 1
        options.focus()

    def _say(self, text: str) -> None:
        self.query_one("#adapters-note", Line).show(text)

    def _tell(self, error: AgentError) -> None:
        self._say("\n".join(error_lines(error.problem, error.hint, self._language)))

    @property
    def _chosen(self) -> AdapterRecord | None:
        place = self.query_one(OptionList).highlighted
        entry = self._entries[place] if place is not None else None
        return entry.record if entry else None

    # What is done with one of them.

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        record = self._chosen
        if record is not None:
            self._show(record)
        else:
            self._shown += SHOWN
            self._read(next(one.record.content_hash for one in reversed(self._entries) if one))

    @work(exclusive=True, group="adapter")
    async def _show(self, record: AdapterRecord) -> None:
        details = await self._details(record)
        if details is not None:
            change = await self.app.push_screen_wait(AdapterScreen(details, self._keymap, self._language))
            if change is not None:
                await self._change(change, record)

    @work(exclusive=True, group="adapter")
    async def action_change(self, change: Change) -> None:
        if (record := self._chosen) is not None:
            await self._change(change, record)

    async def _change(self, change: Change, record: AdapterRecord) -> None:
        """Ask, then do it; what cannot be done in its state is said instead."""
        details = await self._details(record)
        if details is None:
            return
        try:
            check_possible(change, details.record, self._language)
            agreed = await self.app.push_screen_wait(
                ConfirmScreen(question(change, details, self._language), self._language)
            )
            if not agreed:
                self._say(say("adapters.unchanged", self._language))
                return
            said = await apart(partial(carry_out, change, details.record, self._client.shelf, self._language))
        except AgentError as error:
            self._tell(error)
            return
        self._read(record.content_hash, said)

    async def _details(self, record: AdapterRecord) -> AdapterDetails | None:
        """None, which is said, where it cannot be read (any more)."""
        try:
            return await apart(partial(self._client.shelf.adapter, record.content_hash))
        except AgentError as error:
            self._tell(error)
            return None
