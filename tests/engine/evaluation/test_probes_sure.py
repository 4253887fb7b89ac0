"""The starter passes the probes that come with the program surely: else honest candidates would fail them by chance."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.evaluation.reading import Bench, Reader
from engine.evaluation.suites import ChoiceItem, shipped_suites
from engine.runtime.protocol import NEVER
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


def leads(bench: Bench, items: list[ChoiceItem]) -> dict[str, float]:
    found = {}
    with Reader(bench, bench.stack(), NEVER) as reader:
        for item in items:
            answers = [reader.answer_tokens(text) for text in (item.right, *item.wrong)]
            right, *wrong = map(sum, reader.logprobs(item.messages, answers))
            found[item.item_id] = right - max(wrong)
    return found


@pytest.mark.model
def test_some_of_them_lead_by_far(bench: Bench):
    some = leads(bench, CHOICES[::12])
    assert len(some) >= 10
    assert {name: lead for name, lead in some.items() if lead < LEAD_NATS} == {}


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_all_of_them_lead_by_far(bench: Bench):
    assert {name: lead for name, lead in leads(bench, CHOICES).items() if lead < LEAD_NATS} == {}
