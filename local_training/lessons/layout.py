"""Traits of how an answer is laid out: as a list, not as a list, without emoji."""

import re
from dataclasses import dataclass
from typing import ClassVar, Final

from local_training.lessons.traits import Fields, Values
from local_training.lessons.wording import is_finished, is_list_line, join_sentences, plain, sentences

_FEWEST_ITEMS: Final = 2
_EMOJI: Final = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55\ufe0f\u200d\U000e0020-\U000e007f]+")


@dataclass(frozen=True, slots=True)
class NoBullets:
    """Running text: no bulleted or numbered list."""

    kind: ClassVar[str] = "no_bullets"

    @property
    def values(self) -> Values:
        return {}

    def adheres(self, prompt: str, answer: str) -> bool:
        return answer.strip() != "" and not any(map(is_list_line, answer.splitlines()))

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        whole = [sentence for sentence in sentences(plain(answer)) if is_finished(sentence)]
        return join_sentences(whole) or None


@dataclass(frozen=True, slots=True)
class AsBullets:
    """A list, every line of which is an item; a line before it may introduce it."""

    kind: ClassVar[str] = "as_bullets"

    @property
    def values(self) -> Values:
        return {}

    def adheres(self, prompt: str, answer: str) -> bool:
        lines = [line for line in answer.splitlines() if line.strip()]
        items = sum(map(is_list_line, lines))
        return items >= _FEWEST_ITEMS and items >= len(lines) - 1

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        items = [sentence for sentence in sentences(plain(answer)) if is_finished(sentence)]
        return "\n".join(f"- {item}" for item in items) if len(items) >= _FEWEST_ITEMS else None


@dataclass(frozen=True, slots=True)
class NoEmoji:
    """No emoji."""

    kind: ClassVar[str] = "no_emoji"

    @property
    def values(self) -> Values:
        return {}

    def adheres(self, prompt: str, answer: str) -> bool:
        return answer.strip() != "" and _EMOJI.search(answer) is None

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        return re.sub(r"[ \t]{2,}", " ", _EMOJI.sub("", answer)).strip() or None
