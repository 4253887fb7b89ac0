"""The chat: one conversation, a prompt and a status line over one Client. Here: its keys and its commands.

Holds no state of truth: what it shows comes from events and from what the client has stored.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, cast, get_args

from textual import work
from textual.binding import BindingType

from engine.errors import AgentError
from engine.harness.permissions import Mode
from engine.values import Rating
from ui.attaching import attach
from ui.client import Client
from ui.present import display_line, display_text
from ui.terminal.answering import MAX_NAME_CELLS
from ui.terminal.apart import apart
from ui.terminal.base import STATUS_EVERY_S, ChatOptions
from ui.terminal.commands import KNOWN_NAMES, ForModel, Typed, Unknown, parse
from ui.terminal.composer import Composer
from ui.terminal.exporting import MAX_PATH_CELLS, parse_wish, write_export
from ui.terminal.history import Chosen
from ui.terminal.keys import binding
from ui.terminal.overlays import TitleScreen
from ui.terminal.palette import DARK, LIGHT
from ui.terminal.prompt import PromptBox
from ui.terminal.suggesting import SuggestingScreen
from ui.thinking import answer_text

RATINGS: Final[dict[str, Rating]] = {"up": 1, "down": -1, "none": 0}
OF_THE_APP: Final = ("help", "quit")


class ChatScreen(SuggestingScreen):
    AUTO_FOCUS = "#composer"
    BINDINGS: ClassVar[list[BindingType]] = [
        binding("chat.new", "new"),
        binding("chat.regenerate", "regenerate"),
        binding("chat.history", "history"),
        binding("chat.edit", "edit"),
        binding("chat.expert", "expert"),
        binding("chat.tree", "tree"),
        binding("chat.thoughts", "thoughts"),
        binding("chat.previous_turn", "select(-1)"),
        binding("chat.next_turn", "select(1)"),
        binding("chat.previous_version", "version(-1)"),
        binding("chat.next_version", "version(1)"),
        binding("chat.accept", "accept_suggestion"),
        binding("chat.decline", "dismiss_suggestion"),
        binding("chat.page_up", "page(-1)"),
        binding("chat.page_down", "page(1)"),
    ]

    def __init__(self, client: Client, options: ChatOptions) -> None:
        super().__init__(client, options)
        self._with_argument: Mapping[str, Callable[[str], object]] = {
            "expert": self.action_expert,
            "history": self.action_history,
            "rename": self.action_rename,
            "export": self.action_export,
            "attach": self.action_attach,
            "thumb": self.action_thumb,
            "better": self.action_better,
            "teach": self.action_teach,
            "memory": self.action_memory,
            "profile": self.action_profile,
            "theme": self.action_theme,
            "mode": self.action_mode,
        }

    async def on_mount(self) -> None:
        self.set_interval(STATUS_EVERY_S, self._tick)
        if self.conversation_id is None:
            await self._welcome()
        else:
            self._open(Chosen(self.conversation_id))
        if self._notices:
            await self._transcript.note("\n".join(self._notices))
        self._learn_what_answers()
        self.look_for_suggestion()
        self._refresh()

    # What the user submits.

    async def on_composer_submitted(self, message: Composer.Submitted) -> None:
        if self._prompt.correcting_turn_id is not None:
            self._note_edit(self._prompt.correcting_turn_id, message.text, message.provenance)
            return
        match parse(message.text):
            case ForModel(text=""):
                return
            case Unknown(name=name, nearest=""):
                await self.note("command.unknown", name=display_line(name, MAX_NAME_CELLS), known=KNOWN_NAMES)
            case Unknown(name=name, nearest=nearest):
                await self.note("command.nearest", name=display_line(name, MAX_NAME_CELLS), nearest=nearest)
            case Typed(command=command, argument=argument):
                self.composer.put("")
                await self.carry_out(command.action, argument)
            case ForModel(text=text):
                if not self._takes_as_better(text, message.provenance):
                    await self._send(text, message.provenance)

    async def carry_out(self, action: str, argument: str = "") -> None:
        """Run the action of a command, typed or chosen from the palette."""
        if action in OF_THE_APP:
            await self.app.run_action(action)
        elif action in self._with_argument:
            self._with_argument[action](argument)
        else:
            await self.run_action(action)

    def on_descendant_focus(self) -> None:
        self._refresh()

    def on_prompt_box_changed(self, message: PromptBox.Changed) -> None:
        self._refresh()

    # Actions on a message and its answer: of the selected turn, or of the last.

    def action_edit(self) -> None:
        if self._refuse_while_busy():
            return
        target = self._target("nothing.edit")
        if target is not None:
            turn_id, view = target
            self._prompt.edit(turn_id, view.user_text, view.attachments)
            self._refresh()

    def action_copy(self) -> None:
        target = self._target("nothing.copy")
        if target is None:
            return
        text = display_text(answer_text(target[1].answer_text))
        if text:
            self.app.copy_to_clipboard(text)
        self.say_briefly("copied" if text else "nothing.copy")

    @work(group="rate")
    async def action_thumb(self, name: str, takes_back: bool = False) -> None:
        """Rate an answer "up", "down" or "none". `takes_back`: the same rating twice is none."""
        rating = RATINGS.get(name.lower())
        if rating is None:
            self.say_briefly("thumb.usage")
            return
        target = self._target("nothing.rate")
        if target is None:
            return
        turn_id, view = target
        rating = 0 if takes_back and view.rating == rating else rating
        try:
            await apart(partial(self._client.rate, turn_id, rating))
        except AgentError as error:
            await self.show_error(error)
            return
        view.show_rating(rating)

    def action_thoughts(self) -> None:
        self._transcript.toggle_details(self.selected)

    # Actions on the conversation.

    @work(exclusive=True, group="mode")
    async def action_mode(self, name: str = "") -> None:
        """What tools may do in this conversation without asking; without `name`, say what they may now."""
        if self.conversation_id is None:
            self.say_briefly("nothing.conversation")
            return
        conversation_id, mode, tools = self.conversation_id, name.lower(), self._client.tools
        try:
            if mode not in get_args(Mode):
                self.say_briefly("mode.usage", mode=await apart(partial(tools.mode, conversation_id)))
                return
            await apart(partial(tools.set_mode, conversation_id, cast(Mode, mode)))
        except AgentError as error:
            await self.show_error(error)
            return
        await self.note(f"mode.{mode}")

    def action_rename(self, title: str = "") -> None:
        if self.conversation_id is None:
            self.say_briefly("nothing.conversation")
        elif title:
            self._rename(title)
        else:
            self._ask_for_title()

    @work(exclusive=True, group="rename")
    async def _ask_for_title(self) -> None:
        try:
            conversation = await apart(partial(self._client.conversation, str(self.conversation_id)))
        except AgentError as error:
            await self.show_error(error)
            return
        title = await self.app.push_screen_wait(TitleScreen(conversation.title, self._language))
        if title is not None:
            self._rename(title)

    @work(group="rename")
    async def _rename(self, title: str) -> None:
        try:
            await apart(partial(self._client.rename, str(self.conversation_id), title))
        except AgentError as error:
            await self.show_error(error)
            return
        self.say_briefly("renamed", title=display_line(title, MAX_NAME_CELLS))

    @work(exclusive=True, group="export")
    async def action_export(self, argument: str = "") -> None:
        """Write the conversation to a file of the folder in use, or to the one that is named."""
        if self.conversation_id is None:
            self.say_briefly("nothing.conversation")
            return
        conversation_id, wish = self.conversation_id, parse_wish(argument)

        def export() -> Path:
            return write_export(self._client.export_conversation(conversation_id), wish, self._folder, self._language)

        try:
            path = await apart(export)
        except AgentError as error:
            await self.show_error(error)
            return
        await self.note("export.done", path=display_line(str(path), MAX_PATH_CELLS))

    @work(exclusive=True, group="attach")
    async def action_attach(self, name: str = "") -> None:
        """Let a text file go with the next message; "none" takes all of them back."""
        if not name:
            await self.note("attach.usage")
            return
        if name.lower() == "none":
            self.say_briefly("attach.none")
            self._prompt.set_attached(())
            return
        path = self._folder / Path(name).expanduser()
        try:
            self._prompt.attach(await apart(partial(attach, path, self._language)))
        except AgentError as error:
            await self.show_error(error)

    # The screen.

    def action_theme(self, name: str = "") -> None:
        """Dark, light, or the other one."""
        themes = {"": LIGHT if self.app.theme == DARK.name else DARK, "dark": DARK, "light": LIGHT}
        theme = themes.get(name.lower())
        if theme is None:
            self.say_briefly("theme.usage")
        else:
            self.app.theme = theme.name

    def action_page(self, direction: int) -> None:
        self._transcript.page(direction)

    def step_back(self) -> None:
        """Esc with nothing running: close the innermost thing that is open in the chat."""
        if self._prompt.close_offers():
            return
        if self.selected is not None:
            self.composer.focus()
            return
        self._prompt.cancel_aim()
        self.clear_selection()
        self._refresh()
