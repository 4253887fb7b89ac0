"""The starter passes the probes that come with the program surely: else honest candidates would fail them by chance."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.assets import asset_path
from engine.evaluation.reading import Bench, Reader
from engine.evaluation.suites import ChoiceItem, shipped_suites
from engine.routing.profile import load_profile
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import NEVER, AdapterStack
from tests.support.evaluating import open_bench

LEAD_NATS = 3.0
"""Of the right answer over the best wrong one. Honest lessons were seen to move a lead by up to two nats."""
CHOICES = [
    item for suite in shipped_suites() if suite.role == "probe" for item in suite.items if isinstance(item, ChoiceItem)
]


@pytest.fixture(scope="module")
def bench(starter_base: Path) -> Iterator[Bench]:
    with open_bench(starter_base) as opened:
        yield opened


@pytest.fixture(params=["the bare base", "L0"])
def stack(request: pytest.FixtureRequest) -> AdapterStack:
    """What experts of the factory answer under."""
    if request.param == "the bare base":
        return ()
    adapter = load_profile(asset_path("profiles", "starter")).expert(request.param).adapter
    assert adapter is not None
    return (adapter_ref(adapter),)


def leads(bench: Bench, stack: AdapterStack, items: list[ChoiceItem]) -> dict[str, float]:
    found = {}
    with Reader(bench, stack, NEVER) as reader:
        for item in items:
            answers = [reader.answer_tokens(text) for text in (item.right, *item.wrong)]
            right, *wrong = map(sum, reader.logprobs(item.messages, answers))
            found[item.item_id] = right - max(wrong)
    return found


@pytest.mark.model
def test_some_of_them_lead_by_far(bench: Bench, stack: AdapterStack):
    some = leads(bench, stack, CHOICES[::12])
    assert len(some) >= 10
    assert {name: lead for name, lead in some.items() if lead < LEAD_NATS} == {}


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_all_of_them_lead_by_far(bench: Bench, stack: AdapterStack):
    assert {name: lead for name, lead in leads(bench, stack, CHOICES).items() if lead < LEAD_NATS} == {}
