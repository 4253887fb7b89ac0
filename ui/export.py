"""A conversation as a file: JSON that comes back exactly, Markdown to read, and a name for the file.

Pure: values in, text or plain data out. Knows no disk. What is read back may come from anyone, so every field is
checked, and a fault is told with its place, such as `turns[3].usage.prompt_tokens`.
"""

import dataclasses
import re
import types
import typing
import unicodedata
from collections.abc import Collection, Mapping
from datetime import datetime
from functools import cache
from typing import Any, Final

from engine.errors import UsageProblem
from engine.signals.values import Signal
from engine.values import Conversation, ConversationCopy, TurnRecord
from ui.export_markdown import to_markdown
from ui.inert import display_line

__all__ = ["FORMAT", "VERSION", "export_name", "from_json", "to_json", "to_markdown"]

FORMAT: Final = "macaron-conversation"
VERSION: Final = 1
MAX_NAME_BYTES: Final = 80
"""Of a file name without its ending; some encrypted file systems take no more than 143 in all."""

_MAX_COUNT: Final = 2**53
"""Beyond it JSON of other programs no longer tells whole numbers apart."""
_HINT: Final = "Export the conversation again; a file that was edited by hand may be beyond repair."
# What Windows takes for a device, whatever the ending.
_DEVICES: Final = frozenset(
    [
        "con",
        "prn",
        "aux",
        "nul",
        "conin$",
        "conout$",
        *(f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"),
    ]
)
_FORBIDDEN: Final = re.compile(r'[\\/:*?"<>|\x00-\x1f]')


def to_json(copy: ConversationCopy) -> dict[str, Any]:
    """Plain data; `from_json` gives the very same copy back. Signals are named only where there are any."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "conversation": _plain(copy.conversation),
        "turns": [_turn(turn) for turn in copy.turns],
    }
    return data | {"signals": [_plain(signal) for signal in copy.signals]} if copy.signals else data


def _turn(turn: TurnRecord) -> dict[str, Any]:
    """Without the adapter that answered: its hash means nothing where the file is read, and a copy never has one."""
    return {name: value for name, value in _plain(turn).items() if name != "adapter"}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def from_json(data: Any) -> ConversationCopy:
    """Raises: UsageProblem naming the place of the first thing that is wrong."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise UsageProblem(
            "This is not an exported conversation.", "Make one with `macaron history export ID --format json`."
        )
    if data.get("version") != VERSION:
        raise UsageProblem(
            f"This conversation was exported in version {display_line(str(data.get('version')), 20)} of the format; "
            f"this program reads version {VERSION}.",
            "Update the program.",
        )
    if unknown := sorted(data.keys() - {"format", "version", "conversation", "turns", "signals"}):
        raise _wrong(display_line(unknown[0], 40), "is a field this version does not know")
    copy = ConversationCopy(
        _build(Conversation, data.get("conversation"), "conversation"),
        _build(tuple[TurnRecord, ...], data.get("turns"), "turns"),
        _build(tuple[Signal, ...], data.get("signals", []), "signals"),
    )
    _check_tree(copy)
    return copy


def _check_tree(copy: ConversationCopy) -> None:
    """Every turn is there once, its parent comes before it, and the branch in use is there."""
    conversation = copy.conversation
    _check_time(conversation.created_at, "conversation.created_at")
    _check_time(conversation.updated_at, "conversation.updated_at")
    seen: set[str] = set()
    for number, turn in enumerate(copy.turns):
        place = f"turns[{number}]"
        _check_time(turn.created_at, f"{place}.created_at")
        if turn.turn_id in seen:
            raise _wrong(f"{place}.turn_id", "is there twice")
        if turn.conversation_id != conversation.conversation_id:
            raise _wrong(f"{place}.conversation_id", "is that of another conversation")
        if turn.parent_turn_id is not None and turn.parent_turn_id not in seen:
            raise _wrong(f"{place}.parent_turn_id", "names no earlier turn")
        seen.add(turn.turn_id)
    if conversation.leaf_turn_id is not None and conversation.leaf_turn_id not in seen:
        raise _wrong("conversation.leaf_turn_id", "names no turn")
    if conversation.turn_count != len(copy.turns):
        raise _wrong("conversation.turn_count", f"is {conversation.turn_count}, but there are {len(copy.turns)} turns")


