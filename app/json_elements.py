"""The elements of a JSON list that may be far larger than memory, one at a time; and JSON that anyone may have made.

Knows how JSON is written, not what it means. Brackets and quotes tell where an element ends; whether it is valid is
seen when it is parsed, so that one that is not costs no other.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from engine.errors import UsageProblem

MOST_BYTES: Final = 64 << 20
"""Of one conversation. Python needs about ten times that to read it."""
MOST_CONTAINERS: Final = 2_000_000
"""Objects and lists of one conversation, as brackets: they take far more memory than they take bytes."""

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_SPACE: Final = b" \t\r\n"
_GAP: Final = re.compile(rb"[ \t\r\n,]*")
_MARK: Final = re.compile(rb'["{}\[\]]')
_END_OF_SCALAR: Final = re.compile(rb'[",{}\[\]]')


@dataclass(frozen=True, slots=True)
class Element:
    """One element as it is written, or why it is not read."""

    number: int
    """From 1."""
    text: bytes = b""
    problem: str = ""


def begins_with_list(beginning: bytes) -> bool:
    """Whether JSON that begins like this is a list."""
    return _unmarked(beginning).startswith(b"[")


def elements(chunks: Iterable[bytes], most_bytes: int = MOST_BYTES) -> Iterator[Element]:
    """What the list holds, in order. One that is too large is passed over; of one that does not end nothing is told but
    that.

    Raises: UsageProblem when it is no list, or not all of one.
    """
    scanner = _Scanner(most_bytes)
    for chunk in chunks:
        yield from scanner.feed(chunk)
    yield from scanner.end()


def parsed(text: bytes, hint: str) -> Any:
    """What one conversation is as JSON. Raises: UsageProblem, with this hint."""
    if text.count(b"{") + text.count(b"[") > MOST_CONTAINERS:
        raise UsageProblem("It has more parts than a conversation can have.", hint)
    try:
        return json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageProblem(f"It is not UTF-8 at byte {error.start + 1}.", hint) from error
    except RecursionError as error:
        raise UsageProblem("It is nested too deeply.", hint) from error
    except ValueError as error:
        raise UsageProblem(f"It is not valid JSON: {error}.", hint) from error


class _Scanner:
    """Where in the list the last chunk ended, and what there is of an element that is not whole yet."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._has_begun = self._has_ended = False
        self._number = 0
        self._depth = 0
        """Brackets that are open within the element."""
        self._in_element = self._in_string = self._is_escaped = False
        self._pieces: list[bytes] = []
        self._size_bytes = 0

    def feed(self, chunk: bytes) -> Iterator[Element]:
        """Raises: UsageProblem."""
        position = 0
        if not self._has_begun:
            position = self._begin(chunk)
        while self._has_begun and position < len(chunk):
            if self._has_ended:
                if chunk[position:].strip(_SPACE):
                    raise _no_list("Something follows the list of conversations.")
                return
            if not self._in_element:
                position = self._next(chunk, position)
                continue
            end, is_whole = self._scan(chunk, position)
            self._keep(chunk[position:end])
            position = end
            if is_whole:
                yield self._whole()

    def end(self) -> Iterator[Element]:
        """Raises: UsageProblem."""
        if not self._has_begun:
            raise _no_list("It is empty.")
        if self._in_element:
            yield Element(self._number, problem="The file ends in the middle of it.")
        elif not self._has_ended:
            raise _no_list("The file ends before its list of conversations does.")

    def _begin(self, chunk: bytes) -> int:
        rest = _unmarked(chunk)
        if rest and not rest.startswith(b"["):
            raise _no_list("It is no list of conversations.")
        self._has_begun = bool(rest)
        return len(chunk) - len(rest) + 1

    def _next(self, chunk: bytes, position: int) -> int:
        """The beginning of the next element, or of what follows the list."""
        gap = _GAP.match(chunk, position)
        assert gap is not None
        position = gap.end()
        if position < len(chunk):
            self._has_ended = chunk[position : position + 1] == b"]"
            self._in_element = not self._has_ended
            self._number += self._in_element
            position += self._has_ended
        return position

    def _scan(self, chunk: bytes, position: int) -> tuple[int, bool]:
        """Where the element ends in this chunk, and whether all of it does."""
        while position < len(chunk):
            if self._in_string:
                position = self._end_of_string(chunk, position)
                if not self._in_string and not self._depth:
                    return position, True
                continue
            found = (_MARK if self._depth else _END_OF_SCALAR).search(chunk, position)
            if found is None:
                return len(chunk), False
            mark, position = found[0], found.end()
            if mark == b'"':
                self._in_string = True
            elif mark in b"{[":
                self._depth += 1
            elif not self._depth:  # what follows a number or a word; or a bracket too many, which is no JSON
                return (position if mark == b"}" else found.start()), True
            else:
                self._depth -= 1
                if not self._depth:
                    return position, True
        return position, False

    def _end_of_string(self, chunk: bytes, position: int) -> int:
        """After its last quote: the first one before which the backslashes make pairs."""
        if self._is_escaped:
            self._is_escaped = False
            return position + 1
        end = chunk.find(b'"', position)
        inside = chunk[position : end if end >= 0 else len(chunk)]
        is_open = (len(inside) - len(inside.rstrip(b"\\"))) % 2 == 1
        if end < 0:
            self._is_escaped = is_open
            return len(chunk)
        self._in_string = is_open
        return end + 1

    def _keep(self, piece: bytes) -> None:
        self._size_bytes += len(piece)
        if self._size_bytes <= self._most_bytes:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def _whole(self) -> Element:
        text, is_kept = b"".join(self._pieces), self._size_bytes <= self._most_bytes
        self._pieces, self._size_bytes, self._in_element = [], 0, False
        if is_kept:
            return Element(self._number, text)
        return Element(self._number, problem=f"It is larger than {self._most_bytes >> 20} MB.")


def _unmarked(beginning: bytes) -> bytes:
    """Without what may come before the JSON."""
    return beginning.removeprefix(_BYTE_ORDER_MARK).lstrip(_SPACE)


def _no_list(problem: str) -> UsageProblem:
    return UsageProblem(problem, "Get the export once more; a file of it is not whole or was changed.")
