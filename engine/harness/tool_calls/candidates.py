"""What may be a call while it is being written, from what opens it to what closes it, one character after another.

Each candidate ends in `Found` or `Refused`, and both name the characters that someone else must read again. Decoding is
tried where the markup closes and where brackets do, a few times at most, so the work grows with the length alone.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Final, Protocol

from engine.harness.tool_calls.calls import ToolCall
from engine.harness.tool_calls.decoding import Schemas
from engine.harness.tool_calls.marks import MarkReader

MOST_TRIES: Final = 8
"""Decodings of one candidate."""
MOST_BEFORE_BRACKET: Final = 40
"""Characters of a code fence's opening."""


@dataclass(frozen=True, slots=True)
class Found:
    calls: tuple[ToolCall, ...]
    written: str
    """What the calls were read from, and what stood around them."""
    is_over: bool = True
    rest: str = ""
    """Taken, but no part of it."""


@dataclass(frozen=True, slots=True)
class Refused:
    said: str
    """The beginning, which is text."""
    rest: str
    """What follows it, in which a call may begin yet."""
    is_attempt: bool
    """It had the look of a call that went wrong, not of a mention."""


Verdict = Found | Refused | None
"""None while it is open."""


class Candidate(Protocol):
    def take(self, character: str) -> Verdict: ...

    def end(self) -> Verdict:
        """What it is when nothing more will come; never None."""
        ...


class MarkedCandidate(ABC):
    """A candidate that tells marks from other characters and keeps all it took."""

    def __init__(self, opening: str, schemas: Schemas) -> None:
        self._opening = opening
        self._schemas = schemas
        self._raw: list[str] = [opening] if opening else []
        self._marks = MarkReader()

    def take(self, character: str) -> Verdict:
        released, mark = self._marks.take(character)
        if verdict := self._characters(released):
            return verdict
        if mark:
            self._raw.append(mark)
            return self._on_mark(mark)
        return None

    def end(self) -> Verdict:
        return self._characters(self._marks.flush()) or self._at_end()

    def _characters(self, released: str) -> Verdict:
        for position, character in enumerate(released):
            self._raw.append(character)
            if verdict := self._on_character(character):
                return replace(verdict, rest=verdict.rest + released[position + 1 :] + self._marks.flush())
        return None

    @abstractmethod
    def _on_character(self, character: str) -> Verdict: ...

    @abstractmethod
    def _on_mark(self, mark: str) -> Verdict: ...

    @abstractmethod
    def _at_end(self) -> Verdict: ...

    def _refused(self, *, is_attempt: bool) -> Refused:
        raw = "".join(self._raw)
        said = len(self._opening) or 1
        return Refused(raw[:said], raw[said:], is_attempt)