def _check_time(value: str, place: str) -> None:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise _wrong(place, "is not a date and time with its zone")


def _build(kind: Any, data: Any, place: str) -> Any:
    """A value of the dataclass, tuple, mapping, choice or scalar type `kind`. Raises: UsageProblem."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _build_record(kind, data, place)
    if origin is types.UnionType:
        (option,) = (argument for argument in arguments if argument is not type(None))
        return None if data is None else _build(option, data, place)
    if origin is typing.Literal:
        if data not in arguments or type(data) not in map(type, arguments):
            raise _wrong(place, f"must be one of {', '.join(map(str, arguments))}")
        return data
    if origin is tuple:
        if not isinstance(data, list):
            raise _wrong(place, "must be a list")
        return tuple(_build(arguments[0], item, f"{place}[{number}]") for number, item in enumerate(data))
    if origin is Mapping:
        if not isinstance(data, dict):
            raise _wrong(place, "must be an object")
        return {_build(arguments[0], key, place): _build(arguments[1], data[key], f"{place}.{key}") for key in data}
    return _build_scalar(kind, data, place)


def _build_record(kind: type, data: Any, place: str) -> Any:
    if not isinstance(data, dict):
        raise _wrong(place, "must be an object")
    hints = _hints(kind)
    if unknown := sorted(data.keys() - hints.keys()):
        raise _wrong(f"{place}.{display_line(unknown[0], 40)}", "is a field this version does not know")
    values = {name: _build(hints[name], item, f"{place}.{name}") for name, item in data.items()}
    needed = [field.name for field in dataclasses.fields(kind) if _is_needed(field)]
    if missing := [name for name in needed if name not in values]:
        raise _wrong(f"{place}.{missing[0]}", "is missing")
    return kind(**values)


def _is_needed(field: "dataclasses.Field[Any]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _build_scalar(kind: Any, data: Any, place: str) -> Any:
    if kind is str:
        if not isinstance(data, str):
            raise _wrong(place, "must be a text")
        if _is_broken(data):
            raise _wrong(place, "is not valid Unicode")
        return data
    if kind is bool:
        if type(data) is not bool:
            raise _wrong(place, "must be true or false")
        return data
    if type(data) is bool or not isinstance(data, (int, float) if kind is float else int):
        raise _wrong(place, "must be a number" if kind is float else "must be a whole number")
    if not -_MAX_COUNT <= data <= _MAX_COUNT:  # which no infinity is, nor what is no number
        raise _wrong(place, "is out of range")
    return float(data) if kind is float else data


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _wrong(place: str, what: str) -> UsageProblem:
    return UsageProblem(f"{display_line(place, 100)} {what}.", _HINT)


def export_name(title: str, ending: str, taken: Collection[str] = ()) -> str:
    """A file name made of a title, such as `Coffee and 咖啡.md`: one that every system takes, in no other folder.

    `ending` is ours, such as ".md". `taken` are names, casefolded, that must not come out again in any case.
    """
    name = "".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in unicodedata.normalize("NFC", title))
    name = "".join(sign for sign in name if unicodedata.category(sign) not in ("Cf", "Cs", "Co", "Cn"))
    name = " ".join(_FORBIDDEN.sub(" ", name).split())
    # Dots at the beginning hide a file, Windows drops those at the end.
    name = _cut(name.strip(". ~"), MAX_NAME_BYTES) or "conversation"
    if name.split(".")[0].rstrip().lower() in _DEVICES:
        name = f"_{name}"
    candidate, number = name + ending, 1
    while candidate.casefold() in taken:
        number += 1
        candidate = f"{_cut(name, MAX_NAME_BYTES - len(str(number)) - 1)} {number}{ending}"
    return candidate


def _cut(name: str, max_bytes: int) -> str:
    return name.encode()[:max_bytes].decode(errors="ignore").rstrip(". ")
