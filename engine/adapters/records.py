"""What the catalogue knows of adapters, as values. Knows no table, no file and no rule."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

AdapterKind = Literal["factory", "personal", "imported"]
"""Came with a profile, grown on this machine, or brought in from elsewhere."""

AdapterState = Literal["factory", "candidate", "canary", "champion", "retired"]
"""`canary` and `champion` answer turns; of both an expert has one at most. `factory` adapters are always beneath."""

PromotionKind = Literal["promote", "canary", "rollback", "retire"]

GateVerdict = Literal["", "passed", "failed"]
"""Empty where no gate was asked."""

CanaryOutcome = Literal["", "promoted", "rolled_back", "superseded"]
"""Empty while it goes on."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What a champion is champion of: an expert of a profile on one base. Another base has champions of its own."""

    profile: str
    base_hash: str
    expert: str


@dataclass(frozen=True, slots=True)
class AdapterRecord:
    """One adapter. The last fields are the catalogue's own; who adds an adapter leaves them as they are."""

    content_hash: str
    """What the engine and every trace know the weights by: `engine.runtime.identity.fingerprint`, 32 hex digits."""
    base_hash: str
    profile: str
    expert: str
    kind: AdapterKind
    file: str
    """Name within the folder of adapters; of a factory adapter within its profile's."""
    size_bytes: int
    rank: int
    """Largest of its matrices."""
    parent_hash: str = ""
    """The adapter it was trained on top of; empty for the bare base and where that is not known."""
    recipe_hash: str = ""
    data_hash: str = ""
    note: str = ""
    state: AdapterState = "candidate"
    created_at: str = ""
    """ISO 8601, UTC."""
    was_champion: bool = False
    is_forgotten: bool = False
    """Retired because it holds what the user had forgotten: nothing may bring it back."""
    number: int = 0
    """Rises with every adapter that is added; lists go on behind it."""

    @property
    def slot(self) -> Slot:
        return Slot(self.profile, self.base_hash, self.expert)


@dataclass(frozen=True, slots=True)
class Source:
    """One piece of what an adapter was trained on: the id of a turn (or of a task), and the hash of what was read."""

    source_id: str
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How an adapter did in one suite."""

    suite: str
    items: int
    figures: Mapping[str, float] = field(default_factory=dict)
    verdict: GateVerdict = ""
    reasons: tuple[str, ...] = ()
    """As sentences for the user."""
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class Promotion:
    """One entry of the log: which adapter answers from now on. An empty hash is the factory's expert alone."""

    kind: PromotionKind
    content_hash: str
    previous_hash: str
    reason: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Canary:
    """An adapter on trial: what it answered so far, and how that of before was liked."""

    content_hash: str
    planned_turns: int
    turns: int
    negative: int
    """Turns that failed or that the user did not like."""
    baseline_turns: int
    baseline_negative: int
    outcome: CanaryOutcome = ""


@dataclass(frozen=True, slots=True)
class InUse:
    """What is stacked on the expert of a slot; the canary goes before the champion."""

    champion: AdapterRecord | None = None
    canary: AdapterRecord | None = None

    @property
    def answering(self) -> AdapterRecord | None:
        return self.canary or self.champion


@dataclass(frozen=True, slots=True)
class Swap:
    """What a promotion or a rollback did. None is the factory's expert alone."""

    previous: AdapterRecord | None
    now: AdapterRecord | None


@dataclass(frozen=True, slots=True)
class AdapterDetails:
    """All that is known of one adapter."""

    record: AdapterRecord
    ancestors: tuple[AdapterRecord, ...]
    """Those in the catalogue, the parent first."""
    children: tuple[AdapterRecord, ...]
    """The newest first, not more than a page."""
    sources: tuple[Source, ...]
    evaluations: tuple[Evaluation, ...]
    """The newest first."""
    promotions: tuple[Promotion, ...]
    """Of this adapter, the newest first."""
    canary: Canary | None = None
    """Its last trial."""
