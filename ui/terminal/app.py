"""The program around the chat: theme, palette, help, stopping and quitting. Given a Client, it needs nothing else."""

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual import work
from textual.actions import SkipAction
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.screen import Screen

from ui.client import Client
from ui.strings import say
from ui.terminal.chat import ChatScreen
from ui.terminal.commands import COMMANDS, Command
from ui.terminal.overlays import HelpScreen
from ui.terminal.palette import DARK, LIGHT

QUIT_WAIT_S = 2.0
"""How long a running turn may take to close, with its partial text kept, before the program goes."""


class ChatApp(App[None]):
    """A chat in the terminal. `expert` pins one; `language` is "en" or "zh"."""

    CSS_PATH = "chat.tcss"
    TITLE = "Macaron Tall"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "escape", "Stop or close", priority=True, id="app.escape"),
        Binding("f1", "help", "Help", priority=True, id="app.help"),
    ]

    def __init__(
        self,
        client: Client,
        *,
        conversation_id: str | None = None,
        expert: str | None = None,
        language: str = "en",
        dark: bool = True,
    ) -> None:
        super().__init__()
        self._language = language
        self._quitting = False
        self.chat = ChatScreen(client, language, conversation_id, expert)
        self.register_theme(LIGHT)
        self.register_theme(DARK)
        self.theme = DARK.name if dark else LIGHT.name

    def get_default_screen(self) -> Screen[None]:
        return self.chat

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action, for the palette."""
        if self.chat.running is not None:
            yield SystemCommand(say("command.stop", self._language), "Esc", self.chat.stop_turn)
        for command in COMMANDS:
            yield SystemCommand(say(command.help_key, self._language), command.name, partial(self._carry_out, command))
        yield SystemCommand(say("command.theme", self._language), "", self.action_theme)

    async def _carry_out(self, command: Command) -> None:
        """Close what is open above the chat, then let the chat do it."""
        while self.screen is not self.chat:
            await self.pop_screen()
        await self.chat.carry_out(command.action)

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, CommandPalette):
            placeholder = say("palette.placeholder", self._language)
            self.push_screen(CommandPalette(placeholder=placeholder, id="--command-palette"))

    def action_theme(self) -> None:
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def action_help(self) -> None:
        """Explain the screen on top; pressed again, close the explanation."""
        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        else:
            self.push_screen(HelpScreen(getattr(self.screen, "help_topic", "chat"), self._language))

    def action_escape(self) -> None:
        """Stop what runs; otherwise close the top layer, which each layer does itself."""
        if self.chat.stop_turn():
            return
        if self.screen is not self.chat:
            raise SkipAction
        self.chat.cancel_editing()
        self.chat.clear_selection()

    def action_help_quit(self) -> None:
        """Ctrl+C with nothing selected: stop what runs, otherwise say how to quit."""
        if not self.chat.stop_turn():
            self.chat.say_briefly("quit.how")

    async def action_quit(self) -> None:
        if self._quitting or self.chat.running is None:
            self.chat.stop_everything()
            self.exit()
            return
        self._quitting = True
        self.chat.say_briefly("quit.waiting")
        self._quit_when_closed()

    @work(exclusive=True, group="quit")
    async def _quit_when_closed(self) -> None:
        self.chat.stop_everything()
        deadline = asyncio.get_running_loop().time() + QUIT_WAIT_S
        while self.chat.running is not None and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.02)
        self.exit()
