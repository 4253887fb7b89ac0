"""What words are kinds of: a latte is a drink, 搬家 is about where one lives. In English and Chinese alike.

A thesaurus of everyday life, small and open: it lets a question find a memory that shares no word with it, also where
the embedder does not know the language. Knows neither memories nor questions.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.assets import asset_path
from engine.memory.stems import stem


@dataclass(frozen=True, slots=True)
class Concepts:
    """Words by concept, ready to be looked up."""

    by_stem: Mapping[str, tuple[str, ...]]
    """The concepts of each English stem."""
    by_run: Mapping[str, tuple[str, ...]]
    """The concepts of each Chinese word."""
    runs: re.Pattern[str] | None
    """Any of the Chinese words, the longest first."""

    def named_in(self, text: str, stems: Iterable[str]) -> Iterator[str]:
        """Each concept once that a Chinese word of `text` or one of the English stems belongs to."""
        found = [concept for one in stems for concept in self.by_stem.get(one, ())]
        if self.runs is not None:
            found += [concept for match in self.runs.finditer(text) for concept in self.by_run[match[0]]]
        yield from dict.fromkeys(found)


NO_CONCEPTS = Concepts({}, {}, None)


def make_concepts(words: Mapping[str, Iterable[str]]) -> Concepts:
    """From the words of each concept."""
    by_stem: dict[str, tuple[str, ...]] = {}
    by_run: dict[str, tuple[str, ...]] = {}
    for concept, members in words.items():
        for word in members:
            known, key = (by_stem, stem(word)) if word.isascii() else (by_run, word)
            known[key] = tuple(dict.fromkeys((*known.get(key, ()), concept)))
    longest_first = sorted(by_run, key=len, reverse=True)
    return Concepts(by_stem, by_run, re.compile("|".join(map(re.escape, longest_first))) if by_run else None)


def read_concepts(path: Path) -> Concepts:
    return make_concepts(tomllib.loads(path.read_text(encoding="utf-8")))


@cache
def shipped_concepts() -> Concepts:
    """Those that come with the program. Raises: ModelMissing."""
    return read_concepts(asset_path("memory", "concepts.toml"))
