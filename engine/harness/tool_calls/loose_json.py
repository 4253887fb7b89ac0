"""JSON as models write it, and the calls that look like Python.

Takes what can mean one thing only: single and curly quotes, Python's literals and triple quotes, keys without quotes,
commas too many, line breaks in texts, brackets that were never closed where the markup around them was. A text that
never ends, a quote within a text, a key given twice with two values: those are refused. Evaluates nothing.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from engine import strict_json

_SPACE: Final = re.compile(r"\s*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,299})(?:\.[0-9]{1,300})?(?:[eE][+-]?[0-9]{1,3})?(?![\w.])")
_WORD: Final = re.compile(r"[A-Za-z_$][\w.-]*")
_KEY: Final = re.compile(r"[^\W\d][\w-]*")
_TRAILING: Final = re.compile(r"[\s}\])`;,]*\Z")
_WORDS: Final = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_CLOSING: Final = {'"': '"', "'": "'", "“": '”“"', "”": '”"', "‘": "’'", "「": "」"}
"""By the quote that opens a text, those that may close it."""
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", "\n": ""}
_UNICODE: Final = re.compile(r"[0-9a-fA-F]{4}")


def read_value(text: str, *, may_close: bool = False) -> Any:
    """The value that `text` is, strict JSON or not. `may_close` adds brackets that are missing at the end.

    Raises: ValueError, with the reason as a clause.
    """
    try:
        # Not strict: models write line breaks inside texts.
        value = json.loads(
            text, strict=False, parse_constant=_no_constant, object_pairs_hook=_object, parse_float=_finite
        )
    except (ValueError, RecursionError):
        reader = _Reader(text, may_close)
        value = reader.value(0)
        reader.check_end()
    _check_depth(value)
    return value


def read_python_calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    """(name, arguments) of every call in `name(argument=value, …)`, or in a list of such.

    Raises: ValueError.
    """
    reader = _Reader(text, may_close=False)
    found = reader.calls()
    reader.check_end()
    _check_depth([arguments for _, arguments in found])
    return found


class _Reader:
    def __init__(self, text: str, may_close: bool) -> None:
        self._text = text
        self._at = 0
        self._may_close = may_close

    def value(self, depth: int) -> Any:
        if depth > strict_json.MOST_LEVELS:
            raise ValueError(f"it is nested more than {strict_json.MOST_LEVELS} deep")
        character = self._next()
        if character == "{":
            return self._object(depth)
        if character in ("[", "("):
            return self._list("]" if character == "[" else ")", depth)
        if character in _CLOSING:
            return self._string(character)
        return self._plain()

    def check_end(self) -> None:
        if not _TRAILING.match(self._text, self._at):
            raise ValueError(f"it goes on at character {self._at + 1} after its end")

    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        is_list = self._next() == "["
        if is_list:
            self._at += 1
        found: list[tuple[str, dict[str, Any]]] = []
        while True:
            found.append(self._call())
            following = self._next()
            if following in (",", ";"):
                self._at += 1
                following = self._next()
            if following in ("", "]"):
                break
        if is_list:
            self._expect("]")
        return found

    def _call(self) -> tuple[str, dict[str, Any]]:
        name = self._matched(_WORD, "a name")
        self._expect("(")
        arguments: dict[str, Any] = {}
        while self._next() != ")":
            key = self._matched(_KEY, "an argument's name")
            self._expect("=")
            _add(arguments, key, self.value(1))
            if self._next() != ")":
                self._expect(",")
        self._at += 1
        return name, arguments

    def _object(self, depth: int) -> dict[str, Any]:
        self._at += 1
        found: dict[str, Any] = {}
        while not self._has_closed("}"):
            character = self._next()
            key = self._string(character) if character in _CLOSING else self._matched(_KEY, "a key")
            self._expect(":：")
            _add(found, key, self.value(depth + 1))
            self._separate("}")
        return found

    def _list(self, closing: str, depth: int) -> list[Any]:
        self._at += 1
        found: list[Any] = []
        while not self._has_closed(closing):
            found.append(self.value(depth + 1))
            self._separate(closing)
        return found

    def _has_closed(self, closing: str) -> bool:
        character = self._next()
        if character == closing:
            self._at += 1
            return True
        return character == "" and self._may_close

    def _separate(self, closing: str) -> None:
        character = self._next()
        if character != closing and not (character == "" and self._may_close):
            self._expect(",，")

    def _string(self, opening: str) -> str:
        tripled = opening * 3
        if opening in "\"'" and self._text.startswith(tripled, self._at):
            end = self._text.find(tripled, self._at + 3)
            if end < 0:
                raise ValueError("a text in it never ends")
            found, self._at = self._text[self._at + 3 : end], end + 3
            return found
        closing = _CLOSING[opening]
        pieces: list[str] = []
        self._at += 1
        while True:
            character = self._text[self._at : self._at + 1]
            if not character:
                raise ValueError("a text in it never ends")
            self._at += 1
            if character in closing:
                return "".join(pieces)
            pieces.append(self._escaped() if character == "\\" else character)

    def _escaped(self) -> str:
        """What a backslash and the next characters stand for; one that means nothing is a backslash."""
        character = self._text[self._at : self._at + 1]
        self._at += 1
        if character == "u" and _UNICODE.match(self._text, self._at):
            return self._unicode()
        if character in _ESCAPES:
            return _ESCAPES[character]
        return character if character in _CLOSING else "\\" + character

    def _unicode(self) -> str:
        code = int(self._text[self._at : self._at + 4], 16)
        self._at += 4
        if 0xD800 <= code < 0xDC00 and self._text.startswith("\\u", self._at):
            low = _UNICODE.match(self._text, self._at + 2)
            if low and 0xDC00 <= int(low[0], 16) < 0xE000:
                self._at += 6
                return chr(0x10000 + ((code - 0xD800) << 10) + int(low[0], 16) - 0xDC00)
        return chr(code)

    def _plain(self) -> Any:
        number = _NUMBER.match(self._text, self._at)
        if number:
            self._at = number.end()
            return json.loads(number[0], parse_float=_finite)
        word = _WORD.match(self._text, self._at)
        if word and word[0] in _WORDS:
            self._at = word.end()
            return _WORDS[word[0]]
        raise ValueError(f"there is no value at character {self._at + 1}")

    def _next(self) -> str:
        """The next character that is no space, without taking it; empty at the end."""
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._text[self._at : self._at + 1]

    def _expect(self, characters: str) -> None:
        character = self._next()
        if not character or character not in characters:
            raise ValueError(f"{characters[0]!r} is missing at character {self._at + 1}")
        self._at += 1

    def _matched(self, pattern: re.Pattern[str], what: str) -> str:
        self._next()
        match = pattern.match(self._text, self._at)
        if match is None:
            raise ValueError(f"{what} is missing at character {self._at + 1}")
        self._at = match.end()
        return match[0]


def _add(found: dict[str, Any], key: str, value: Any) -> None:
    if key in found and not strict_json.same(found[key], value):
        raise ValueError(f"it gives `{key:.40}` twice")
    found[key] = value


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        _add(found, key, value)
    return found


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"it holds {digits:.40}, which is too large for a number")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"it holds {name}, which is no JSON")


def _check_depth(value: Any) -> None:
    """Raises: ValueError. Whoever walks the value further on needs no guard then."""
    level = [value]
    for _ in range(strict_json.MOST_LEVELS + 1):
        level = [
            child
            for one in level
            if isinstance(one, dict | list)
            for child in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise ValueError(f"it is nested more than {strict_json.MOST_LEVELS} deep")
