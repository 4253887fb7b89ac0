"""Read calls out of an answer while it is being written.

Text that may be the beginning of a call is held back until that is decided; nothing else is. What looks like a call
and is none (another form, an unknown name, arguments that are no object) stays text. Knows no runtime.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from engine.harness.tool_calls.calls import CALL_CLOSE, CALL_OPEN, Style, Tool, ToolCall
from engine.harness.tool_calls.decoding import call_from_json, call_from_xml

_FUNCTION_OPEN: Final = "<function="
_FUNCTION_CLOSE: Final = "</function>"
_FUNCTION_AND_CALL_CLOSE: Final = re.compile(r"</function>\s*</tool_call>")

Parsed = str | ToolCall


class CallParser(Protocol):
    def feed(self, text: str) -> Iterator[Parsed]:
        """What is certain after these next characters: text that is no call, and whole calls."""
        ...

    def finish(self) -> Iterator[Parsed]:
        """What was held back, once nothing more will come."""
        ...


def parser_for(style: Style, tools: Sequence[Tool]) -> CallParser:
    """A parser of one answer that may call `tools`."""
    schemas = {tool.name: tool.parameters for tool in tools}
    return BareCallParser(schemas) if style == "bare" else TaggedCallParser(schemas)


class TaggedCallParser:
    """Calls in `<tool_call>`, with JSON or XML in it: models mix the two up, and forget closing tags."""

    def __init__(self, schemas: Mapping[str, Mapping[str, Any]]) -> None:
        self._schemas = schemas
        self._held = ""
        self._is_inside = False
        """`_held` begins with what opens a call."""
        self._follows_call = False
        self._scan = _ObjectScan(0)
        self._searched = 0

    def feed(self, text: str) -> Iterator[Parsed]:
        self._held += text
        yield from self._advance(is_last=False)

    def finish(self) -> Iterator[Parsed]:
        yield from self._advance(is_last=True)

    def _advance(self, *, is_last: bool) -> Iterator[Parsed]:
        while True:
            if not self._is_inside:
                yield from self._text_before_call(is_last)
                if not self._is_inside:
                    return
            found = self._call(is_last)
            if found is None:
                return
            end, call = found
            if call is None:
                # The markup itself is text; what follows it is looked at again.
                yield self._held[:end]
                self._follows_call = False
            else:
                yield call
                self._follows_call = True
            self._held = self._held[end:]
            self._is_inside = False

    def _text_before_call(self, is_last: bool) -> Iterator[str]:
        if self._follows_call:
            self._held = self._held.lstrip()
        starts = [start for start in map(self._held.find, (CALL_OPEN, _FUNCTION_OPEN)) if start >= 0]
        if starts:
            text, self._held = self._held[: min(starts)].rstrip(), self._held[min(starts) :]
            self._is_inside, self._scan, self._searched = True, _ObjectScan(0), 0
        elif is_last:
            text, self._held = self._held, ""
        else:
            cut = len(self._held) - _opening_overlap(self._held)
            cut = len(self._held[:cut].rstrip())  # space before a call is no text of its own
            text, self._held = self._held[:cut], self._held[cut:]
        if text:
            self._follows_call = False
            yield text

    def _call(self, is_last: bool) -> tuple[int, ToolCall | None] | None:
        """(where it ends in what is held, the call or None where it is none), or None while that is open."""
        is_tagged = self._held.startswith(CALL_OPEN)
        start = len(CALL_OPEN) if is_tagged else 0
        start += len(self._held) - start - len(self._held[start:].lstrip())
        body = self._held[start : start + len(_FUNCTION_OPEN)]
        if body.startswith("{"):
            return self._json_call(start, is_last)
        if body == _FUNCTION_OPEN:
            return self._xml_call(start, is_tagged, is_last)
        if not is_last and _FUNCTION_OPEN.startswith(body):
            return None
        return len(CALL_OPEN) if is_tagged else len(_FUNCTION_OPEN), None

    def _json_call(self, start: int, is_last: bool) -> tuple[int, ToolCall | None] | None:
        if self._scan.start != start:
            self._scan = _ObjectScan(start)
        end = self._scan.end(self._held)
        if end is None:
            return (len(CALL_OPEN), None) if is_last else None
        after = _after_closing(self._held, end, is_last)
        if after is None:
            return None
        call = call_from_json(self._held[start:end], self._schemas, ("arguments", "parameters"))
        return (after, call) if call else (len(CALL_OPEN), None)

    def _xml_call(self, start: int, is_tagged: bool, is_last: bool) -> tuple[int, ToolCall | None] | None:
        found = self._xml_end(start, is_tagged, is_last)
        if found is None:
            return None
        end, after = found
        call = call_from_xml(self._held[start:end], self._schemas) if end > 0 else None
        return (after, call) if call else (start + len(_FUNCTION_OPEN), None)

    def _xml_end(self, start: int, is_tagged: bool, is_last: bool) -> tuple[int, int] | None:
        """(end of the function without its closing tag, end of the call); 0 for what never ends, None while open."""
        # A value may hold the closing tag of the function, but hardly both tags in a row.
        searched = max(start, self._searched)
        closing = _FUNCTION_AND_CALL_CLOSE.search(self._held, searched) if is_tagged else None
        if closing:
            return closing.start(), closing.end()
        if is_tagged and not is_last:
            last = self._held.rfind(_FUNCTION_CLOSE, searched)
            self._searched = last if last >= 0 else max(searched, len(self._held) - len(_FUNCTION_CLOSE))
            return None
        position = self._held.rfind(_FUNCTION_CLOSE) if is_tagged else self._held.find(_FUNCTION_CLOSE, start)
        if position < 0:
            position = self._held.rfind(CALL_CLOSE) if is_last else -1
            if position > 0:
                return position, position + len(CALL_CLOSE)
            return (0, 0) if is_last else None
        after = _after_closing(self._held, position + len(_FUNCTION_CLOSE), is_last)
        return None if after is None else (position, after)


class BareCallParser:
    """An answer that is nothing but JSON objects, each a call."""

    def __init__(self, schemas: Mapping[str, Mapping[str, Any]]) -> None:
        self._schemas = schemas
        self._held = ""
        self._is_text = False
        self._called = False
        self._scan = _ObjectScan(0)

    def feed(self, text: str) -> Iterator[Parsed]:
        self._held += text
        while not self._is_text:
            start = len(self._held) - len(self._held.lstrip(" \t\r\n;" if self._called else None))
            if start == len(self._held):
                return
            if self._held[start] != "{":
                self._is_text = True
                break
            if self._scan.start != start:
                self._scan = _ObjectScan(start)
            end = self._scan.end(self._held)
            if end is None:
                return
            call = call_from_json(self._held[start:end], self._schemas, ("parameters", "arguments"))
            if call is None:
                self._is_text = True
                break
            yield call
            self._called = True
            self._held, self._scan = self._held[end:], _ObjectScan(0)
        text, self._held = self._held, ""
        if text:
            yield text

    def finish(self) -> Iterator[Parsed]:
        if self._held and not (self._called and not self._held.strip(" \t\r\n;")):
            yield self._held
        self._held = ""


class _ObjectScan:
    """Finds where a JSON object ends that begins at `start`, going over each character once as text grows."""

    def __init__(self, start: int) -> None:
        self.start = start
        self._position = start
        self._depth = 0
        self._in_string = False
        self._is_escaped = False
        self._end: int | None = None

    def end(self, text: str) -> int | None:
        """The position after its last brace; None while that has not come."""
        while self._end is None and self._position < len(text):
            character = text[self._position]
            self._position += 1
            if self._in_string:
                if self._is_escaped:
                    self._is_escaped = False
                elif character == "\\":
                    self._is_escaped = True
                elif character == '"':
                    self._in_string = False
            elif character == '"':
                self._in_string = True
            elif character in "{[":
                self._depth += 1
            elif character in "}]":
                self._depth -= 1
                if self._depth == 0:
                    self._end = self._position
        return self._end


def _opening_overlap(text: str) -> int:
    """Length of the longest end of `text` that may become the opening of a call."""
    longest = max(len(CALL_OPEN), len(_FUNCTION_OPEN)) - 1
    for length in range(min(len(text), longest), 0, -1):
        end = text[-length:]
        if CALL_OPEN.startswith(end) or _FUNCTION_OPEN.startswith(end):
            return length
    return 0


def _after_closing(text: str, end: int, is_last: bool) -> int | None:
    """The position after `</tool_call>` where that follows, else `end`; None while it may still come."""
    start = end + len(text) - end - len(text[end:].lstrip())
    following = text[start : start + len(CALL_CLOSE)]
    if following == CALL_CLOSE:
        return start + len(CALL_CLOSE)
    if not is_last and CALL_CLOSE.startswith(following):
        return None
    return end
