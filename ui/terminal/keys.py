"""The keys of the chat: what each is for, which is in force, and how it is written.

Pure. Every binding of every screen is made from here, so that the help, the line at the foot and the keys agree. The
user may give any of them another key by its id, in settings.toml under [keys].
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from textual.binding import Binding
from textual.keys import KEY_ALIASES, Keys, key_to_character

from ui.inert import display_line
from ui.strings import say

MAX_ID_CELLS: Final = 40


@dataclass(frozen=True, slots=True)
class Key:
    """One thing that a key does. `key_id` begins with the place where it works."""

    key_id: str
    keys: str
    """As Textual writes them, separated by commas."""
    has_priority: bool = False
    """True where the prompt, or a field, would otherwise take the key for itself."""

    @property
    def place(self) -> str:
        return self.key_id.partition(".")[0]

    @property
    def help_key(self) -> str:
        """The key of its explanation among the texts."""
        return f"key.{self.key_id}"


KEYS: Final = (
    Key("composer.newline", "ctrl+j,shift+enter"),
    Key("composer.complete", "tab", has_priority=True),
    Key("app.escape", "escape", has_priority=True),
    Key("chat.page_up", "pageup", has_priority=True),
    Key("chat.page_down", "pagedown", has_priority=True),
    Key("chat.new", "ctrl+n", has_priority=True),
    Key("chat.history", "ctrl+l", has_priority=True),
    Key("chat.edit", "ctrl+e", has_priority=True),
    Key("chat.regenerate", "ctrl+r", has_priority=True),
    Key("chat.expert", "ctrl+t", has_priority=True),
    Key("chat.tree", "ctrl+b", has_priority=True),
    Key("chat.thoughts", "ctrl+o", has_priority=True),
    Key("chat.previous_turn", "alt+up", has_priority=True),
    Key("chat.next_turn", "alt+down", has_priority=True),
    Key("chat.previous_version", "alt+left", has_priority=True),
    Key("chat.next_version", "alt+right", has_priority=True),
    Key("chat.accept", "alt+y", has_priority=True),
    Key("chat.decline", "alt+x", has_priority=True),
    Key("app.palette", "ctrl+p", has_priority=True),
    Key("app.help", "f1", has_priority=True),
    Key("app.quit", "ctrl+q", has_priority=True),
    Key("turn.edit", "e"),
    Key("turn.regenerate", "r"),
    Key("turn.branch", "b"),
    Key("turn.copy", "y"),
    Key("turn.thumb_up", "plus"),
    Key("turn.thumb_down", "minus"),
    Key("turn.edit_answer", "a"),
    Key("turn.pick", "p"),
    Key("call.once", "a"),
    Key("call.always", "A"),
    Key("call.reject", "r"),
    Key("call.never", "R"),
    Key("history.previous", "up"),
    Key("history.next", "down"),
    Key("history.rename", "ctrl+r", has_priority=True),
    Key("history.export", "ctrl+s", has_priority=True),
    Key("tree.branch", "b"),
    Key("signals.confirm", "c"),
    Key("signals.erase", "x,delete"),
    Key("memory.search", "/"),
    Key("memory.add", "n"),
    Key("memory.approve", "a"),
    Key("memory.edit", "e"),
    Key("memory.forget", "x,delete"),
    Key("memory.waiting", "w"),
    Key("memory.pause", "p"),
    Key("adapters.promote", "p"),
    Key("adapters.rollback", "b"),
    Key("adapters.remove", "x"),
    Key("teach.use", "u"),
    Key("teach.undo", "b"),
)
BY_ID: Final[Mapping[str, Key]] = {key.key_id: key for key in KEYS}

_TOGETHER: Final = {
    "composer": ("app", "chat"),
    "chat": ("composer", "app", "turn"),
    "turn": ("app", "chat"),
    "call": ("app", "chat"),
}
"""Place → other places whose keys work at the same time. Every place shares the keys of the app."""
_NAMED: Final = {*(key.value for key in Keys), *(name for names in KEY_ALIASES.values() for name in names)}
_SIGNS: Final = {"+": "plus", "-": "minus"}
"""Signs whose names Textual does not turn back into them."""
_SHORT: Final = {
    "alt+up": "Alt+↑",
    "alt+down": "Alt+↓",
    "alt+left": "Alt+←",
    "alt+right": "Alt+→",
    "plus": "+",
    "minus": "-",
}
_LONG: Final = {
    "escape": "Esc",
    "pageup": "PageUp",
    "pagedown": "PageDown",
    "plus": "+",
    "minus": "-",
    "enter": "Enter",
}


def binding(key_id: str, action: str) -> Binding:
    """The binding that carries `action` out."""
    key = BY_ID[key_id]
    return Binding(key.keys, action, key_id, show=False, priority=key.has_priority, id=key_id)


@dataclass(frozen=True, slots=True)
class Keymap:
    """The keys in force: the user's where they can be, else ours."""

    changed: Mapping[str, str]
    """Id → keys, of those that the user changed."""

    def keys_of(self, key_id: str) -> str:
        return self.changed.get(key_id, BY_ID[key_id].keys)

    def first(self, key_id: str) -> str:
        """The first of several keys, as in a sentence."""
        return long_name(self.keys_of(key_id).split(",")[0])

    def short(self, key_id: str) -> str:
        """As the line at the foot writes it, such as ^N."""
        return short_name(self.keys_of(key_id).split(",")[0])

    def long(self, key_id: str) -> str:
        """As the help writes it, such as Ctrl+N."""
        return " ".join(long_name(key) for key in self.keys_of(key_id).split(","))


