"""JSON that means the same to everyone who reads it: no NaN, no key twice, no half characters, no endless nesting.

Knows nothing of tasks or rewards. Python's own reader takes all of these, and each would be found far from its cause.
"""

import json
import math
from collections.abc import Sequence
from typing import Any, Final

MOST_LEVELS: Final = 64
"""Levels of nesting; far below where recursion ends, so that whoever walks the value needs no guard."""
MOST_DIGITS: Final = 300
"""Of a whole number; more would not fit a fraction that it is compared with."""


def loads(text: str) -> Any:
    """The value that `text` holds.

    Raises: ValueError, whose text is the reason as a clause such as "it holds NaN, which is no JSON".
    """
    try:
        value = json.loads(
            text,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_whole,
            object_pairs_hook=_object_without_twins,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise ValueError(f"it is nested more than {MOST_LEVELS} deep") from None
    _check_depth(value)
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("it holds half of a character (a lone surrogate)") from None
    return value


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal. Unlike Python, JSON tells true from 1; like JSON, 1 and 1.0 are one number."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[name]) for name, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def is_of_type(value: Any, kind: str) -> bool:
    """Whether a JSON value is of this type of JSON Schema; 2.0 is an integer there, and a boolean is no number."""
    if isinstance(value, bool) or kind == "boolean":
        return isinstance(value, bool) and kind == "boolean"
    match kind:
        case "integer":
            return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        case "number":
            return isinstance(value, int | float)
        case "null":
            return value is None
    return isinstance(value, {"object": dict, "array": list, "string": str}[kind])


def _no_constant(name: str) -> Any:
    raise ValueError(f"it holds {name}, which is no JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"it holds {digits:.40}, which is too large for a number")
    return value


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"it holds a number of more than {MOST_DIGITS} digits")
    return int(digits)


def _object_without_twins(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"it gives `{name:.40}` twice")
        found[name] = value
    return found


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [
            child
            for one in level
            if isinstance(one, dict | list)
            for child in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise ValueError(f"it is nested more than {MOST_LEVELS} deep")
