"""Text to the terms of memories, and a question to the terms it asks for.

Pure. The terms are those of the search over messages (`engine.store.search`), where English words are cut to their
stems, words that say nothing are left out, and what a word is a kind of is added as a term of its own (`concepts`).
So "drank lattes" and "what do I drink" share a term, and so do 拿铁 and "coffee".
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import engine.store.search as search
from engine.memory.concepts import Concepts
from engine.memory.stems import stem

CONCEPT_MARK: Final = "§"
"""What a concept begins with among terms; no word does."""

_STOP_WORDS_TEXT: Final = """
    a about above actually after again all also am an and any anyone anything are aren as at be because been before
    being below between both but by can cannot could couldn d did didn do does doesn doing don done down during each
    else ever every everything few for from further get gets getting give go goes going gonna got had hadn has hasn have
    haven having he her here hers herself him himself his how i if in into is isn it its itself just kind ll let like
    lot lots m may maybe me might mine more most much must my myself no nor not now of off oh ok okay on once one only
    or other our ours ourselves out over own please quite re really s same shall she should shouldn so some someone
    something such sure t than thanks that the their theirs them themselves then there these they thing things this
    those through to too um under until up us ve very was wasn way we well were weren what when where which while who
    whom whose why will with won would wouldn yeah yes you your yours yourself yourselves
"""
_STOP_WORDS: Final = frozenset(_STOP_WORDS_TEXT.split())
_FUNCTION_CHARACTERS: Final = frozenset(
    "我你您他她它们的了在是有吗呢吧啊呀嘛哦不没都也就和跟与或把被给让对从到向这那哪什么怎样几谁个些会要能可以想"
    "很太最更还又再才只过着得地之其而且但因为所如果于并"
)
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")


def index_terms(text: str, concepts: Concepts) -> str:
    """What to index for a memory, separated by spaces; a term that occurs twice is there twice."""
    return " ".join([*_terms(text), *_concept_terms(text, concepts)])


def query_terms(text: str, concepts: Concepts) -> tuple[str, ...]:
    """What a question asks for: each term once, in order, words before concepts."""
    return tuple(dict.fromkeys([*_query_words(text), *_concept_terms(text, concepts)]))


def expression(terms: Iterable[str]) -> str:
    """The FTS5 expression for any of these terms. Terms hold letters, digits and the mark of concepts only."""
    return " OR ".join(f'"{term}"' for term in terms)


def is_concept(term: str) -> bool:
    return term.startswith(CONCEPT_MARK)


def content_terms(text: str) -> frozenset[str]:
    """What `text` says, without concepts: for comparing texts with each other."""
    return frozenset(_query_words(text))


def _terms(text: str) -> Iterator[str]:
    for term in search.terms(text).split():
        if _NOT_ASCII.search(term):
            if not all(character in _FUNCTION_CHARACTERS for character in term):
                yield term
        elif term not in _STOP_WORDS:
            yield stem(term)


def _query_words(text: str) -> Iterator[str]:
    """Without the last character of each run of Chinese, which is only there so that it can be found alone."""
    before = ""
    for term in _terms(text):
        is_tail = len(term) == 1 and bool(_NOT_ASCII.match(term)) and before.endswith(term) and len(before) == 2
        before = term
        if not is_tail:
            yield term


def _concept_terms(text: str, concepts: Concepts) -> Iterator[str]:
    stems = [stem(term) for term in search.terms(text).split() if term.isascii()]
    for concept in concepts.named_in(text, stems):
        yield CONCEPT_MARK + concept
