"""The real starter: it knows what anybody knows, answers in whole sentences, and an adapter that broke it shows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.evaluation.drift import measure_drift
from engine.evaluation.measuring import measure
from engine.evaluation.reading import Bench
from engine.evaluation.suites import ChoiceItem, ContainsAny, GeneralText, Suite, WrittenItem
from engine.runtime.identity import adapter_ref
from tests.support.adapters import write_random_adapter
from tests.support.evaluating import open_bench, said

pytestmark = pytest.mark.model

FACTS = (
    ("What is the capital of France?", "Paris.", ("Berlin.", "Madrid.")),
    ("What is the capital of Italy?", "Rome.", ("Vienna.", "Cairo.")),
    ("What is the opposite of hot?", "Cold.", ("Blue.", "Fast.")),
    ("Which animal says meow?", "The cat.", ("The cow.", "The fish.")),
    ("What colour is the sky on a clear day?", "Blue.", ("Red.", "Black.")),
    ("How many days has a week?", "Seven.", ("Two.", "Forty.")),
)
SUITE = Suite(
    "facts",
    "general",
    "f" * 64,
    (
        *(ChoiceItem(ask, said(ask), right, wrong) for ask, right, wrong in FACTS),
        WrittenItem("written", said("What is the capital of France?"), (ContainsAny(("Paris",)),), 24),
    ),
)
TEXTS = tuple(GeneralText(ask, ask, right) for ask, right, _ in FACTS[:2])


@pytest.fixture(scope="module")
def bench(starter_base: Path) -> Iterator[Bench]:
    with open_bench(starter_base) as opened:
        yield opened


def test_it_tells_right_answers_from_wrong_ones_and_an_adapter_that_broke_it_does_not(
    bench: Bench, starter_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("engine.evaluation.drift.MOST_TOKENS", 8)
    path = write_random_adapter(starter_base, tmp_path / "broken.gguf", rank=2, strength=7.5, kinds=("ffn_down",))
    broken = (adapter_ref(path),)
    right_before, right_after = (
        sum(bool(item.is_right) for item in measure(bench, stack, [SUITE], content_hash="").suites[0].items)
        for stack in ((), broken)
    )
    assert right_before >= 6 > right_after
    drift = measure_drift(bench, TEXTS, broken, (), ())
    assert drift.kl_from_factory_nats > 0.05
    assert drift.candidate_nats > 2 * drift.factory_nats
