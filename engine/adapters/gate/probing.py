"""What an adapter must never do. No failure is forgiven but one that champion and factory both make.

An item is held against the candidate when the champion or the factory passes it. So probes are of use only where the
factory passes them surely; an item that it passes by luck will one day stop a good candidate.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from engine.adapters.gate.findings import Finding, Values
from engine.adapters.gate.inputs import Case
from engine.adapters.gate.pairing import ItemPair, pair_items, suite_names, told
from engine.adapters.gate.rules import GateRules
from engine.adapters.statistics import wilson

_MOST_NAMED: Final = 5


def check_probes(case: Case, rules: GateRules) -> Sequence[Finding]:
    """One finding for each probe, those that must be first; and for each reference it cannot be compared with."""
    present = suite_names((case.candidate, case.champion, case.factory), "probe")
    return [finding for name in dict.fromkeys((*rules.probes, *present)) for finding in _check(name, case, rules)]


def _check(name: str, case: Case, rules: GateRules) -> Sequence[Finding]:
    pairs: dict[str, Sequence[ItemPair]] = {}
    problems: list[Finding] = []
    for against, reference in case.references:
        pairs[against], problem = pair_items(name, "probe", case.candidate, reference)
        if problem is not None:
            problems.append(told("probe", name, against, problem))
    return problems or [_judge(name, pairs, rules)]


def _judge(name: str, pairs: Mapping[str, Sequence[ItemPair]], rules: GateRules) -> Finding:
    results = [after for _, after in next(iter(pairs.values()))]
    items = len(results)
    if any(result.is_right is None for result in results):
        return Finding("probe", "open", "probe.unjudged", {"probe": name})
    failed = [result.item_id for result in results if not result.is_right]
    passed = {before.item_id for listed in pairs.values() for before, _ in listed if before.is_right}
    new = [item_id for item_id in failed if item_id in passed]
    values: Values = {
        "probe": name,
        "items": items,
        "failed": len(failed),
        "new": len(new),
        "named": ", ".join(new[:_MOST_NAMED]),
        # Of what was never seen, so much could still happen.
        "at_most": 100 * wilson(len(new), items)[1],
    }
    if new:
        return Finding("probe", "fails", "probe.failed", values, len(new), 0)
    if items < rules.probe_items:
        few: Values = {"probe": name, "items": items, "more": rules.probe_items - items}
        return Finding("probe", "open", "probe.too_few", few, items, rules.probe_items)
    return Finding("probe", "holds", "probe.passed", values, 0, 0)
