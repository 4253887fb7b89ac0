"""JSON Lines that people write: what is wrong with a line, as a clause. Knows neither files nor what lines are for."""

from collections.abc import Iterator
from typing import Any

from engine import strict_json


class Wrong(Exception):
    """Why a line cannot be used, as a clause."""


def demand(is_so: bool, reason: str) -> None:
    """Raises: Wrong with the reason, when it is not so."""
    if not is_so:
        raise Wrong(reason)


def numbered_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line) without what ends it; the last one may end without a line feed."""
    # Only "\n" ends a line: JSON texts may hold other line separators.
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    yield from enumerate((line.removesuffix(b"\r") for line in lines), start=1)


def object_of(line: bytes, most_bytes: int) -> dict[str, Any]:
    """The JSON object that a line holds. Raises: Wrong."""
    demand(line.strip() != b"", "it is empty")
    demand(len(line) <= most_bytes, f"it is longer than {most_bytes >> 10} KiB")
    try:
        value = strict_json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Wrong(f"it is not valid UTF-8 at byte {error.start + 1}") from None
    except ValueError as error:
        raise Wrong(str(error)) from None
    demand(isinstance(value, dict), "it is no JSON object")
    return dict(value)


def refuse_unknown(value: dict[str, Any], known: frozenset[str], what: str) -> None:
    """Raises: Wrong, naming the fields that `what` does not have."""
    unknown = sorted(value.keys() - known)
    demand(not unknown, f"{what} has the unknown field `{', '.join(unknown):.80}`")
