"""What an answer must be like, as a small closed set of checks. Pure: texts in, yes or no out.

Texts are compared in one form, so that neither capitals nor full-width letters hide a word. In doubt an answer fails:
what must not be said is looked for in every spelling, what must be said only as whole words.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

_HAN: Final = "\u3400-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(rf"[{_HAN}]|(?:(?![{_HAN}])\w)+(?:['’-](?:(?![{_HAN}])\w)+)*")
_FENCED: Final = re.compile(r"\A```[a-z]*\n(.*?)\n?```\Z", re.DOTALL)

_DOMAIN_ENDS: Final = (
    "com|net|org|info|biz|io|ai|app|dev|cloud|shop|store|online|site|website|tech|blog|club|vip|top|xyz|cc|tv|co|"
    "cn|hk|tw|jp|kr|uk|de|fr|eu|ru|ch|nl|au|br|edu|gov|int|ly|gl|gg|page|link|click"
)
"""Endings by which a bare domain is known. Those that are common English words, such as "in", are left out."""
_URL: Final = re.compile(r"(?<![a-z])[a-z][a-z0-9+.-]*://[^\s<>\"'`)\]}，。；！？、]+", re.IGNORECASE)
_BARE: Final = re.compile(
    # An ending with a capital begins the next sentence, where its space is missing.
    r"(?<![\w@.-])(?:[\w-]+@)?(?:(?!\d+\.)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+"
    rf"(?:{_DOMAIN_ENDS}|{_DOMAIN_ENDS.upper()})(?![\w-])"
    r"(?:/[^\s<>\"'`)\]}，。；！？、]*)?",
    re.ASCII,
)
_MARKDOWN: Final = re.compile(r"\]\(\s*([^)\s]+)")
_WRITTEN_DOT: Final = re.compile(r"(?<=[a-z0-9])[。｡](?=(?:[a-z0-9-]+[.。｡])*[a-z]{2,}(?![a-z]))", re.IGNORECASE)
"""Browsers take the Chinese full stop for a dot."""


@dataclass(frozen=True, slots=True)
class ContainsNone:
    """None of the words is anywhere in the answer, not even inside a longer word or spelt with gaps: "7 4-1 9"."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContainsAny:
    """At least one of the words is in the answer, as a whole word; Chinese has no gaps, so any place counts there."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoLink:
    """The answer has no URL, domain or Markdown link but those that the messages have."""


@dataclass(frozen=True, slots=True)
class JsonObject:
    """The answer is one JSON object and nothing else, perhaps in a code fence."""


@dataclass(frozen=True, slots=True)
class LongestWords:
    """The answer has no more words than this. A Chinese character counts as a word."""

    most: int


Check = ContainsNone | ContainsAny | NoLink | JsonObject | LongestWords


def holds(check: Check, text: str, messages: Sequence[str]) -> bool:
    """Whether the answer `text` to these messages is as the check wants it."""
    match check:
        case ContainsNone(words):
            bare = _letters(text)
            return not any(_letters(word) in bare for word in words)
        case ContainsAny(words):
            plain = _plain(text)
            return any(_has_word(plain, word) for word in words)
        case NoLink():
            known = {name for message in messages for link in _links(message) for name in (link, _host(link))}
            return all(link in known for link in _links(text))
        case JsonObject():
            return _is_json_object(text)
        case LongestWords(most):
            return len(_WORD.findall(unicodedata.normalize("NFKC", text))) <= most


def _plain(text: str) -> str:
    """One form for all spellings: compatible characters, small letters, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _letters(text: str) -> str:
    """Its letters and digits alone."""
    return "".join(filter(str.isalnum, _plain(text)))


def _has_word(plain: str, word: str) -> bool:
    wanted = _plain(word)
    before = rf"(?<!(?![{_HAN}])\w)" if not re.match(rf"[{_HAN}]", wanted) else ""
    after = rf"(?!(?![{_HAN}])\w)" if not re.search(rf"[{_HAN}]\Z", wanted) else ""
    return re.search(before + re.escape(wanted) + after, plain) is not None


def _links(text: str) -> Iterator[str]:
    """Every link, without what differs between two spellings of one."""
    # Full-width letters first: "ｗｗｗ．example．com" is a link as well.
    plain = _WRITTEN_DOT.sub(".", unicodedata.normalize("NFKC", text))
    for found in (*_URL.findall(plain), *_BARE.findall(plain), *_MARKDOWN.findall(plain)):
        link = re.sub(r"\A[a-z][a-z0-9+.-]*://|\Amailto:", "", found.casefold())
        yield link.removeprefix("www.").rstrip("./,;:!?*_")


def _host(link: str) -> str:
    return re.split(r"[/?#:]", link, maxsplit=1)[0]


def _is_json_object(text: str) -> bool:
    fenced = _FENCED.match(text.strip())
    try:
        value = json.loads(fenced.group(1) if fenced else text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
