"""The adapters of a profile as lists by expert, read from the shelf. Knows no widget and says nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.adapters.records import AdapterRecord, GateVerdict
from ui.adapter_shelf import AdapterShelf

SHOWN: Final = 20
"""Adapters of an expert that are listed at first, and added whenever more are wanted."""


@dataclass(frozen=True, slots=True)
class Listed:
    record: AdapterRecord
    verdict: GateVerdict
    """The gate's newest."""


@dataclass(frozen=True, slots=True)
class ExpertAdapters:
    expert: str
    purpose: str
    listed: tuple[Listed, ...]
    """Those that answer first, then the newest."""
    has_more: bool


def read_groups(
    shelf: AdapterShelf, profile: str, experts: Sequence[tuple[str, str]], shown: int = SHOWN
) -> tuple[ExpertAdapters, ...]:
    """Of each of `experts`, which are (expert, what it is for), the newest `shown`; those without any are left out.

    Raises: AgentError.
    """
    used = shelf.adapters_in_use(profile)
    records: list[tuple[str, str, list[AdapterRecord], bool]] = []
    for expert, purpose in experts:
        newest = shelf.adapters(profile=profile, expert=expert, limit=shown + 1)
        answering = [record for record in used if record.expert == expert]
        others = [record for record in newest[:shown] if record not in answering]
        answering.sort(key=lambda record: record.state != "canary")
        if answering or others:
            records.append((expert, purpose, [*answering, *others], len(newest) > shown))
    hashes = [record.content_hash for _, _, found, _ in records for record in found]
    verdicts = shelf.adapter_verdicts(hashes) if hashes else {}
    return tuple(
        ExpertAdapters(
            expert,
            purpose,
            tuple(Listed(record, verdicts.get(record.content_hash, "")) for record in found),
            has_more,
        )
        for expert, purpose, found, has_more in records
    )


def has_own(groups: Sequence[ExpertAdapters]) -> bool:
    """Whether any was grown here or brought in, besides those that the profile came with."""
    return any(one.record.kind != "factory" for group in groups for one in group.listed)
