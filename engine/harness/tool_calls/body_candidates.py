"""A call as JSON, as Python, or as a name before its arguments: where it ends, between marks or without any."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Literal

from engine.harness.tool_calls.candidates import MOST_BEFORE_BRACKET, MOST_TRIES, Found, MarkedCandidate, Verdict
from engine.harness.tool_calls.decoding import FIRST_KEYS, NoCall, Schemas, calls_of_text
from engine.harness.tool_calls.marks import kind_of
from engine.harness.tool_calls.naming import MOST_NAME_CHARACTERS
from engine.harness.tool_calls.xml_candidates import XmlCandidate

_AFTER_CALL: Final = frozenset(" \t\r\n}])`;,")
"""What may stand between calls, and between a call and what closes its markup."""
_BEFORE_NEXT: Final = " \t\r\n}]);,"
_NAME: Final = frozenset("_.:/-")
_OPENINGS: Final = re.compile(r"\A(?:\s*<[^<>]{1,20}>)+")
"""Some models write one opening mark within another."""

Kind = Literal["enclosed", "prefixed", "bare"]
"""Between marks, after a mark, or without one."""


class BodyCandidate(MarkedCandidate):
    """A call as JSON, as Python, or as a name before its arguments."""

    def __init__(self, opening: str, schemas: Schemas, kind: Kind, *, is_bare_style: bool) -> None:
        super().__init__(opening, schemas)
        self._kind = kind
        self._is_bare_style = is_bare_style
        self._phase: Literal["before", "name", "named", "body", "after"] = "before"
        self._scan = BracketScan()
        self._name = ""
        self._beginning = _Beginning(schemas)
        self._tries = 0
        self._has_just_closed = False
        self._has_called = False
        self._xml: XmlCandidate | None = None

    def take(self, character: str) -> Verdict:
        return self._xml.take(character) if self._xml else super().take(character)

    def end(self) -> Verdict:
        return self._xml.end() if self._xml else super().end()

    def _on_character(self, character: str) -> Verdict:
        match self._phase:
            case "before":
                return None if character.isspace() else self._begin(character)
            case "name":
                return self._in_name(character)
            case "named":
                if character == "{":
                    return self._in_body(character)
                is_tag = character == "<" and self._name in self._schemas
                return None if character.isspace() else self._refused(is_attempt=is_tag)
            case "body":
                return self._in_body(character)
            case "after":
                return self._after(character)

    def _begin(self, character: str) -> Verdict:
        is_quote = character in "\"'`“" and self._kind != "bare"
        if character in "{[" or is_quote:
            return self._in_body(character)
        if not _is_of_name(character):
            return self._refused(is_attempt=False)
        self._phase, self._name = "name", ""
        return self._in_name(character)

    def _in_name(self, character: str) -> Verdict:
        # Without markup, and after a call, other text is as likely.
        is_strict = self._kind == "bare" or self._has_called
        if _is_of_name(character) and len(self._name) < MOST_NAME_CHARACTERS:
            self._name += character
            if is_strict and not _begins_a_name(self._name, self._schemas):
                return self._refused(is_attempt=False)
            return None
        if character == "(" and (not is_strict or self._name in self._schemas):
            return self._in_body(character)
        if is_strict or not (character.isspace() or character == "{"):
            return self._refused(is_attempt=False)
        self._phase = "named"
        return self._on_character(character)

    def _in_body(self, character: str) -> Verdict:
        self._phase = "body"
        if not character.isspace():
            self._has_just_closed = False
        if self._kind == "bare" and not self._beginning.allows(character):
            return self._refused(is_attempt=False)
        if self._scan.closes_with(character):
            return self._tried()
        if not self._scan.has_begun and self._scan.characters > MOST_BEFORE_BRACKET:
            return self._refused(is_attempt=False)
        return None

    def _tried(self, before: str = "", *, may_close: bool = False) -> Verdict:
        """Whether all that was taken, without the mark `before` which it ends, is calls."""
        self._tries += 1
        raw = "".join(self._raw)
        body = raw[len(self._opening) : len(raw) - len(before)]
        try:
            calls = calls_of_text(
                _OPENINGS.sub("", body.lstrip(_BEFORE_NEXT), count=1),
                self._schemas,
                is_bare=self._is_bare_style,
                is_marked=self._kind != "bare",
                may_close=may_close,
            )
        except NoCall:
            if self._kind == "bare":
                return self._refused(is_attempt="arguments" in raw or "parameters" in raw)
            return self._refused(is_attempt=True) if self._tries == MOST_TRIES else None
        self._raw, self._opening, self._phase, self._has_called = [], "", "after", True
        self._scan, self._beginning, self._tries = BracketScan(), _Beginning(self._schemas), 0
        return Found(calls, raw, is_over=before != "")

    def _after(self, character: str) -> Verdict:
        if character in _AFTER_CALL:
            return None
        if character in "{[":
            return self._in_body(character)
        if _is_of_name(character):
            self._phase, self._name = "name", ""
            return self._in_name(character)
        return Found((), "", rest="".join(self._raw))

    def _on_mark(self, mark: str) -> Verdict:
        kind = kind_of(mark)
        match self._phase:
            case "before" if kind == "function":
                self._xml = XmlCandidate(self._opening, self._schemas, raw=self._raw, is_enclosed=True)
                return None
            case "before" if kind == "open" and self._kind == "enclosed":
                return None
            case "name" if kind == "arguments":
                self._phase = "named"
                return None
            case "name" if kind == "close":
                return self._tried(mark) or self._refused(is_attempt=True)
            case "body":
                return self._mark_in_body(mark)
            case "after" if kind == "close" and self._kind == "enclosed":
                return Found((), "".join(self._raw))
            case "after" if kind in ("function_close", "parameter_close") and self._kind == "enclosed":
                return None
            case "after":
                return Found((), "", rest="".join(self._raw))
        return self._refused(is_attempt=self._name in self._schemas)

    def _mark_in_body(self, mark: str) -> Verdict:
        kind = kind_of(mark)
        if kind == "close":
            verdict = self._tried(mark, may_close=True)
            self._has_just_closed = True
            return verdict
        if kind in ("open", "function", "prefix") and (self._has_just_closed or not self._scan.is_in_text):
            # Hardly within a text: the call before is broken, and another begins.
            return self._refused(is_attempt=True)
        return None

    def _at_end(self) -> Verdict:
        if self._phase == "after":
            return Found((), "".join(self._raw))
        if self._phase != "body":
            return self._refused(is_attempt=False)
        verdict = self._tried()
        return replace(verdict, is_over=True) if isinstance(verdict, Found) else self._refused(is_attempt=True)


class BracketScan:
    """Says where brackets close outside of texts. Single quotes open texts where the first quote is one."""

    def __init__(self) -> None:
        self._depth = 0
        self._quotes = ""
        self._open_quote = ""
        self._is_escaped = False
        self.characters = 0

    @property
    def is_in_text(self) -> bool:
        return self._open_quote != ""

    @property
    def has_begun(self) -> bool:
        return self._quotes != "" or self._depth > 0

    def closes_with(self, character: str) -> bool:
        self.characters += 1
        if self._open_quote:
            if self._is_escaped:
                self._is_escaped = False
            elif character == "\\":
                self._is_escaped = True
            elif character == self._open_quote:
                self._open_quote = ""
                return self._depth == 0
            return False
        if character in "\"'":
            self._quotes = self._quotes or ("\"'" if character == "'" else '"')
            self._open_quote = character if character in self._quotes else ""
        elif character in "{[(":
            self._depth += 1
        elif character in "}])" and self.has_begun:
            self._depth -= 1
            return self._depth <= 0
        return False


class _Beginning:
    """Whether an object or list without markup may be a call yet, by its first key or the first name in it."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._expected: Literal["start", "object", "key", "in_key", "in_name", "nothing"] = "start"
        self._word = ""

    def allows(self, character: str) -> bool:
        match self._expected:
            case "nothing":
                return True
            case "start":
                self._expected = "key" if character == "{" else "object" if character == "[" else "nothing"
                return True
            case "in_key" | "in_name":
                return self._allows_in_word(character)
        if character.isspace():
            return True
        if self._expected == "object" and character == "{":
            self._expected = "key"
            return True
        is_key = self._expected == "key"
        self._expected = "in_key" if is_key else "in_name"
        if is_key and character in "\"'“":
            return True
        return self._allows_in_word(character)

    def _allows_in_word(self, character: str) -> bool:
        if _is_of_name(character):
            self._word += character
            words = FIRST_KEYS if self._expected == "in_key" else self._schemas
            return _begins_a_name(self._word, words)
        is_whole = self._word in (FIRST_KEYS if self._expected == "in_key" else self._schemas)
        self._expected = "nothing"
        return is_whole


def _begins_a_name(beginning: str, names: Iterable[str]) -> bool:
    return any(name.startswith(beginning) for name in names)


def _is_of_name(character: str) -> bool:
    return character.isalnum() or character in _NAME
