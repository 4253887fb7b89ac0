"""Text to search terms, a query to an FTS5 expression, and the snippet of a hit.

Pure. Words are folded (compatibility forms, case, accents). Chinese, Japanese and Korean are written without spaces
or with spaces that do not end words, so their runs are indexed as overlapping pairs plus the last character alone:
拿铁咖啡 becomes 拿铁 铁咖 咖啡 啡, where 咖啡 is found as a term, 铁咖啡 as a phrase and 咖 as the start of a term.
Knows no tables; the index only has to split these terms at spaces.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

TERM_CHARACTERS = 64
"""Longer words are cut, both when stored and when searched."""
QUERY_TERMS = 32
"""Further words of a query are not looked at: SQLite limits how deep an expression may be."""
RUN_CHARACTERS = 64
"""Further characters of one run of a query are not looked at."""
SNIPPET_BEFORE = 30
SNIPPET_CHARACTERS = 120

_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3100-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7fb"
    "\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_CJK_CHARACTER = re.compile(f"[{_CJK}]")
_TERM = re.compile(rf"(?P<run>[{_CJK}]+)|(?P<word>(?:(?![{_CJK}])[^\W_])+)")


def terms(text: str) -> str:
    """What to index for `text`: its terms in order, separated by spaces."""
    return " ".join(term for is_run, part in _parts(_fold(text)) for term in (_pairs(part) if is_run else (part,)))


def expression(query: str) -> str:
    """The FTS5 expression that asks for every term of `query`; empty when it holds nothing to search for.

    Terms are made of letters and digits only and are quoted, so no query can be read as FTS5 syntax.
    """
    parts = list(_parts(_fold(query)))[:QUERY_TERMS]
    asked = [_phrase(part) if is_run else f'"{part}"' for is_run, part in parts]
    if parts and not parts[-1][0]:
        asked[-1] += " *"
    return " AND ".join(asked)


def snippet(text: str, query: str) -> str:
    """One line of `text` around the first place that a term of `query` matches; its beginning when none does."""
    start = max(0, _first_match(text, list(_parts(_fold(query)))[:QUERY_TERMS]) - SNIPPET_BEFORE)
    end = start + SNIPPET_CHARACTERS
    shown = " ".join(text[start:end].split())
    return ("…" if start > 0 else "") + shown + ("…" if end < len(text) else "")


def _fold(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded if folded.isascii() else _without_accents(folded)


def _without_accents(text: str) -> str:
    # Kana keep their marks and Hangul its syllables: there they make other letters.
    return "".join(_base_letter(character) for character in text)


@lru_cache(maxsize=16384)
def _base_letter(character: str) -> str:
    if _CJK_CHARACTER.match(character):
        return character
    return "".join(c for c in unicodedata.normalize("NFD", character) if unicodedata.category(c) != "Mn")


def _parts(folded: str) -> Iterator[tuple[bool, str]]:
    """(is a CJK run, the run or word), in order."""
    for match in _TERM.finditer(folded):
        if match["run"] is not None:
            yield True, match["run"]
        else:
            yield False, match["word"][:TERM_CHARACTERS]


def _pairs(run: str) -> Iterator[str]:
    for index in range(len(run)):
        yield run[index : index + 2]


def _phrase(run: str) -> str:
    if len(run) == 1:
        return f'"{run}" *'
    pairs = [pair for pair in _pairs(run[:RUN_CHARACTERS]) if len(pair) == 2]
    return '"' + " ".join(pairs) + '"'


def _first_match(text: str, asked: list[tuple[bool, str]]) -> int:
    """Index into `text` of the first run or word that matches; 0 when none does."""
    folded, origins = _fold_with_origins(text)
    for match in _TERM.finditer(folded):
        for is_run, part in asked:
            offset = match[0].find(part)
            if offset == 0 or (offset > 0 and is_run):
                return origins[match.start() + offset]
    return 0


def _fold_with_origins(text: str) -> tuple[str, list[int]]:
    """`text` folded character by character, and for each folded character where in `text` it comes from."""
    pieces = [_fold_character(character) for character in text]
    origins = [index for index, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), origins


@lru_cache(maxsize=16384)
def _fold_character(character: str) -> str:
    return _fold(character)
