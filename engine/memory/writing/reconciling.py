"""What becomes of a verified proposal beside what is remembered already: new, the same again, or in place of something.

Pure. The same said again is not written twice but believed more. What cannot hold at the same time is superseded and
kept as history: another value in a slot, the opposite of a liking, and what the user says holds no longer.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.memory.scripts import simplified
from engine.memory.values import Memory, Statement
from engine.memory.words import content_terms, held_terms, is_about
from engine.memory.writing.patterns import any_of
from engine.memory.writing.proposals import Proposal
from engine.memory.writing.proposing import DOING
from engine.memory.writing.verifying import adds_nothing, agree, is_negative, is_number, names_in, overlap

SAME_WORDS: Final = 0.8
"""From this share of common terms on two texts say the same, if they agree in names, numbers and negation."""
SAME_MEANING: Final = 0.92
"""From this cosine on they do if they share some terms as well."""
_SOME_WORDS: Final = 0.4
_OPPOSITE: Final = 0.6
"""From this share of common terms on a text contradicts another that is negated where it is not."""
_OPPOSITE_HAN: Final = 0.35
"""As above where terms are pairs of characters, of which each word added makes two."""
_SAME_THING: Final = 0.4
"""From this share of what two texts are about on, one that is marked as new takes the place of the other."""
_MARKED_AS_NEW: Final = any_of(
    r"\b(?:now|nowadays|these days|instead|from now on|(?:my|our) new|(?:was|were|got|been|is) (?:moved|changed"
    r"|rescheduled|postponed|brought forward)|changed|switched|updated)\b",
    "现在|如今|目前|改成|改到|改为|改在|换成|换到|变成|推迟到|提前到|我(?:的|们)?的?新|新的?(?=老板|同事|房东|室友"
    "|地址|号码|邮箱)",
)
_OF_THE_USER: Final = frozenset(("preference", "fact"))
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_DONE: Final = re.compile("[去用吃喝玩做学练看听养抽碰打骑开跑弹拉唱写画游]")


@dataclass(frozen=True, slots=True)
class Outcome:
    """`merged_into`: the memory that says the same already; nothing new is written then."""

    merged_into: int | None = None
    supersedes: tuple[int, ...] = ()


def reconcile(proposal: Proposal, known: Sequence[Memory], cosines: Mapping[int, float]) -> Outcome:
    """`known`: active memories that may have to do with it, such as all in its slots and those alike."""
    same = [memory for memory in known if says_the_same(proposal, memory, cosines.get(memory.memory_id, 0.0))]
    replaced = tuple(memory.memory_id for memory in known if memory not in same and is_replaced(proposal, memory))
    if not same:
        return Outcome(supersedes=replaced)
    kept = max(same, key=lambda memory: memory.memory_id)
    return Outcome(kept.memory_id, replaced)


def says_the_same(proposal: Statement, memory: Statement, cosine: float = 0.0) -> bool:
    """Whether writing it would only say again what the memory says."""
    if is_negative(proposal.text) != is_negative(memory.text) or proposal.due_on != memory.due_on:
        return False
    if proposal.slot and proposal.slot == memory.slot and _is_about_one_thing(proposal.slot):
        return adds_nothing(proposal.text, memory.text)
    if not agree(proposal.text, memory.text):
        return False
    common = overlap(content_terms(proposal.text), content_terms(memory.text))
    return common >= SAME_WORDS or (cosine >= SAME_MEANING and common >= _SOME_WORDS)


def is_replaced(proposal: Proposal, memory: Statement) -> bool:
    """Whether the memory cannot hold any more once the proposal does."""
    if memory.slot and memory.slot in (proposal.slot, *proposal.takes_over):
        return True
    return is_ended(proposal, memory) or is_opposite(proposal, memory) or is_updated(proposal, memory)


def is_ended(proposal: Proposal, memory: Statement) -> bool:
    """Whether it is about what the user says holds no longer, and as something that did hold."""
    if not proposal.ends or is_negative(memory.text) or not is_about(memory.text, proposal.ends):
        return False
    if memory.kind == "relation" or proposal.kind == "relation":
        return memory.kind == proposal.kind
    if proposal.kind == "fact" or memory.kind in ("preference", "plan"):
        return True
    says_little_else = len(content_terms(memory.text) - DOING - proposal.ends) <= 1
    return says_little_else or _does_the_same(proposal.text, memory.text)


def is_opposite(proposal: Statement, memory: Statement) -> bool:
    """Whether one of the two is negated and they are about the same otherwise."""
    if is_negative(proposal.text) == is_negative(memory.text) or not {memory.kind, proposal.kind} <= _OF_THE_USER:
        return False
    wanted = _OPPOSITE_HAN if _HAN.search(proposal.text) else _OPPOSITE
    one, other = content_terms(proposal.text) - DOING, content_terms(memory.text) - DOING
    return bool(one & other) and overlap(one, other) >= wanted


def is_updated(proposal: Statement, memory: Statement) -> bool:
    """Whether the user marks it as new and it says of the same thing, but for names and numbers, something else."""
    if memory.kind != proposal.kind or proposal.kind in ("preference", "instruction"):
        return False
    if not _MARKED_AS_NEW.search(simplified(proposal.text)) or is_negative(proposal.text) != is_negative(memory.text):
        return False
    one, other = _things(proposal.text), _things(memory.text)
    return bool(one & other) and overlap(one, other) >= _SAME_THING


def _things(text: str) -> frozenset[str]:
    """What a text is about, without names, numbers and what marks it as new; Chinese by characters."""
    plain = _MARKED_AS_NEW.sub(" ", simplified(text))
    names = content_terms(" ".join(names_in(plain)))
    held = (term for term in held_terms(plain) if len(term) == 1 or not _HAN.search(term))
    return frozenset(term for term in held if not is_number(term)) - names - DOING


def _is_about_one_thing(slot: str) -> bool:
    """Whether the slot itself tells the value, such as `liking:tea`, and not only what it is about, such as `home`."""
    return slot.startswith(("liking:", "allergy:"))


def _does_the_same(one: str, other: str) -> bool:
    if content_terms(one) & content_terms(other) & DOING:
        return True
    return bool(set(_DONE.findall(simplified(one))) & set(_DONE.findall(simplified(other))))
