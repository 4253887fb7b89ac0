"""A form of words, and what a clause of that form tells. The rules themselves are in `english` and `chinese`. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.memory.values import MemoryKind
from engine.memory.words import content_terms
from engine.memory.writing.proposals import Found

_KEY_CHARACTERS: Final = 60


@dataclass(frozen=True, slots=True)
class Rule:
    """`form` may name what it is about (`it` or `kind`) and what holds no longer (`over`)."""

    kind: MemoryKind
    form: re.Pattern[str]
    slot: str = ""
    """With `{it}` where what it is about decides; then a clause that names nothing tells nothing."""
    takes_over: tuple[str, ...] = ()
    needs_day: bool = False
    is_loose: bool = False
    """A form that fits what is said of the task at hand too: it counts only where no word of tasks stands."""


def found_by(rules: Sequence[Rule], clause: str, of_a_task: re.Pattern[str]) -> Iterator[Found]:
    """What each rule that fits sees in a clause, in the order of the rules."""
    is_of_a_task = bool(of_a_task.search(clause))
    for rule in rules:
        if rule.is_loose and is_of_a_task:
            continue
        if match := rule.form.search(clause):
            groups = match.groupdict()
            key = key_of(groups.get("it") or groups.get("kind") or "")
            if key or "{it}" not in rule.slot:
                slot = rule.slot.replace("{it}", key)
                yield Found(rule.kind, slot, rule.takes_over, groups.get("over") or "", rule.needs_day)


def key_of(text: str) -> str:
    """The same for two ways of naming a thing, as far as their words tell."""
    return " ".join(sorted(content_terms(text)))[:_KEY_CHARACTERS]
