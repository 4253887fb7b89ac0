"""Fewer items of every suite, always the same ones, for when there is no time to measure all of them. Pure."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from engine.adapters.gate.rules import GateRules
from engine.evaluation.suites import Item, Suite

_PROBE_MARGIN: Final = 2.0
"""A probe stays large enough to notice what happens in one case of ten."""


def thinned(suites: Sequence[Suite], rules: GateRules) -> tuple[Suite, ...]:
    """As many as `rules` need: an equal share of every general suite, rounded up, and a number of each probe.

    Groups stay whole, and targets stay as they are. A thinned suite is another suite to whoever compares results.
    """
    general = sum(len(_units(suite)) for suite in suites if suite.role == "general")
    share = min(1.0, rules.general_items / general) if general else 1.0
    most_probes = math.ceil(_PROBE_MARGIN * rules.probe_items)
    found = []
    for suite in suites:
        units = _units(suite)
        wanted = {"general": math.ceil(share * len(units)), "probe": most_probes, "target": len(units)}[suite.role]
        found.append(suite if wanted >= len(units) else _first(suite, units, wanted))
    return tuple(found)


def _units(suite: Suite) -> list[str]:
    """What counts as one, in an order that has nothing to do with that of the file."""
    return sorted({_unit(item) for item in suite.items}, key=lambda unit: hashlib.sha256(unit.encode()).digest())


def _unit(item: Item) -> str:
    return f"group {item.group}" if item.group else f"item {item.item_id}"


def _first(suite: Suite, units: Sequence[str], count: int) -> Suite:
    kept = set(units[:count])
    content = f"{suite.content_hash} {' '.join(sorted(kept))}"
    items = tuple(item for item in suite.items if _unit(item) in kept)
    return replace(suite, content_hash=hashlib.sha256(content.encode()).hexdigest(), items=items)
