"""The help: the keys of the screen that it was opened from as they are in force, then every command."""

from collections.abc import Iterator
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen

from ui.inert import cell_width
from ui.strings import say
from ui.terminal.commands import COMMANDS
from ui.terminal.keys import KEYS, Keymap
from ui.terminal.line import Line

KEYS_CELLS: Final = 19
USAGE_CELLS: Final = 25
_FIXED: Final = {
    "chat": (("Enter", "help.enter"), ("Up", "help.up"), ("Ctrl+C", "help.ctrl_c")),
    "history": (("", "help.type"), ("Enter", "help.history.enter"), ("Esc", "help.esc")),
    "experts": (("Up Down", "help.choose"), ("Enter", "help.experts.enter"), ("Esc", "help.esc")),
    "profiles": (("Up Down", "help.choose"), ("Enter", "help.profiles.enter"), ("Esc", "help.esc")),
    "tree": (("Up Down", "help.choose"), ("Enter", "help.tree.enter"), ("Esc", "help.esc")),
    "adapters": (("Up Down", "help.choose"), ("Enter", "help.adapters.enter"), ("Esc", "help.esc")),
    "signals": (("Up Down", "help.choose"), ("Esc", "help.esc")),
    "memory": (("Up Down", "help.choose"), ("Enter", "help.memory.enter"), ("Esc", "help.esc")),
    "teach": (("Enter", "help.teach.enter"), ("Up Down", "foot.scroll"), ("Esc", "help.esc")),
    "result": (("Up Down", "foot.scroll"), ("Esc", "help.esc")),
}
"""Topic → keys that cannot be changed."""
_PLACES: Final = {
    "chat": ("composer", "chat", "app"),
    "history": ("history",),
    "tree": ("tree",),
    "adapters": ("adapters",),
    "signals": ("signals",),
    "memory": ("memory",),
    "result": ("teach",),
}


def key_lines(topic: str, keymap: Keymap, language: str) -> str:
    """What each key of one screen does, and the id by which it gets another."""
    lines = [f"{_padded(keys, KEYS_CELLS)}{say(text, language)}" for keys, text in _FIXED[topic]]
    for place in _PLACES.get(topic, ()):
        lines.extend(_place_lines(place, keymap, language))
    if topic == "chat":
        lines.extend(("", say("help.turn", language), *_place_lines("turn", keymap, language)))
        lines.extend(("", say("help.call", language), *_place_lines("call", keymap, language)))
        lines.extend(("", say("help.own_keys", language)))
    return "\n".join(lines)


def _place_lines(place: str, keymap: Keymap, language: str) -> Iterator[str]:
    for key in KEYS:
        if key.place == place:
            keys = _padded(keymap.long(key.key_id), KEYS_CELLS)
            yield say("help.line", language, keys=keys, text=say(key.help_key, language), id=key.key_id)


def command_lines(language: str) -> str:
    return "\n".join(f"{_padded(command.usage, USAGE_CELLS)}{say(command.help_key, language)}" for command in COMMANDS)


def _padded(text: str, cells: int) -> str:
    """`text` and at least one blank, up to a width in terminal cells."""
    return text + " " * max(1, cells - cell_width(text))


class HelpScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close")]

    def __init__(self, topic: str, keymap: Keymap, language: str) -> None:
        super().__init__()
        self._topic = topic
        self._keymap = keymap
        self._language = language

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel"):
            yield Line(say("help.title", self._language), classes="title")
            with VerticalScroll():
                yield Line(key_lines(self._topic, self._keymap, self._language))
                yield Line("\n" + say("help.commands", self._language), classes="title")
                yield Line(command_lines(self._language))
            yield Line(say("help.close", self._language), classes="keys")
