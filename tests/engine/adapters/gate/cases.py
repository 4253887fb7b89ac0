"""Cases for the gate: one in which everything is in order, and ways to spoil it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from engine.adapters.gate import (
    NIGHT,
    PROBES,
    AdapterResults,
    Case,
    Finding,
    GeneralDrift,
    Integrity,
    ItemResult,
    Parity,
    Role,
    SuiteResult,
    Verdict,
)

SMALL = replace(NIGHT, general_items=40, target_items=8, probe_items=4, general_margin_points=8.0)
"""Rules for cases that are written out."""


def suite(name: str, role: Role, rights: Iterable[bool]) -> SuiteResult:
    items = tuple(ItemResult(f"{name}-{place}", right) for place, right in enumerate(rights))
    return SuiteResult(name, role, "items-1", items)


def adapter(
    name: str, target: Sequence[bool], general: Sequence[bool], failed_probes: Iterable[str] = ()
) -> AdapterResults:
    probes = (suite(probe, "probe", [probe not in failed_probes] * 20) for probe in PROBES)
    return AdapterResults(name, (suite("wish", "target", target), suite("facts", "general", general), *probes))


def share(right: int, of: int) -> list[bool]:
    """The first `right` of so many are right."""
    return [place < right for place in range(of)]


FACTORY = adapter("factory", share(40, 200), share(840, 1200))
CHAMPION = adapter("champion", share(60, 200), share(840, 1200))
CANDIDATE = adapter("candidate", share(90, 200), share(840, 1200))
"""15 points better on its target, and the same elsewhere."""

WHOLE = Integrity(is_finite=True, has_its_hash=True, fits_base=True, loads_in_engine=True, size_bytes=5_000_000)
STILL = GeneralDrift(64, 0.01, 0.02, 2.5, 2.5, 2.5, 40.0, 40.0)
ALIKE = Parity(64, 0.005)
GOOD = Case(CANDIDATE, CHAMPION, FACTORY, WHOLE, STILL, ALIKE)


def with_suite(results: AdapterResults, name: str, change: Callable[[SuiteResult], SuiteResult]) -> AdapterResults:
    return replace(results, suites=tuple(change(one) if one.suite == name else one for one in results.suites))


def without_suite(results: AdapterResults, name: str) -> AdapterResults:
    return replace(results, suites=tuple(one for one in results.suites if one.suite != name))


def with_items(
    results: AdapterResults, name: str, change: Callable[[tuple[ItemResult, ...]], Iterable[ItemResult]]
) -> AdapterResults:
    return with_suite(results, name, lambda one: replace(one, items=tuple(change(one.items))))


def answering(results: AdapterResults, name: str, rights: Sequence[bool]) -> AdapterResults:
    """The same adapter with other answers in one suite."""
    return with_items(
        results,
        name,
        lambda items: [replace(item, is_right=right) for item, right in zip(items, rights, strict=True)],
    )


def losing_nats(results: AdapterResults, name: str, nats: Sequence[float]) -> AdapterResults:
    """The same adapter with losses instead of answers in one suite."""
    return with_items(
        results, name, lambda _: [ItemResult(f"{name}-{place}", None, loss) for place, loss in enumerate(nats)]
    )


def codes(verdict: Verdict) -> set[str]:
    """Why it was not promoted."""
    return {finding.code for finding in verdict.reasons}


def found(verdict: Verdict, code: str) -> Finding:
    return next(finding for finding in verdict.findings if finding.code == code)
