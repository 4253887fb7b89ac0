"""What the gate is told: results of three adapters on the same items, and what was measured of the candidate."""

from dataclasses import dataclass
from typing import Literal

Role = Literal["target", "general", "probe"]
"""What the candidate was trained for; what it must not lose; what it must never do."""


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item of a suite. It has whether the answer was right, or the loss of a given answer, or both."""

    item_id: str
    is_right: bool | None = None
    nats_per_token: float | None = None
    """Negative log-likelihood of the given answer, read and not written by the adapter (teacher-forced)."""
    group: str = ""
    """Items of one group, such as paraphrases of one question, count once. Empty: a group of its own."""
    continued_nats: float | None = None
    """As `nats_per_token`, without the answer's first token: how likely the rest is once it has begun like that."""


@dataclass(frozen=True, slots=True)
class SuiteResult:
    suite: str
    role: Role
    content_hash: str
    """Of the suite's items: results of other items are no comparison."""
    items: tuple[ItemResult, ...]


@dataclass(frozen=True, slots=True)
class AdapterResults:
    """How one adapter did. A suite occurs once."""

    content_hash: str
    """Of the adapter; empty for the factory's expert alone."""
    suites: tuple[SuiteResult, ...]


@dataclass(frozen=True, slots=True)
class Integrity:
    """What was found of the candidate's file."""

    is_finite: bool
    has_its_hash: bool
    fits_base: bool
    loads_in_engine: bool
    size_bytes: int


@dataclass(frozen=True, slots=True)
class GeneralDrift:
    """How far the candidate moved on general prompts, which nobody wanted changed. Means over tokens, or answers."""

    prompts: int
    kl_from_champion_nats: float
    """A token; of the same stretch of text."""
    kl_from_factory_nats: float
    candidate_nats: float
    """Negative log-likelihood a token of fixed text; likewise the next two."""
    champion_nats: float
    factory_nats: float
    candidate_tokens: float
    """Length of an answer; likewise the next."""
    champion_tokens: float


@dataclass(frozen=True, slots=True)
class Parity:
    """Whether the engine computes what the trainer did."""

    prompts: int
    logp_difference_nats: float
    """Mean absolute difference a token, trainer to engine, beyond that of the anchor: a base in four bits differs by
    itself."""


@dataclass(frozen=True, slots=True)
class Case:
    candidate: AdapterResults
    champion: AdapterResults
    factory: AdapterResults
    integrity: Integrity
    drift: GeneralDrift | None
    """None: not measured; likewise the next."""
    parity: Parity | None
    length_is_objective: bool = False
    """Answers were meant to become shorter or longer."""
    opening_is_objective: bool = False
    """Answers were meant to begin otherwise: given ones, which begin as before, are then compared from the second token
    on."""

    @property
    def references(self) -> tuple[tuple[str, AdapterResults], ...]:
        """What the candidate is compared with, by name; a champion that is the factory's adapter once."""
        if self.champion.content_hash == self.factory.content_hash:
            return (("factory", self.factory),)
        return ("champion", self.champion), ("factory", self.factory)
