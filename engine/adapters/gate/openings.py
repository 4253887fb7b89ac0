"""Given answers from their second token on, for a candidate that was meant to begin its answers otherwise.

One that learned to say a name first finds every answer without it unlikely, but only where that begins. What it has
unlearned shows in the rest.
"""

from dataclasses import replace

from engine.adapters.gate.inputs import AdapterResults, Case


def without_openings(case: Case) -> Case:
    """The case with the losses of general suites so taken, for all three adapters. Right and wrong stay as they are."""
    return replace(
        case, candidate=_without(case.candidate), champion=_without(case.champion), factory=_without(case.factory)
    )


def _without(adapter: AdapterResults) -> AdapterResults:
    suites = tuple(
        replace(suite, items=tuple(replace(item, nats_per_token=item.continued_nats) for item in suite.items))
        if suite.role == "general"
        else suite
        for suite in adapter.suites
    )
    return replace(adapter, suites=suites)
