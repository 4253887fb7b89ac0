"""What words are kinds of: a latte is a drink, 搬家 is about where one lives. In English and Chinese alike.

A thesaurus of everyday life, small and open: it lets a question find a memory that shares no word with it, also where
the embedder does not know the language. Knows neither memories nor questions.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
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
    kinds: Collection[tuple[str, str]] = frozenset()
    """(word or stem, concept) where the word is one for the kind itself, such as "pet", and not for a member."""

    def words_in(self, text: str) -> list[str]:
        """For each character of `text` the Chinese word it belongs to, or ""."""
        found = [""] * len(text)
        for match in self.runs.finditer(text) if self.runs is not None else ():
            for place in range(*match.span()):
                found[place] = match[0]
        return found

    def of(self, word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The concepts that a Chinese word or an English stem stands for as a whole, and those it is a member of."""
        concepts = self.by_run.get(word) or self.by_stem.get(word, ())
        kinds = tuple(concept for concept in concepts if (word, concept) in self.kinds)
        return kinds, tuple(concept for concept in concepts if concept not in kinds)

    def named_in(self, text: str, stems: Iterable[str]) -> Iterator[str]:
        """Each concept once that a Chinese word of `text` or one of the English stems belongs to."""
        found = [concept for one in stems for concept in self.by_stem.get(one, ())]
        if self.runs is not None:
            found += [concept for match in self.runs.finditer(text) for concept in self.by_run[match[0]]]
        yield from dict.fromkeys(found)


NO_CONCEPTS = Concepts({}, {}, None)


def make_concepts(words: Mapping[str, Mapping[str, Iterable[str]]]) -> Concepts:
    """From the words of each concept: those for its `kind` and those for its `members`."""
    by_stem: dict[str, tuple[str, ...]] = {}
    by_run: dict[str, tuple[str, ...]] = {}
    kinds = set[tuple[str, str]]()
    for concept, given in words.items():
        for part in ("kind", "members"):
            for word in given.get(part, ()):
                known, key = (by_stem, stem(word)) if word.isascii() else (by_run, word)
                known[key] = tuple(dict.fromkeys((*known.get(key, ()), concept)))
                if part == "kind":
                    kinds.add((key, concept))
    longest_first = sorted(by_run, key=len, reverse=True)
    runs = re.compile("|".join(map(re.escape, longest_first))) if by_run else None
    return Concepts(by_stem, by_run, runs, frozenset(kinds))


def read_concepts(path: Path) -> Concepts:
    return make_concepts(tomllib.loads(path.read_text(encoding="utf-8")))


@cache
def shipped_concepts() -> Concepts:
    """Those that come with the program. Raises: ModelMissing."""
    return read_concepts(asset_path("memory", "concepts.toml"))
