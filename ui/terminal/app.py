"""The program around the chat: theme, palette, help, stopping and quitting. Given a Client, it needs nothing else."""

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from textual import work
from textual.actions import SkipAction
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.screen import Screen

from ui.client import Client
from ui.strings import say
from ui.teaching import Teacher
from ui.terminal.apart import apart
from ui.terminal.base import ChatOptions
from ui.terminal.chat import ChatScreen
from ui.terminal.commands import COMMANDS, Command
from ui.terminal.confirming import ConfirmScreen
from ui.terminal.help import HelpScreen
from ui.terminal.keys import binding, read_keymap
from ui.terminal.palette import DARK, LIGHT

QUIT_WAIT_S = 2.0
"""How long a running turn may take to close, with its partial text kept, before the program goes."""
# Remember the title of the window and set ours; then bring the old one back. Nothing of a conversation is in it.
_SET_TITLE: Final = "\x1b[22;2t\x1b]2;Macaron Tall\x1b\\"
_RESTORE_TITLE: Final = "\x1b[23;2t"


class LeaveScreen(ConfirmScreen):
    """Whether to leave although a lesson is being learned."""


class ChatApp(App[None]):
    """A chat in the terminal. `expert` pins one; `language` is "en" or "zh".

    `keymap` gives keys of the user's own, by the ids of `ui.terminal.keys`; one that cannot be had is told at the
    start. `folder` is where files are attached from and exported to; None is the working directory. Without a
    `teacher` nothing can be taught.
    """

    CSS_PATH = "chat.tcss"
    TITLE = "Macaron Tall"
    BINDINGS: ClassVar[list[BindingType]] = [
        binding("app.escape", "escape"),
        binding("app.help", "help"),
        binding("app.palette", "command_palette"),
        binding("app.quit", "quit"),
    ]

    def __init__(
        self,
        client: Client,
        *,
        conversation_id: str | None = None,
        expert: str | None = None,
        language: str = "en",
        dark: bool = True,
        keymap: Mapping[str, str] | None = None,
        folder: Path | None = None,
        notices: Iterable[str] = (),
        teacher: Teacher | None = None,
        off_record: bool = False,
    ) -> None:
        super().__init__()
        self._language = language
        self._quitting = False
        self._keys, problems = read_keymap(keymap or {}, language)
        self.set_keymap(dict(self._keys.changed))
        options = ChatOptions(
            language,
            self._keys,
            folder if folder is not None else Path.cwd(),
            conversation_id,
            expert,
            (*notices, *problems),
            teacher,
            off_record,
        )
        self.chat = ChatScreen(client, options)
        self.register_theme(LIGHT)
        self.register_theme(DARK)
        self.theme = DARK.name if dark else LIGHT.name

    def get_default_screen(self) -> Screen[None]:
        return self.chat

    def on_mount(self) -> None:
        self._write(_SET_TITLE)

    def on_unmount(self) -> None:
        self._write(_RESTORE_TITLE)

    def _write(self, sequence: str) -> None:
        # As Textual itself does to set the clipboard; there is no driver before the start and after the end.
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action, for the palette."""
        if self.chat.running is not None:
            key = self._keys.long("app.escape")
            yield SystemCommand(say("command.stop", self._language), key, self.chat.stop_turn)
        for command in COMMANDS:
            yield SystemCommand(say(command.help_key, self._language), command.name, partial(self._carry_out, command))
        key = self._keys.long("chat.thoughts")
        yield SystemCommand(say("command.thoughts", self._language), key, self.chat.action_thoughts)

    async def _carry_out(self, command: Command) -> None:
        """Close what is open above the chat, then let the chat do it."""
        while self.screen is not self.chat:
            await self.pop_screen()
        await self.chat.carry_out(command.action)

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, CommandPalette):
            placeholder = say("palette.placeholder", self._language)
            self.push_screen(CommandPalette(placeholder=placeholder, id="--command-palette"))

    def action_help(self) -> None:
        """Explain the screen on top; pressed again, close the explanation."""
        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        else:
            topic = getattr(self.screen, "help_topic", "chat")
            self.push_screen(HelpScreen(topic, self._keys, self._language))

    def action_escape(self) -> None:
        """Stop what runs; otherwise close the top layer, which each layer does itself."""
        if self.chat.stop_turn():
            return
        if self.screen is not self.chat:
            raise SkipAction
        self.chat.step_back()

    def action_help_quit(self) -> None:
        """Ctrl+C with nothing selected: stop what runs, otherwise say how to quit."""
        if not self.chat.stop_turn():
            self.chat.say_briefly("quit.how", quit=self._keys.long("app.quit"))

    async def action_quit(self) -> None:
        """Leave; where a lesson would end by it, only when it was asked for twice or agreed to."""
        if self.chat.is_learning and not self._quitting and not isinstance(self.screen, LeaveScreen):
            self.push_screen(LeaveScreen(say("teach.leave", self._language), self._language), self._leave)
        else:
            self._leave(True)

    def _leave(self, agreed: bool | None) -> None:
        if not agreed:
            return
        if self._quitting or (self.chat.running is None and not self.chat.is_learning):
            self.chat.stop_everything()
            self.exit()
            return
        self._quitting = True
        self.chat.say_briefly("quit.waiting" if self.chat.running is not None else "teach.leaving")
        self._quit_when_closed()

    @work(exclusive=True, group="quit")
    async def _quit_when_closed(self) -> None:
        self.chat.stop_everything()
        deadline = asyncio.get_running_loop().time() + QUIT_WAIT_S
        await apart(partial(self.chat.end_lesson, QUIT_WAIT_S))
        while self.chat.running is not None and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.02)
        self.exit()
