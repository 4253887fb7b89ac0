"""Put two results of one suite side by side, or say why they are no pair.

Nothing is dropped silently: a candidate that leaves out its worst items must not look better for it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from engine.adapters.gate.findings import Check, Finding
from engine.adapters.gate.inputs import AdapterResults, ItemResult, Role, SuiteResult

ItemPair = tuple[ItemResult, ItemResult]
"""The reference's and the candidate's result of one item."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why two results are no pair; `count` items are to blame, where that can be said."""

    code: str
    count: int = 0


@dataclass(frozen=True, slots=True)
class Paired:
    """Changes from the reference to the candidate. Everything counts groups, never items of one."""

    units: int = 0
    """Independent items."""
    judged: int = 0
    """Those of them that are right or wrong."""
    wins: int = 0
    losses: int = 0
    right_before: float = 0.0
    """A group counts with the share of its items."""
    right_after: float = 0.0
    nats_before: tuple[float, ...] = ()
    """Loss a token, of those that have it."""
    nats_change: tuple[float, ...] = ()
    """Above 0 is worse."""

    @property
    def points(self) -> float:
        """Of accuracy, gained."""
        return 100 * (self.wins - self.losses) / self.judged if self.judged else 0.0


def suite_names(adapters: Iterable[AdapterResults], role: Role) -> tuple[str, ...]:
    """Every suite of the role that any of them has, in the order in which they are first met."""
    return tuple(dict.fromkeys(suite.suite for one in adapters for suite in one.suites if suite.role == role))


def pair_items(
    name: str, role: Role, candidate: AdapterResults, reference: AdapterResults
) -> tuple[Sequence[ItemPair], Problem | None]:
    """Every item of the suite with both results; or none of them, and why."""
    mine, theirs = _find(name, role, candidate), _find(name, role, reference)
    problem = _problem_of_suites(mine, theirs) or _problem_of_items(mine[0].items, theirs[0].items)
    if problem is not None:
        return (), problem
    before = {item.item_id: item for item in theirs[0].items}
    return [(before[item.item_id], item) for item in mine[0].items], None


def count(pairs: Sequence[ItemPair]) -> Paired:
    """What changed, by group: one that has become better on balance is a win, whatever its size."""
    groups: dict[tuple[bool, str], list[ItemPair]] = {}
    for before, after in pairs:
        groups.setdefault((bool(before.group), before.group or before.item_id), []).append((before, after))
    judged = [change for group in groups.values() if (change := _means([_judged(pair) for pair in group]))]
    losses = [change for group in groups.values() if (change := _means([_losses(pair) for pair in group]))]
    return Paired(
        units=len(groups),
        judged=len(judged),
        wins=sum(after > before for before, after in judged),
        losses=sum(after < before for before, after in judged),
        right_before=sum(before for before, _ in judged),
        right_after=sum(after for _, after in judged),
        nats_before=tuple(before for before, _ in losses),
        nats_change=tuple(after - before for before, after in losses),
    )


def pool(parts: Iterable[Paired]) -> Paired:
    """All suites as one; a group lies within its suite."""
    whole = Paired()
    for part in parts:
        whole = Paired(
            whole.units + part.units,
            whole.judged + part.judged,
            whole.wins + part.wins,
            whole.losses + part.losses,
            whole.right_before + part.right_before,
            whole.right_after + part.right_after,
            whole.nats_before + part.nats_before,
            whole.nats_change + part.nats_change,
        )
    return whole


def pair_suites(
    check: Check, role: Role, names: Iterable[str], candidate: AdapterResults, against: str, reference: AdapterResults
) -> tuple[Mapping[str, Paired], Sequence[Finding]]:
    """What changed in every suite that can be compared, and a finding for each that cannot."""
    paired, findings = {}, []
    for name in names:
        pairs, problem = pair_items(name, role, candidate, reference)
        if problem is None:
            paired[name] = count(pairs)
        else:
            findings.append(told(check, name, against, problem))
    return paired, findings


def told(check: Check, suite: str, against: str, problem: Problem) -> Finding:
    """What a broken candidate measured speaks against it; all else leaves the question open."""
    values: Mapping[str, str | int] = {"suite": suite, "against": against, "count": problem.count}
    return Finding(check, "fails" if problem.code == "pair.not_finite" else "open", problem.code, values)


def _find(name: str, role: Role, adapter: AdapterResults) -> Sequence[SuiteResult]:
    return [suite for suite in adapter.suites if suite.suite == name and suite.role == role]


def _problem_of_suites(mine: Sequence[SuiteResult], theirs: Sequence[SuiteResult]) -> Problem | None:
    if not mine or not mine[0].items:
        return Problem("pair.missing")
    if not theirs or not theirs[0].items:
        return Problem("pair.reference_missing")
    if len(mine) > 1 or len(theirs) > 1:
        return Problem("pair.suite_twice")
    return Problem("pair.other_items") if mine[0].content_hash != theirs[0].content_hash else None


def _problem_of_items(mine: Sequence[ItemResult], theirs: Sequence[ItemResult]) -> Problem | None:
    twice = sum(times > 1 for items in (mine, theirs) for times in Counter(item.item_id for item in items).values())
    if twice:
        return Problem("pair.item_twice", twice)
    if broken := sum(_is_broken(item) for item in mine):
        return Problem("pair.not_finite", broken)
    if broken := sum(_is_broken(item) for item in theirs):
        return Problem("pair.reference_not_finite", broken)
    before = {item.item_id: _kind(item) for item in theirs}
    after = {item.item_id: _kind(item) for item in mine}
    if alone := len(before.keys() ^ after.keys()):
        return Problem("pair.unpaired", alone)
    if unlike := sum(before[name] != kind or not any(kind[:2]) for name, kind in after.items()):
        return Problem("pair.unlike", unlike)
    return None


def _is_broken(item: ItemResult) -> bool:
    """A loss below 0 would be a probability above 1."""
    return item.nats_per_token is not None and not 0 <= item.nats_per_token < math.inf


def _kind(item: ItemResult) -> tuple[bool, bool, str]:
    return item.is_right is not None, item.nats_per_token is not None, item.group


def _judged(pair: ItemPair) -> tuple[float, float] | None:
    before, after = pair[0].is_right, pair[1].is_right
    return None if before is None or after is None else (float(before), float(after))


def _losses(pair: ItemPair) -> tuple[float, float] | None:
    before, after = pair[0].nats_per_token, pair[1].nats_per_token
    return None if before is None or after is None else (before, after)


def _means(changes: Sequence[tuple[float, float] | None]) -> tuple[float, float] | None:
    """Of a group, before and after, over its items that are measured in this way."""
    found = [change for change in changes if change is not None]
    if len(found) < 2:
        return found[0] if found else None
    return fmean(before for before, _ in found), fmean(after for _, after in found)
