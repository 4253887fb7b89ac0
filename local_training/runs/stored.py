"""Plain dataclasses as JSON objects and back, for files that may be damaged or of another version. Light: no torch."""

import json
from dataclasses import MISSING, asdict, fields
from types import NoneType
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

_HUGE: Final = 1e300
"""What is larger is a fault; so are infinite numbers, and those that are none."""

Value = TypeVar("Value")


def to_json(value: Any, indent: int | None = None) -> str:
    """A dataclass as one JSON object. Raises: ValueError when a number in it is not finite."""
    text = json.dumps(asdict(value), ensure_ascii=False, allow_nan=False, indent=indent)
    # A path that is not valid Unicode holds half characters, which UTF-8 has no bytes for but JSON has an escape.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def parsed(line: bytes | str) -> Any:
    """What a line of JSON holds; None where it holds none, whatever else it is."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def from_json(made: type[Value], values: Any) -> Value | None:
    """The dataclass `made` with these values; None when a name or a type is not as it declares."""
    if not isinstance(values, dict):
        return None
    declared: dict[str, Any] = {one.name: one for one in fields(made)}  # type: ignore[arg-type]
    needed = {name for name, one in declared.items() if one.default is MISSING and one.default_factory is MISSING}
    if not needed <= values.keys() <= declared.keys():
        return None
    if not all(_suits(value, declared[name].type) for name, value in values.items()):
        return None
    return made(**values)


def _suits(value: Any, declared: Any) -> bool:
    if get_origin(declared) is Literal:
        return isinstance(value, str) and value in get_args(declared)
    if get_origin(declared) is dict:
        return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    options: tuple[Any, ...] = get_args(declared) or (declared,)
    if isinstance(value, bool):
        return bool in options
    if float in options and isinstance(value, int | float):
        return -_HUGE < value < _HUGE
    return isinstance(value, tuple(NoneType if option is None else option for option in options))
