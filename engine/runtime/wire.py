"""What goes through the pipe between host and engine child: length-prefixed frames, and values as plain data.

A frame is a fixed header, a JSON object and an optional block of bytes. No pickle: a child that read a hostile file
must not be able to run code in the host. Knows the protocol's values, neither processes nor llama.cpp.
"""

import dataclasses
import json
import struct
import types
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, BinaryIO, Final

from engine.errors import AgentError, RuntimeFailed, UsageProblem

WIRE_VERSION: Final = 1
_HEADER: Final = struct.Struct("<4sHHII")
"""Magic, version, reserved, bytes of JSON, bytes of the block."""
_MAGIC: Final = b"MTEP"
_MAX_BYTES: Final = 1 << 30
_SCALARS: Final[Mapping[Any, frozenset[type]]] = {
    int: frozenset({int}),
    float: frozenset({float, int}),
    str: frozenset({str}),
    bool: frozenset({bool}),
}
"""What JSON makes of each; a whole number may stand for a float, but a truth value never for a number."""


class WireError(Exception):
    """The other side is gone, speaks another version, or sent something that is no frame."""


def write_frame(stream: BinaryIO, message: Mapping[str, Any], block: bytes = b"") -> None:
    """Raises: OSError when the other side is gone, UsageProblem when there is too much to send."""
    body = json.dumps(message, separators=(",", ":")).encode()
    if len(body) + len(block) > _MAX_BYTES:
        raise UsageProblem(
            f"That is too much at once for the engine: {len(body) + len(block)} bytes.", "Send it in smaller parts."
        )
    stream.write(_HEADER.pack(_MAGIC, WIRE_VERSION, 0, len(body), len(block)) + body + block)
    stream.flush()


def read_frame(stream: BinaryIO) -> tuple[dict[str, Any], bytes]:
    """Raises: WireError."""
    magic, version, _, body_bytes, block_bytes = _HEADER.unpack(_read(stream, _HEADER.size))
    if magic != _MAGIC:
        raise WireError("what came through the pipe is no frame")
    if version != WIRE_VERSION:
        raise WireError(f"the other side speaks version {version}, this one {WIRE_VERSION}")
    if body_bytes + block_bytes > _MAX_BYTES:
        raise WireError(f"a frame announces {body_bytes + block_bytes} bytes")
    body = _read(stream, body_bytes)
    block = _read(stream, block_bytes) if block_bytes else b""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise WireError("a frame holds no valid JSON") from error
    if not isinstance(message, dict):
        raise WireError("a frame holds no object")
    return message, block


def _read(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if data is None or len(data) < size:
        raise WireError("the other side is gone")
    return data


def to_plain(value: Any) -> Any:
    """A protocol value as JSON-able data; `from_plain` with its type gives it back."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if type(value) is tuple and all(type(item) is int for item in value):
        return list(value)  # token ids, by the thousand
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_plain(item) for item in value]
    return value


def from_plain(kind: Any, data: Any) -> Any:
    """Rebuild a value of the dataclass, tuple, mapping or scalar type `kind`.

    Raises: WireError when the data does not have that shape.
    """
    try:
        return _build(kind, data)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise WireError(f"a {getattr(kind, '__name__', kind)} came malformed: {error}") from error


def _build(kind: Any, data: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return data
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(**{name: _build(hints[name], item) for name, item in data.items()})
    if origin is tuple:
        return _build_tuple(arguments, data)
    if origin is Sequence:
        return _build_tuple((*arguments, ...), data)
    if origin in (types.UnionType, typing.Union):
        options = [option for option in arguments if option is not type(None)]
        return None if data is None else _build(options[0], data)
    if origin is typing.Literal:
        return arguments[arguments.index(data)]
    if origin is not None:
        return {_build(arguments[0], key): _build(arguments[1], item) for key, item in data.items()}
    if type(data) not in _SCALARS[kind]:
        raise ValueError(f"{data!r:.40} is no {kind.__name__}")
    return data


def _build_tuple(arguments: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise ValueError(f"{data!r:.40} is no list")
    if arguments[-1] is not Ellipsis:
        return tuple(_build(argument, item) for argument, item in zip(arguments, data, strict=True))
    if (allowed := _SCALARS.get(arguments[0])) is not None:
        # Prompts are long, and their tokens are all alike.
        if not allowed.issuperset(map(type, data)):
            raise ValueError(f"not every item is a {arguments[0].__name__}")
        return tuple(data)
    return tuple(_build(arguments[0], item) for item in data)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def error_to_plain(error: AgentError) -> dict[str, str]:
    return {"type": type(error).__name__, "problem": error.problem, "hint": error.hint}


def error_from_plain(data: Any) -> AgentError:
    """The error of the same type; an unknown type becomes RuntimeFailed.

    Raises: WireError when it is no error at all.
    """
    fields = [data.get(name, "") for name in ("type", "problem", "hint")] if isinstance(data, Mapping) else [data]
    if len(fields) != 3 or not all(isinstance(text, str) for text in fields):
        raise WireError(f"an error came malformed: {data!r:.80}")
    name, problem, hint = fields
    known = {kind.__name__: kind for kind in _all_errors(AgentError)}
    return known.get(name, RuntimeFailed)(problem, hint)


def _all_errors(kind: type[AgentError]) -> list[type[AgentError]]:
    return [kind, *(child for direct in kind.__subclasses__() for child in _all_errors(direct))]
