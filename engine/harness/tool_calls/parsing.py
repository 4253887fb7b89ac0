"""Read calls out of an answer while it is being written.

Text that may be the beginning of a call is held back until that is decided; nothing else is. What looks like a call
and is none stays text to the character, and so does what Markdown quotes. A call that is not certain by itself (in a
thought, in a code fence, or without the family's markup) counts only where nothing but more of them follows it to the
end of the answer. Everything is decided one character after another, so that no cut of the text changes the result.
Knows no runtime.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, Protocol

from engine.harness.tool_calls.body_candidates import BodyCandidate, Kind
from engine.harness.tool_calls.calls import Style, Tool, ToolCall
from engine.harness.tool_calls.candidates import Candidate, Found, Refused, Verdict
from engine.harness.tool_calls.decoding import Schemas
from engine.harness.tool_calls.fence_candidates import FenceCandidate
from engine.harness.tool_calls.marks import MarkReader, kind_of
from engine.harness.tool_calls.quoting import Quoting
from engine.harness.tool_calls.xml_candidates import XmlCandidate

Parsed = str | ToolCall

_CALL_LABELS: Final = frozenset({"tool_call", "tool_calls", "tool_code"})
_LABELS: Final = _CALL_LABELS | {"", "json", "xml"}
"""Of code fences that may hold a call: the first anywhere, all where the fence is the whole answer."""
_MOST_READ_AGAIN: Final = 4
"""Characters read again for each of the answer. An answer of broken calls would take time with its square."""
_READ_AGAIN_FREE: Final = 1_024


class CallParser(Protocol):
    @property
    def rejected(self) -> Sequence[str]:
        """What had the look of calls and stayed text, so far."""
        ...

    @property
    def has_begun(self) -> bool:
        """Whether what came last opened a call that is meant to be one."""
        ...

    def feed(self, text: str) -> Iterator[Parsed]:
        """What is certain after these next characters: text that is no call, and whole calls."""
        ...

    def finish(self) -> Iterator[Parsed]:
        """What was held back, once nothing more will come."""
        ...


def parser_for(style: Style, tools: Sequence[Tool], *, begins_in_thought: bool = False) -> CallParser:
    """A parser of one answer that may call `tools`. A thought may have been opened by the prompt already."""
    return _AnswerParser(style, {tool.name: tool.parameters for tool in tools}, begins_in_thought=begins_in_thought)


class _AnswerParser:
    def __init__(
        self, style: Style, schemas: Schemas, *, begins_in_thought: bool = False, is_in_fence: bool = False
    ) -> None:
        self.rejected: list[str] = []
        self._style = style
        self._schemas = schemas
        self._is_in_fence = is_in_fence
        self._is_in_thought = begins_in_thought
        self._todo: deque[str] = deque()
        self._seen = 0
        self._to_read_again = 0
        """Characters at the beginning of `_todo` that were read before."""
        self._read_again = 0
        self._marks = MarkReader()
        self._quoting = Quoting()
        self._space: list[str] = []
        """Space after the text so far; before a call it is no text of its own."""
        self._follows_call = False
        self._is_at_beginning = True
        self._candidate: Candidate | None = None
        self._is_uncertain = False
        """The candidate's calls count at the end of the answer alone."""
        self._is_read_again = self._began_again = False
        """Whether the last character was, and the one where the candidate began."""
        self._waiting: list[ToolCall] = []
        self._waiting_text: list[str] = []
        self._thought_end = ""
        self._out: list[Parsed] = []

    @property
    def has_begun(self) -> bool:
        return self._candidate is not None and not self._is_uncertain

    def feed(self, text: str) -> Iterator[Parsed]:
        self._todo.extend(text)
        self._work()
        yield from self._told()

    def finish(self) -> Iterator[Parsed]:
        is_done = False
        while not is_done:
            self._work()
            if self._candidate is not None:
                self._settle(self._candidate.end())
            else:
                self._take_as_text(self._marks.flush())
                is_done = self._candidate is None
        self._end()
        yield from self._told()

    def _work(self) -> None:
        while self._todo:
            character = self._todo.popleft()
            self._is_read_again = self._to_read_again > 0
            if self._is_read_again:
                self._to_read_again -= 1
            else:
                self._seen += 1
            if self._candidate is not None:
                self._settle(self._candidate.take(character))
                continue
            released, mark = self._marks.take(character)
            if self._take_as_text(released) and mark:
                self._mark(mark)

    def _take_as_text(self, released: str) -> bool:
        """Whether all of it is text; otherwise a candidate has begun in it, and what follows is read again."""
        for position, character in enumerate(released):
            self._text(character)
            if self._candidate is not None:
                self._push(released[position + 1 :] + self._marks.flush())
                return False
        return True

    def _text(self, character: str) -> None:
        if self._waiting and character.isspace():
            self._waiting_text.append(character)
            return
        if self._waiting and self._thought_end:
            self._release()
        if self._begin_at(character):
            return
        if self._waiting:
            self._release()
        self._say(character)

    def _begin_at(self, character: str) -> bool:
        """Whether a candidate without markup has begun with `character`."""
        if not self._may_begin() or self._is_in_thought:
            return False
        is_first, is_bare = self._is_at_beginning, self._style == "bare"
        if character == "`" and self._quoting.is_line_start and not self._is_in_fence:
            inner = _AnswerParser("bare", self._schemas, is_in_fence=True)
            self._begin(FenceCandidate(_LABELS if is_first else _CALL_LABELS, inner), is_uncertain=True)
        elif character == "{" and self._quoting.is_line_start:
            self._begin(self._body("", "bare"), is_uncertain=not (is_bare and is_first))
        elif is_first and (character == "[" or any(name.startswith(character) for name in self._schemas)):
            self._begin(self._body("", "bare"), is_uncertain=not is_bare or character != "[")
        else:
            return False
        assert self._candidate is not None
        self._settle(self._candidate.take(character))
        return True

    def _mark(self, mark: str) -> None:
        kind = kind_of(mark)
        is_opening = kind in ("open", "prefix", "function")
        if self._waiting:
            if kind == "close":
                self._waiting_text.append(mark)
                return
            if kind == "thought_close" and self._is_in_thought:
                self._waiting_text.append(mark)
                self._thought_end = mark
                self._end_thought()
                return
            if not (is_opening and self._is_in_thought):
                self._release()
        if is_opening and self._may_begin():
            if kind == "function":
                self._begin(XmlCandidate(mark, self._schemas, is_enclosed=False), is_uncertain=self._is_in_thought)
            else:
                body = self._body(mark, "enclosed" if kind == "open" else "prefixed")
                self._begin(body, is_uncertain=self._is_in_thought)
        elif not (kind in ("close", "function_close") and self._follows_call):  # one closing mark too many
            self._say_mark(mark)

    def _say_mark(self, mark: str) -> None:
        kind = kind_of(mark)
        opens_thought = kind == "thought" and self._is_at_beginning
        closes_thought = kind == "thought_close" and (self._is_in_thought or not self._quoting.is_quoted)
        for character in mark:
            self._say(character)
        if opens_thought:
            self._is_in_thought = True
        if closes_thought:
            self._end_thought()

    def _end_thought(self) -> None:
        """The answer begins only now."""
        self._is_in_thought = False
        self._is_at_beginning = True
        self._quoting = Quoting()

    def _may_begin(self) -> bool:
        is_worth_it = self._read_again <= _MOST_READ_AGAIN * self._seen + _READ_AGAIN_FREE
        return is_worth_it and not self._quoting.is_quoted

    def _body(self, opening: str, kind: Kind) -> BodyCandidate:
        return BodyCandidate(opening, self._schemas, kind, is_bare_style=self._style == "bare")

    def _begin(self, candidate: Candidate, *, is_uncertain: bool) -> None:
        self._candidate = candidate
        self._is_uncertain = is_uncertain
        self._began_again = self._is_read_again

    def _settle(self, verdict: Verdict) -> None:
        if isinstance(verdict, Refused):
            self._candidate = None
            self._release()
            if self._follows_call and verdict.said.startswith("<") and not verdict.rest.strip():
                return  # the answer ends with an opening mark in place of a closing one
            if verdict.is_attempt and not self._began_again:
                self.rejected.append(verdict.said + verdict.rest)
            for character in verdict.said:
                self._say(character)
        elif isinstance(verdict, Found):
            self._take_calls(verdict)
            if verdict.is_over:
                self._candidate = None
        if verdict is not None:
            self._read_again += len(verdict.rest)
            self._push(verdict.rest)

    def _take_calls(self, found: Found) -> None:
        if self._is_uncertain:
            self._waiting += found.calls
            self._waiting_text.append(found.written)
        elif found.calls:
            self._out += found.calls
            self._space.clear()
            self._follows_call = True
            self._quoting = Quoting()
            self._is_at_beginning = False

    def _release(self) -> None:
        """Calls that waited for the end are text, since something follows them."""
        if not self._waiting:
            return
        text, is_thought = "".join(self._waiting_text), self._is_in_thought or self._thought_end != ""
        self._waiting, self._waiting_text = [], []
        if not is_thought:
            self.rejected.append(text)
        for character in text:
            self._say(character)
        if self._thought_end:
            self._thought_end = ""
            self._end_thought()

    def _push(self, text: str) -> None:
        self._todo.extendleft(reversed(text))
        self._to_read_again += len(text)

    def _say(self, character: str) -> None:
        self._quoting.take(character)
        if not character.isspace():
            self._out += [*self._space, character]
            self._space.clear()
            self._follows_call = self._is_at_beginning = False
        elif not self._follows_call:
            self._space.append(character)

    def _end(self) -> None:
        if self._waiting:
            # What closes the thought is told before the calls that were written in it.
            self._out += [*self._thought_end, *self._waiting]
        elif not self._follows_call:
            self._out += self._space
        self._space.clear()

    def _told(self) -> Iterator[Parsed]:
        """All that is certain, neighbouring texts as one."""
        told, self._out = self._out, []
        for is_text, parts in groupby(told, key=lambda part: isinstance(part, str)):
            if is_text:
                yield "".join(part for part in parts if isinstance(part, str))
            else:
                yield from parts
