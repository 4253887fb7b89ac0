"""The frames between the program and a Python process in the sandbox, as the program reads and writes them.

What comes in was written by code of a model: every size is bounded, every field is checked, and what does not fit is a
`WireBroken`, after which the process is not listened to again. Pure: no pipe, no process.

A frame is four bytes of length, most significant first, and so many bytes of JSON, an object. To the process go `run`
and `reply`; from it come `ready` once, and while a block runs `call`, `save` and at its end `done`.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

MOST_FRAME_BYTES: Final = 1 << 20
_HEADER: Final = struct.Struct(">I")
_MOST_NAME: Final = 200


class WireBroken(Exception):
    """The process wrote what it may not; the text says what."""


@dataclass(frozen=True, slots=True)
class Ready:
    pass


@dataclass(frozen=True, slots=True)
class Call:
    """A proxy was called."""

    run_id: str
    name: str
    arguments: str
    """A JSON object as text, not yet checked against any schema."""


@dataclass(frozen=True, slots=True)
class Save:
    """`save_tool` was called with a function of block `block`, whose definition begins on `line` of it."""

    run_id: str
    name: str
    block: int
    line: int
    example: str


@dataclass(frozen=True, slots=True)
class Done:
    run_id: str
    value: str | None
    error: str | None


Message = Ready | Call | Save | Done


def frame(message: Mapping[str, Any]) -> bytes:
    """The bytes of one message to the process."""
    body = json.dumps(message).encode("ascii")
    return _HEADER.pack(len(body)) + body


class FrameReader:
    """Puts frames together from the bytes of a pipe, however they come. Holds at most one frame and one read."""

    def __init__(self, most_bytes: int = MOST_FRAME_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        self._bytes += data

    @property
    def is_empty(self) -> bool:
        return not self._bytes

    def next(self) -> Message | None:
        """The next message, or None until more bytes have come. Raises: WireBroken."""
        if len(self._bytes) < _HEADER.size:
            return None
        (length,) = _HEADER.unpack_from(self._bytes)
        if length > self._most_bytes:
            raise WireBroken(f"it sent a message of {length} bytes")
        if len(self._bytes) < _HEADER.size + length:
            return None
        body = bytes(self._bytes[_HEADER.size : _HEADER.size + length])
        del self._bytes[: _HEADER.size + length]
        return read_message(body)


def read_message(body: bytes) -> Message:
    """Raises: WireBroken."""
    try:
        fields = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    # Deep nesting ends in a RecursionError, and numbers of many digits in a ValueError.
    except (ValueError, RecursionError):
        raise WireBroken("it sent a message that is not JSON") from None
    if not isinstance(fields, dict):
        raise WireBroken("it sent a message that is not an object")
    kind = fields.pop("kind", None)
    match kind:
        case "ready":
            _only(fields)
            return Ready()
        case "call":
            _only(fields, "run_id", "name", "arguments")
            return Call(_text(fields, "run_id"), _text(fields, "name", _MOST_NAME), _text(fields, "arguments"))
        case "save":
            _only(fields, "run_id", "name", "block", "line", "example")
            numbers = (_number(fields, "block"), _number(fields, "line"))
            name = _text(fields, "name", _MOST_NAME)
            return Save(_text(fields, "run_id"), name, *numbers, example=_text(fields, "example"))
        case "done":
            _only(fields, "run_id", "value", "error")
            return Done(_text(fields, "run_id"), _text_or_none(fields, "value"), _text_or_none(fields, "error"))
    raise WireBroken("it sent a message of an unknown kind")


def _only(fields: Mapping[str, object], *names: str) -> None:
    if set(fields) != set(names):
        raise WireBroken("it sent a message with missing or unknown fields")


def _text(fields: Mapping[str, object], name: str, most: int = MOST_FRAME_BYTES) -> str:
    value = fields[name]
    if not isinstance(value, str) or len(value) > most:
        raise WireBroken(f"it sent a message whose `{name}` is not such a text")
    # JSON can name halves of a surrogate pair, which no UTF-8 can hold.
    return value.encode("utf-8", "replace").decode("utf-8")


def _text_or_none(fields: Mapping[str, object], name: str) -> str | None:
    return None if fields[name] is None else _text(fields, name)


def _number(fields: Mapping[str, object], name: str) -> int:
    value = fields[name]
    if type(value) is not int or not 0 <= value <= 10**9:
        raise WireBroken(f"it sent a message whose `{name}` is not such a number")
    return value


def _no_constant(name: str) -> object:
    raise ValueError(name)
