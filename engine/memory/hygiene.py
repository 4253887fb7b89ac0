"""How memories stand, and which of them want a person's eye.

Pure: memories in, figures out. What can be done about a figure is said where it is shown.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, Literal

from engine.memory.values import Memory, MemoryKind, TrustTier
from engine.memory.weighting import DEFAULT_RULES, WeightRules, days_since, weight
from engine.memory.words import content_terms
from engine.memory.writing.verifying import is_negative

FindingName = Literal["waiting", "contradicting", "repeated", "past", "faded", "unused"]
"""waiting: until the user has looked at it. contradicting: others that are active cannot hold beside it. repeated:
others say the same in the same words. past: its day is over. faded: worth too little to be recalled. unused: never
recalled in a long time."""

UNUSED_DAYS: Final = 60
_NEGATION: Final = re.compile("[不没沒别別]")
"""In Chinese it is within the terms; in English it is none."""
MOST_NAMED: Final = 100
"""How many memories a finding names; it counts all."""


@dataclass(frozen=True, slots=True)
class Finding:
    name: FindingName
    count: int
    memory_ids: tuple[int, ...]
    """Those that belong together one after the other, else the newest first."""


@dataclass(frozen=True, slots=True)
class HygieneReport:
    kinds: Mapping[MemoryKind, int]
    """Of active memories, as the next."""
    trusts: Mapping[TrustTier, int]
    findings: tuple[Finding, ...]
    """All there are, in the order in which they ask for action."""
    waiting_since: str | None
    """Since when the one waits that waits longest."""


def inspected(
    memories: Iterable[Memory], now: datetime, today: date, rules: WeightRules = DEFAULT_RULES
) -> HygieneReport:
    """Of all memories that are active or pending."""
    active = list[Memory]()
    waiting = list[Memory]()
    for memory in memories:
        (waiting if memory.state == "pending" else active).append(memory)
    past = [memory.memory_id for memory in active if memory.due_on and memory.due_on < today.isoformat()]
    known_past = set(past)
    fresh = [memory for memory in active if memory.memory_id not in known_past]
    alike = _alike(active)
    return HygieneReport(
        dict(Counter(memory.kind for memory in active)),
        dict(Counter(memory.trust for memory in active)),
        (
            _finding("waiting", [memory.memory_id for memory in waiting]),
            _finding("contradicting", _contradicting(active, alike)),
            _finding("repeated", _repeated(alike)),
            _finding("past", past),
            _finding("faded", [memory.memory_id for memory in fresh if weight(memory, now, rules) < rules.sunk]),
            _finding("unused", [memory.memory_id for memory in fresh if _is_unused(memory, now)]),
        ),
        min((memory.created_at for memory in waiting), default=None),
    )


def _alike(active: Sequence[Memory]) -> Collection[Sequence[Memory]]:
    """Those that are about the same day and have the same terms, in groups; whether they are negated does not count."""
    groups = defaultdict[tuple[str, frozenset[str]], list[Memory]](list)
    for memory in active:
        if terms := content_terms(_NEGATION.sub("", memory.text)):
            groups[memory.due_on, terms].append(memory)
    return [group for group in groups.values() if len(group) > 1]


def _contradicting(active: Sequence[Memory], alike: Iterable[Sequence[Memory]]) -> list[int]:
    """Several in a slot that holds one, and what is said of the same thing with and without a negation."""
    slots = defaultdict[str, list[Memory]](list)
    for memory in active:
        if memory.slot:
            slots[memory.slot].append(memory)
    groups = [group for group in slots.values() if len(group) > 1]
    groups += [list(group) for group in alike if len({is_negative(memory.text) for memory in group}) > 1]
    return list(dict.fromkeys(memory.memory_id for group in groups for memory in group))


def _repeated(alike: Iterable[Sequence[Memory]]) -> list[int]:
    found = list[int]()
    for group in alike:
        for negative in (False, True):
            same = [memory.memory_id for memory in group if is_negative(memory.text) == negative]
            found.extend(same if len(same) > 1 else ())
    return found


def _is_unused(memory: Memory, now: datetime) -> bool:
    return memory.used_at is None and days_since(memory.created_at, now) >= UNUSED_DAYS


def _finding(name: FindingName, memory_ids: Sequence[int]) -> Finding:
    return Finding(name, len(memory_ids), tuple(memory_ids[:MOST_NAMED]))
