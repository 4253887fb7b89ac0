"""A call in `<function=…>`: where it ends."""

from typing import Literal

from engine.harness.tool_calls.candidates import MOST_TRIES, Found, MarkedCandidate, Verdict
from engine.harness.tool_calls.decoding import NoCall, Schemas, call_of_xml
from engine.harness.tool_calls.marks import kind_of
from engine.harness.tool_calls.naming import MOST_NAME_CHARACTERS, meant_name


class XmlCandidate(MarkedCandidate):
    """A call in `<function=…>`, whose values may hold any tag but not those that close a call in a row."""

    def __init__(self, opening: str, schemas: Schemas, *, raw: list[str] | None = None, is_enclosed: bool) -> None:
        super().__init__(opening, schemas)
        self._raw = raw if raw is not None else [opening]
        self._is_enclosed = is_enclosed
        self._length = sum(map(len, self._raw))
        self._start = self._length - len(self._raw[-1])
        self._header = self._raw[-1]
        self._phase: Literal["header", "body", "after"] = "header"
        self._is_json: bool | None = None
        self._tries = 0
        self._last: Literal["function", "parameter", "call", ""] = ""
        """What the last mark closed, while only space follows it."""
        self._function_end = self._call_end = (0, 0)
        """Where the last mark of its kind begins and ends."""

    def _on_character(self, character: str) -> Verdict:
        self._length += 1
        if self._phase == "header":
            return self._in_header(character)
        if character.isspace():
            return None
        if self._phase == "after":
            return Found((), "", rest="".join(self._raw))
        self._last = ""
        if self._is_json is None:
            self._is_json = character == "{"
        return None

    def _in_header(self, character: str) -> Verdict:
        if character in ">\n":
            name = self._header.partition("=")[2].strip().strip("\"'")
            if meant_name(name, self._schemas) is None:
                return self._refused(is_attempt=True)
            self._phase = "body"
            return None
        self._header += character
        if len(self._header) > MOST_NAME_CHARACTERS:
            return self._refused(is_attempt=False)
        return None

    def _on_mark(self, mark: str) -> Verdict:
        start, self._length = self._length, self._length + len(mark)
        kind = kind_of(mark)
        if self._phase == "header":
            return self._refused(is_attempt=False)
        if self._phase == "after":
            return Found((), "".join(self._raw)) if kind == "close" else Found((), "", rest="".join(self._raw))
        match kind:
            case "function_close":
                self._last, self._function_end = "function", (start, self._length)
                if self._is_json or not self._is_enclosed:
                    return self._tried(self._length, is_over=False)
            case "parameter_close":
                self._last = "parameter"
            case "close" if self._last in ("function", "parameter"):
                return self._tried(start, after=self._length) or self._refused(is_attempt=True)
            case "close":
                self._last, self._call_end = "call", (start, self._length)
            case "open" | "function" if self._last:
                end = self._call_end[0] if self._last == "call" else start
                return self._tried(end, after=start) or self._refused(is_attempt=True)
            case _:
                self._last = ""
        return None

    def _tried(self, end: int, *, after: int | None = None, is_over: bool = True) -> Verdict:
        """Whether what was taken up to `end` is a call; what stands behind `after` is no part of it."""
        self._tries += 1
        raw = "".join(self._raw)
        try:
            call = call_of_xml(raw[self._start : end], self._schemas)
        except NoCall:
            return self._refused(is_attempt=True) if self._tries == MOST_TRIES else None
        if is_over:
            return Found((call,), raw[:after], rest=raw[after:] if after is not None else "")
        self._raw, self._opening, self._phase = [], "", "after"
        return Found((call,), raw, is_over=False)

    def _at_end(self) -> Verdict:
        if self._phase == "after":
            return Found((), "".join(self._raw))
        found: Verdict = None
        if self._phase == "body":
            tail = "".join(self._raw).rstrip().lower()
            if self._function_end[1]:
                found = self._tried(self._function_end[0], after=self._function_end[1])
            elif self._call_end[1]:
                found = self._tried(self._call_end[0], after=self._call_end[1])
            elif self._is_json or tail.endswith("</parameter>"):
                found = self._tried(self._length, after=self._length)
        return found or self._refused(is_attempt=self._phase == "body")
