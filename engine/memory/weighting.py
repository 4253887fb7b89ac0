"""What a memory is worth when it is ranked: w = r0 · exp(−λ·age) · validation.

Pure; the time is an argument. This ranks memories and never rewards a model. A memory that something speaks against
sinks however well it was once rated: a closed restaurant with five stars is still closed.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from typing import Final, Literal, Protocol

from engine.errors import UsageProblem
from engine.memory.values import Memory, MemoryKind, TrustTier

Event = Literal["said_again", "approved", "check_passed", "edited", "contradicted", "check_failed"]
"""What happened to a memory that was there already."""

FIRST_VALIDATION: Final = 0.8
"""Of a memory that was said once."""
_DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class WeightRules:
    """How memories are ranked. Each field says what becomes of it when it is changed."""

    half_life_days: Mapping[MemoryKind, float] = field(
        default_factory=lambda: {
            "preference": 730.0,
            "fact": 1460.0,
            "relation": 3650.0,
            "plan": 90.0,
            "instruction": 1460.0,
        }
    )
    """After this many days without being said again a memory counts half. Shorter: old habits give way sooner, and what
    was said once long ago is recalled less."""
    strength: float = 0.25
    """How far worth decides the order beside relevance, as a power. 0: relevance alone; 1: an old or doubted memory
    stands behind any fresh one that is half as relevant."""
    sunk: float = 0.08
    """Below this worth a memory is not recalled. Higher: fewer doubtful memories, but old ones go unmentioned."""
    per_tool_success: float = 0.2
    """Added to r0 for each verified success of a tool that used it (α)."""
    per_log_turn: float = 0.1
    """Added to r0 for the logarithm of the turns in which it was of use (β)."""
    per_accepted_suggestion: float = 0.15
    """Added to r0 for each suggestion made from it that the user accepted (γ)."""


DEFAULT_RULES: Final = WeightRules()
_DAYS: Final = "_days"
_LARGEST_DAYS: Final = 100_000.0


def rules_from(table: Mapping[str, float]) -> WeightRules:
    """The rules with some of them changed, by name; a half-life is that of its kind, such as `plan_days`.

    Raises: UsageProblem for a rule that there is not, or a value that makes no sense.
    """
    days = {f"{kind}{_DAYS}": kind for kind in DEFAULT_RULES.half_life_days}
    known = [*days, *(rule.name for rule in fields(WeightRules) if rule.name != "half_life_days")]
    half_lives, others = dict(DEFAULT_RULES.half_life_days), dict[str, float]()
    for name, value in table.items():
        if name not in known:
            raise UsageProblem(f"Memory has no rule {name!r}.", f"Known rules: {', '.join(known)}.")
        most = _LARGEST_DAYS if name in days else 1.0
        if not (value >= 0.0 and value <= most) or (name in days and value == 0.0):
            raise UsageProblem(f"The rule {name} of memory is {value:g}.", f"Use a number up to {most:g}.")
        if name in days:
            half_lives[days[name]] = float(value)
        else:
            others[name] = float(value)
    return WeightRules(half_lives, **others)


_FIRST_R0: Final[Mapping[TrustTier, float]] = {"confirmed": 0.9, "typed": 0.7, "inferred": 0.5, "tainted": 0.2}
ASKED_FOR_R0: Final = 0.9
"""Of what the user asked to be remembered."""
_TOWARDS_ONE: Final[Mapping[Event, float]] = {"said_again": 0.5, "approved": 0.8, "check_passed": 0.3}
_FACTOR: Final[Mapping[Event, float]] = {"edited": 0.5, "contradicted": 0.3, "check_failed": 0.05}


def weight(memory: Memory, now: datetime, rules: WeightRules = DEFAULT_RULES) -> float:
    """w, from 0 to 1."""
    return worth(memory.r0, memory.validation, age_days(memory, now), memory.kind, rules)


def worth(r0: float, validation: float, days: float, kind: MemoryKind, rules: WeightRules = DEFAULT_RULES) -> float:
    """The formula itself; λ is the logarithm of 2 over the half-life of the kind."""
    decay = math.log(2) / rules.half_life_days[kind]
    return r0 * math.exp(-decay * max(0.0, days)) * validation


class Aging(Protocol):
    """What the age of a memory depends on."""

    @property
    def due_on(self) -> str: ...

    @property
    def created_at(self) -> str: ...

    @property
    def validated_at(self) -> str | None: ...


def age_days(memory: Aging, now: datetime) -> float:
    """Since it was last said or checked; of a plan since its day, if that is over, and none before."""
    if memory.due_on:
        return max(0.0, (now.date() - date.fromisoformat(memory.due_on)).days)
    return days_since(memory.validated_at or memory.created_at, now)


def days_since(moment: str, now: datetime) -> float:
    then = datetime.fromisoformat(moment)
    return (now - (then if then.tzinfo else then.replace(tzinfo=UTC))).total_seconds() / _DAY_S


def validation_after(validation: float, event: Event) -> float:
    """It rises towards 1 when the memory is borne out and falls towards 0 when something speaks against it."""
    if event in _TOWARDS_ONE:
        return validation + (1.0 - validation) * _TOWARDS_ONE[event]
    return validation * _FACTOR[event]


def first_r0(trust: TrustTier, *, is_asked_for: bool = False) -> float:
    """What a memory is worth before anything has come of it."""
    return max(_FIRST_R0[trust], ASKED_FOR_R0 if is_asked_for and trust == "typed" else 0.0)


def earned_r0(
    r0: float, tool_successes: int = 0, turns: int = 0, accepted: int = 0, rules: WeightRules = DEFAULT_RULES
) -> float:
    """r0 after what came of it: α·verified tool successes + β·log turns + γ·accepted suggestions, on top of what it was
    written with, at most 1."""
    earned = (
        rules.per_tool_success * tool_successes
        + rules.per_log_turn * math.log1p(turns)
        + rules.per_accepted_suggestion * accepted
    )
    return min(1.0, r0 + earned)
