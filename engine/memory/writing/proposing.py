"""From the sentences a user typed for themselves to proposals of memories, by the rules of both languages.

Pure. A model may propose too (`Proposer`): whoever does, `verifying` decides. The text of a rule's proposal is the
user's own sentence, or the clause of it that tells something, so that nothing can be added.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from types import ModuleType
from typing import Final, Protocol

from engine.memory.checking import says_over
from engine.memory.scripts import simplified
from engine.memory.values import MemoryKind
from engine.memory.words import content_terms
from engine.memory.writing import chinese, english
from engine.memory.writing.days import day_said, is_behind, speaks_of_time_to_come
from engine.memory.writing.proposals import Found, Proposal
from engine.memory.writing.rules import found_by

MOST_PROPOSALS: Final = 8
"""Of one message; the rest is left."""
_WHOLE_CHARACTERS: Final = 160
"""A sentence up to this long is kept whole where one of its clauses tells something."""
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_TELLING_TERMS: Final = 2
"""A clause with fewer terms says nothing by itself, such as "my girlfriend does"."""
_ANAPHORA: Final = re.compile(r"^(?:this|that|it|these|those|everything|这个|这些|这点|它|这)\W*$", re.IGNORECASE)
_SUBJECT: Final = re.compile(r"(?:i|i'm|i've|we|we're|my|our|please|always|never)\b|我|咱|请", re.IGNORECASE)
DOING: Final = content_terms(
    "drink eat smoke play use work live take go wear do have read watch listen drive ride buy visit run study practise"
    " practice do learn train see own keep job member 去 用 吃 喝 玩 做 学 练 看 听 养 抽 碰 喜欢"
)
"""What one does with a thing, which does not tell which thing it is."""


class Proposer(Protocol):
    """Reads a user's own sentences and proposes memories, such as a model does."""

    def propose(self, sentences: Sequence[str], today: date) -> Sequence[Proposal]: ...


class RuleProposer:
    """By the forms of words that people use for themselves."""

    def propose(self, sentences: Sequence[str], today: date) -> Sequence[Proposal]:
        found = [proposal for sentence in sentences for proposal in proposals_in(sentence, today)]
        return tuple(found[:MOST_PROPOSALS])


def proposals_in(sentence: str, today: date) -> Iterator[Proposal]:
    """What one sentence tells, each thing once."""
    language = chinese if _HAN.search(sentence) else english
    said = _without_lead_in(sentence, language)
    asked = language.ASKED_FOR.match(simplified(said))
    if asked:
        said = _without_lead_in(said[asked.start("said") :], language)
    proposals = list(_told(said, sentence, language, today))
    if not proposals and asked and content_terms(said) and not _ANAPHORA.match(simplified(said)):
        kind: MemoryKind = "plan" if language.TO_DO.match(simplified(said)) else "fact"
        proposals = [Proposal(_tidied(said), kind, sentence, due_on=_due(said, today) if kind == "plan" else "")]
    yield from (replace(proposal, is_asked_for=bool(asked)) for proposal in proposals)


def terms_ended(words: str) -> frozenset[str]:
    """What a memory must be about to be ended by these words; none where they name nothing."""
    named = content_terms(words)
    return named - DOING or named


def _told(said: str, sentence: str, language: ModuleType, today: date) -> Iterator[Proposal]:
    if says_over(said) and content_terms(said):
        yield Proposal(_tidied(said), "fact", sentence)
        return
    told = _joined([(clause, _seen(clause, language, said, today)) for clause in _clauses(said, language)], language)
    is_whole = len(told) == 1 and len(said) <= _WHOLE_CHARACTERS
    for clause, found in told:
        first = found[0]
        slots = (slot for one in found for slot in (*one.takes_over, one.slot) if slot)
        yield Proposal(
            text=_tidied(said if is_whole else clause),
            kind=first.kind,
            evidence=sentence,
            slot=first.slot,
            takes_over=tuple(dict.fromkeys(slots)) if first.slot else (),
            ends=terms_ended(first.ended),
            due_on=_due(said, today) if first.kind == "plan" else "",
        )


def _joined(told: Sequence[tuple[str, list[Found]]], language: ModuleType) -> list[tuple[str, list[Found]]]:
    """Clauses that tell something; one that only goes on from the one before it is part of that one."""
    joined = list[tuple[str, list[Found]]]()
    for clause, found in told:
        has_subject = _SUBJECT.match(clause)
        tells_little = not has_subject or len(content_terms(clause)) < _TELLING_TERMS
        goes_on = tells_little and not any(one.slot or one.ended for one in found)
        if joined and not has_subject:
            goes_on = goes_on or bool(language.OF_ANOTHER.match(simplified(joined[-1][0])))
        if joined and goes_on:
            before, seen = joined[-1]
            joined[-1] = (f"{before}{'，' if _HAN.search(clause) else ', '}{clause}", seen)
        elif found:
            joined.append((clause, found))
    return joined


def _without_lead_in(said: str, language: ModuleType) -> str:
    found = language.LEAD_IN.match(simplified(said))
    return said[found.end() :] if found else said


def _clauses(said: str, language: ModuleType) -> list[str]:
    return [clause.strip() for clause in language.CLAUSES.split(said) if clause and clause.strip()]


def _seen(clause: str, language: ModuleType, said: str, today: date) -> list[Found]:
    """What a clause tells, the first that fits before others in slots of their own."""
    clause = simplified(clause)
    if ended := next(found_by(language.ENDINGS, clause, language.OF_A_TASK), None):
        return [ended]
    fitting = [
        found
        for found in found_by(language.TELLINGS, clause, language.OF_A_TASK)
        if not found.needs_day or _is_to_come(said, today)
    ]
    others = [found for found in fitting[1:] if found.slot in ("home", "employer", "job", "name")]
    return fitting[:1] + others if fitting else []


def _is_to_come(said: str, today: date) -> bool:
    return not is_behind(said) and (day_said(said, today) is not None or speaks_of_time_to_come(said))


def _due(said: str, today: date) -> str:
    day = day_said(said, today)
    return day.isoformat() if day else ""


def _tidied(said: str) -> str:
    """Without what ends a sentence, beginning with a capital letter."""
    tidy = said.strip(" \t,;:.。，；：、!！~～…")
    return tidy[:1].upper() + tidy[1:]
