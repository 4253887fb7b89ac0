"""A code fence that holds calls and nothing else: where it ends."""

from collections.abc import Collection, Iterable, Iterator
from typing import Final, Literal, Protocol

from engine.harness.tool_calls.calls import ToolCall
from engine.harness.tool_calls.candidates import MOST_BEFORE_BRACKET, Found, Refused, Verdict

_LEAST_TICKS: Final = 3


class FenceCandidate:
    """A code fence that holds calls and nothing else, and may have been left open."""

    def __init__(self, labels: Collection[str], inner: "Parser") -> None:
        self._labels = labels
        self._inner = inner
        self._raw: list[str] = []
        self._phase: Literal["ticks", "label", "content"] = "ticks"
        self._ticks = 0
        self._label = ""
        self._line: str | None = ""
        """The line under way while it may be the closing one."""
        self._calls: list[ToolCall] = []

    def take(self, character: str) -> Verdict:
        self._raw.append(character)
        if self._phase == "ticks":
            if character == "`":
                self._ticks += 1
                return None
            if self._ticks < _LEAST_TICKS:
                return self._refused()
            self._phase = "label"
        return self._in_label(character) if self._phase == "label" else self._in_content(character)

    def end(self) -> Verdict:
        if self._phase != "content":
            return self._refused()
        if self._line is not None and self._line.count("`") < self._ticks and not self._tell(self._line):
            return self._refused()
        return self._closed()

    def _in_label(self, character: str) -> Verdict:
        if character != "\n":
            self._label += character
            return self._refused() if len(self._label) > MOST_BEFORE_BRACKET or character == "`" else None
        if self._label.strip().lower() not in self._labels:
            return self._refused()
        self._phase = "content"
        return None

    def _in_content(self, character: str) -> Verdict:
        if self._line is None:
            told = character
        elif character == "\n" and self._line.count("`") >= self._ticks:
            return self._closed()
        elif character in "` \t\r" and len(self._line) < MOST_BEFORE_BRACKET:
            self._line += character
            return None
        else:
            told = self._line + character
        self._line = "" if character == "\n" else None
        return None if self._tell(told) else self._refused()

    def _tell(self, text: str) -> bool:
        """Whether there are calls alone so far."""
        return self._are_calls(self._inner.feed(text))

    def _are_calls(self, found: Iterable[str | ToolCall]) -> bool:
        are_calls = True
        for one in found:
            if isinstance(one, ToolCall):
                self._calls.append(one)
            else:
                are_calls = are_calls and not one.strip()
        return are_calls

    def _closed(self) -> Verdict:
        if self._are_calls(self._inner.finish()) and self._calls:
            return Found(tuple(self._calls), "".join(self._raw))
        return self._refused()

    def _refused(self) -> Refused:
        raw = "".join(self._raw)
        return Refused(raw[:1], raw[1:], is_attempt=bool(self._calls or self._inner.rejected))


class Parser(Protocol):
    """What reads the content of a fence."""

    rejected: list[str]

    def feed(self, text: str) -> Iterator[str | ToolCall]: ...

    def finish(self) -> Iterator[str | ToolCall]: ...