def read_keymap(wanted: Mapping[str, str], language: str) -> tuple[Keymap, tuple[str, ...]]:
    """The keys in force, and in words each wish that cannot be had."""
    changed: dict[str, str] = {}
    problems: list[str] = []
    for key_id, keys in wanted.items():
        shown = display_line(key_id, MAX_ID_CELLS)
        if key_id not in BY_ID:
            problems.append(say("keymap.unknown", language, name=shown))
        elif not (pressed := _normal(keys)):
            problems.append(say("keymap.bad", language, name=shown, keys=display_line(keys, MAX_ID_CELLS)))
        elif _types_text(BY_ID[key_id], pressed):
            problems.append(say("keymap.letter", language, name=shown, keys=display_line(keys, MAX_ID_CELLS)))
        else:
            changed[key_id] = ",".join(pressed)
    # A wish may take the key of another that moved away, so they are judged together, the later ones giving way.
    for key_id in reversed(list(changed)):
        other = _clash(key_id, changed)
        if other is not None:
            keys = long_name(changed.pop(key_id).split(",")[0])
            problems.append(say("keymap.clash", language, name=key_id, other=other, keys=keys))
    return Keymap(changed), tuple(problems)


def _clash(key_id: str, changed: Mapping[str, str]) -> str | None:
    """Another id that works at the same time and has one of the same keys."""
    mine = set(changed[key_id].split(","))
    place = BY_ID[key_id].place
    for other in KEYS:
        meets = other.place == place or other.place in _TOGETHER.get(place, ("app",)) or place == "app"
        if other.key_id != key_id and meets and mine & set(changed.get(other.key_id, other.keys).split(",")):
            return other.key_id
    return None


def _normal(keys: str) -> tuple[str, ...]:
    """The single keys as Textual names them, a capital letter being another key; empty when one of them is none."""
    pressed = []
    for written in keys.replace(" ", "").split(","):
        key = written if len(written) == 1 else written.lower()
        *modifiers, name = key.rsplit("+", 1) if len(key) > 1 else [key]
        modifiers = modifiers[0].split("+") if modifiers else []
        is_known = len(name) == 1 or {name, key} & {*_NAMED, *_SIGNS.values()} or key_to_character(name) is not None
        if not name or not is_known or not set(modifiers) <= {"ctrl", "alt", "shift", "super", "meta", "hyper"}:
            return ()
        pressed.append(_SIGNS.get(key, key))
    return tuple(pressed)


def _types_text(key: Key, pressed: Iterable[str]) -> bool:
    """Whether a key that works while the user writes would take a letter away."""
    writes = key.place not in ("turn", "call", "tree", "adapters", "signals", "memory", "teach")
    return writes and any(
        name in (*_SIGNS.values(), "enter") or (key_to_character(name) or "\0").isprintable() for name in pressed
    )


def short_name(key: str) -> str:
    if key in _SHORT:
        return _SHORT[key]
    if key.startswith("ctrl+") and key.count("+") == 1:
        return "^" + key.removeprefix("ctrl+").capitalize()
    return long_name(key)


def long_name(key: str) -> str:
    if len(key) == 1 and key.isupper():
        return f"Shift+{key}"
    return "+".join(_LONG.get(part, part.capitalize()) for part in key.split("+"))


def foot(parts: Sequence[tuple[str, str]], keymap: Keymap, language: str) -> str:
    """The line of keys: (ids or names of keys with blanks between, key of their label) pairs."""
    return "  ".join(
        " ".join(keymap.short(key) if key in BY_ID else key for key in keys.split(" ")) + " " + say(label, language)
        for keys, label in parts
    )
