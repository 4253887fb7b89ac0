"""What a text is made of: its language, its sentences, its length. Counts characters and words; understands nothing.

A *unit* of length is one word of a script that puts spaces between words, or one Chinese character.
"""

import re
import unicodedata
from typing import Final, Literal

Language = Literal["en", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")

_HAN: Final = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN_CHARACTER: Final = re.compile(f"[{_HAN}]")
_WORD: Final = re.compile(rf"[^\W_{_HAN}]+(?:['’.-][^\W_{_HAN}]+)*")
_SENTENCE: Final = re.compile(r".+?(?:[.!?]+[\"”’)]*(?=\s|$)|[。！？]+[”’）]*|$)", re.DOTALL)
_ABBREVIATION: Final = re.compile(r"(?:^|[\s(])(?:[A-Za-z]|e\.g|i\.e|Mr|Mrs|Ms|Dr|St|vs|etc|approx|No|\d+)\.$")
_MARKER: Final = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.)、])\s+")
_EMPHASIS: Final = re.compile(r"\*\*|__|^#+\s*|`", re.MULTILINE)
_FEWEST_PIECES: Final = 16
"""A shorter text may repeat itself."""
_FRESH_SHARE: Final = {"en": 0.6, "zh": 0.75}
_PIECE_CHARACTERS: Final = {"en": 6, "zh": 4}
"""A Chinese phrase is as long as an English word."""
_FEWEST_ECHOED: Final = 4
_KEPT_CONTROLS: Final = frozenset("\n\t")


def has_han(text: str) -> bool:
    return _HAN_CHARACTER.search(text) is not None


def length_units(text: str) -> int:
    """Words and Chinese characters of a text."""
    return len(words(text)) + len(_HAN_CHARACTER.findall(text))


def words(text: str) -> list[str]:
    """The words of scripts that have spaces, as written."""
    return _WORD.findall(text)


def language_of(text: str) -> Language | None:
    """By the share of Chinese characters among all units; None where there is neither word nor character."""
    characters, spaced = len(_HAN_CHARACTER.findall(text)), len(words(text))
    if not characters and not spaced:
        return None
    return "zh" if characters >= spaced else "en"


def sentences(text: str) -> list[str]:
    """The sentences of a text in their order, without space around them; a line end ends one as well."""
    found: list[str] = []
    for line in text.splitlines():
        pending = ""
        for match in _SENTENCE.finditer(line):
            pending += match.group()
            if _ABBREVIATION.search(pending.strip()):
                continue
            found.append(pending.strip())
            pending = ""
        found.append(pending.strip())
    return [sentence for sentence in found if sentence]


def plain(text: str) -> str:
    """Without list markers and the marks of Markdown; line ends become spaces."""
    lines = (_MARKER.sub("", line).strip() for line in _EMPHASIS.sub("", text).splitlines())
    return " ".join(line for line in lines if line)


def is_list_line(line: str) -> bool:
    return _MARKER.match(line) is not None


def is_finished(text: str) -> bool:
    """Whether it ends as a sentence does, and not in the middle or before a list that is missing."""
    return text.rstrip('"”’)） *').endswith((".", "!", "?", "。", "！", "？"))


def first_sentences(text: str, most_units: int) -> str | None:
    """The longest beginning of whole, finished sentences within `most_units`; None where not even one fits."""
    kept: list[str] = []
    for sentence in sentences(plain(text)):
        if not is_finished(sentence) or length_units(join_sentences([*kept, sentence])) > most_units:
            break
        kept.append(sentence)
    return join_sentences(kept) or None


def join_sentences(parts: list[str]) -> str:
    """With a space between them, but none after a Chinese full stop."""
    joined = ""
    for part in parts:
        gap = "" if not joined or joined.endswith(("。", "！", "？")) else " "
        joined += gap + part
    return joined


def is_repetitive(text: str) -> bool:
    """Whether it says the same over and over, as small models do: too few of its pieces occur for the first time."""
    language = language_of(text) or "en"
    size = _PIECE_CHARACTERS[language]
    characters = "".join(text.split())
    pieces = [characters[start : start + size] for start in range(len(characters) - size + 1)]
    return len(pieces) >= _FEWEST_PIECES and len(set(pieces)) < _FRESH_SHARE[language] * len(pieces)


def is_echo(prompt: str, answer: str) -> bool:
    """Whether the answer begins by saying the question once more."""
    asked, said = ("".join(filter(str.isalnum, folded(text))) for text in (prompt, answer))
    return len(asked) >= _FEWEST_ECHOED and said.startswith(asked)


def clean(text: str) -> str:
    """Without control, format and half characters, which nobody typed on purpose, and without space around it."""
    return "".join(
        character
        for character in text
        if character in _KEPT_CONTROLS or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
    ).strip()


def folded(text: str) -> str:
    """For comparing: width, case and space do not matter."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
