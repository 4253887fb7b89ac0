"""Text to the terms of memories, and a question to the terms it asks for.

Pure. The terms are those of the search over messages (`engine.store.search`), where English words are cut to their
stems, words that say nothing are left out, each Chinese character is a term beside the pairs, and what a word is a
kind of is added as a term of its own (`concepts`). So "drank lattes" and "what do I drink" share a term, and so do
拿铁 and "coffee".
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import engine.store.search as search
from engine.memory.concepts import Concepts
from engine.memory.scripts import simplified
from engine.memory.stems import stem

CONCEPT_MARK: Final = "§"
"""What a concept begins with among terms; no word does."""

_STOP_WORDS_TEXT: Final = """
    a about above actually after again all also am an and any anymore anyone anything are aren as at be because been
    before being below between both but by can cannot could couldn d did didn do does doesn doing don done down
    during each else ever every everything few for from further get gets getting give go goes going gonna got had
    hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself
    just kind ll let like longer lot lots m may maybe me might mine more most much must my myself no nor not now of
    off oh ok okay on once one only or other our ours ourselves out over own please quite re really s same shall she
    should shouldn so some someone something such sure t than thanks that the their theirs them themselves then
    there these they thing things this those through to too um under until up us ve very was wasn way we well were
    weren what when where which while who whom whose why will with won would wouldn yeah yes you your yours yourself
    yourselves
"""
_STOP_WORDS: Final = frozenset(_STOP_WORDS_TEXT.split())
_FUNCTION_CHARACTERS: Final = frozenset(
    "我你您他她它们的了在是有吗呢吧啊呀嘛哦不没都也就和跟与或把被给让对从到向这那哪什么怎样几谁个些会要能可以想"
    "很太最更还又再才只过着得地之其而且但因为所如果于并"
)
_ASKING_WORDS: Final = "tell remember know recommend suggest remind mention say said told current assume"
"""What questions are put with, and does not tell what they are about."""
_ASKING: Final = re.compile(
    "记得|告诉|知道|推荐|提醒|请问|帮我|一下|平时|现在|目前|通常|什么时候|哪里|哪儿|哪[天位个些家种]|多少|有没有|怎么样|如何|是否"
)
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
CONCEPT_SHARE: Final = 0.3
"""What a concept in common counts, beside a word that is as rare."""
KIND_HOLDS: Final = 0.6
SIBLING_HOLDS: Final = 0.25
"""How far a piece of a question is held by a member of its kind, by a sibling or by half of a word."""
PART_SHARE: Final = 0.4
"""What a single Chinese character counts, or a pair of which one only holds a sentence together."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of what a question asks about: held where any of its terms is. Where it stands for a kind of thing, nearly
    held by any member of that kind; where it is a member, hardly held by another one."""

    terms: tuple[str, ...]
    kinds: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    part: str = ""
    """A Chinese character, of which the terms are the pairs with its neighbours."""

    def held_by(self, held: Collection[str]) -> float:
        """How far, 0 to 1, by a memory with these terms."""
        if any(term in held for term in self.terms):
            return 1.0
        if any(CONCEPT_MARK + kind in held for kind in self.kinds):
            return KIND_HOLDS
        is_like = self.part in held or any(CONCEPT_MARK + concept in held for concept in self.concepts)
        return SIBLING_HOLDS if is_like else 0.0


def index_terms(text: str, concepts: Concepts) -> str:
    """What to index for a memory, separated by spaces; a term that occurs twice is there twice."""
    return " ".join([*_with_characters(_words(text)), *_concept_terms(text, concepts)])


def query_terms(text: str, concepts: Concepts) -> tuple[str, ...]:
    """What a question asks for: each term once."""
    told = _ASKING.sub(" ", simplified(text))
    words = [word for word in _words(told) if word not in _ASKING_STEMS]
    return tuple(dict.fromkeys([*_with_characters(words), *_concept_terms(told, concepts)]))


def pieces(question: str, concepts: Concepts) -> tuple[Piece, ...]:
    """What a question asks about, word by word, and character by character where it is Chinese."""
    told = _ASKING.sub(" ", simplified(question))
    found = [
        Piece((word,), *concepts.of(word)) for word in _words(told) if word.isascii() and word not in _ASKING_STEMS
    ]
    named = concepts.words_in(told)
    for place, character in enumerate(told):
        if _HAN.match(character) and character not in _FUNCTION_CHARACTERS:
            around = (told[max(place - 1, 0) : place + 1], told[place : place + 2])
            pairs = tuple(pair for pair in around if len(pair) == 2 and _is_whole(pair))
            found.append(Piece(pairs or (character,), *concepts.of(named[place]), character))
    return tuple(dict.fromkeys(found))


def expression(terms: Iterable[str]) -> str:
    """The FTS5 expression for any of these terms. Terms hold letters, digits and the mark of concepts only."""
    return " OR ".join(f'"{term}"' for term in terms)


def share_of(term: str) -> float:
    """What a term in common counts beside a word that is as rare."""
    if term[0] == CONCEPT_MARK:
        return CONCEPT_SHARE
    return PART_SHARE if _HAN.match(term) and not _is_whole(term) else 1.0


def is_concept(term: str) -> bool:
    return term.startswith(CONCEPT_MARK)


def content_terms(text: str) -> frozenset[str]:
    """What `text` says, without concepts: for comparing texts with each other."""
    return frozenset(_words(text))


def held_terms(text: str) -> frozenset[str]:
    """As `content_terms`, with each Chinese character."""
    return frozenset(_with_characters(_words(text)))


def is_about(text: str, terms: Iterable[str]) -> bool:
    """Whether `text` names every one of these."""
    return held_terms(text).issuperset(terms)


def _words(text: str) -> Iterator[str]:
    """Stems, and pairs of Chinese characters; one alone where a run has no other."""
    before = ""
    for term in search.terms(simplified(text)).split():
        if term.isascii():
            if term not in _STOP_WORDS:
                yield stem(term)
        # The last character of a run is there once more, so that it can be found alone.
        elif not _FUNCTION_CHARACTERS.issuperset(term) and (len(term) > 1 or before[1:] != term):
            yield term
        before = term


def _with_characters(words: Iterable[str]) -> Iterator[str]:
    """Each word, and after a pair the characters of it that were not in the one before."""
    before = ""
    for word in words:
        yield word
        if not word.isascii() and len(word) == 2:
            new = word[1:] if before.endswith(word[0]) else word
            yield from (character for character in new if character not in _FUNCTION_CHARACTERS)
        before = word


def _is_whole(term: str) -> bool:
    """Whether it is a pair of characters that both tell something."""
    return len(term) > 1 and not any(character in _FUNCTION_CHARACTERS for character in term)


def _concept_terms(text: str, concepts: Concepts) -> Iterator[str]:
    stems = [stem(term) for term in search.terms(text).split() if term.isascii()]
    for concept in concepts.named_in(simplified(text), stems):
        yield CONCEPT_MARK + concept


_ASKING_STEMS: Final = frozenset(map(stem, _ASKING_WORDS.split()))
