"""How far an adapter moved is measured by the real engine: not at all where nothing changed, and more with more."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.evaluation.drift import MOST_TOKENS, measure_drift
from engine.evaluation.reading import Bench
from engine.evaluation.remembering import Remembered
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import AdapterStack
from tests.support.adapters import write_random_adapter
from tests.support.evaluating import exploded_adapter, open_bench, texts, zero_adapter

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def bench(tiny_moe: Path) -> Iterator[Bench]:
    with open_bench(tiny_moe) as opened:
        yield opened


@pytest.fixture(scope="module")
def champion(tiny_moe: Path, tmp_path_factory: pytest.TempPathFactory) -> AdapterStack:
    path = tmp_path_factory.mktemp("champion") / "champion.gguf"
    return (adapter_ref(write_random_adapter(tiny_moe, path, rank=2, strength=0.3)),)


def test_an_adapter_that_changes_nothing_has_not_moved_at_all(bench: Bench, tiny_moe: Path, tmp_path: Path):
    same = (adapter_ref(zero_adapter(tiny_moe, tmp_path / "zero.gguf")),)
    drift = measure_drift(bench, texts(), same, (), ())
    assert (drift.kl_from_champion_nats, drift.kl_from_factory_nats) == (0.0, 0.0)
    assert drift.candidate_nats == drift.champion_nats == drift.factory_nats > 0
    assert drift.candidate_tokens == drift.champion_tokens
    assert drift.prompts == 3


def test_a_larger_change_is_a_larger_distance(bench: Bench, tiny_moe: Path, tmp_path: Path):
    small = (adapter_ref(write_random_adapter(tiny_moe, tmp_path / "small.gguf", rank=2, strength=0.02)),)
    large = (adapter_ref(exploded_adapter(tiny_moe, tmp_path / "large.gguf")),)
    near, far = (measure_drift(bench, texts(), stack, (), ()) for stack in (small, large))
    assert 0 < near.kl_from_factory_nats < far.kl_from_factory_nats < math.inf


def test_champion_and_factory_are_measured_apart(bench: Bench, champion: AdapterStack):
    drift = measure_drift(bench, texts(), champion, champion, ())
    assert drift.kl_from_champion_nats == 0.0 < drift.kl_from_factory_nats
    assert drift.candidate_nats == drift.champion_nats != drift.factory_nats


def test_answers_are_no_longer_than_they_are_measured(bench: Bench):
    drift = measure_drift(bench, texts(), (), (), ())
    assert 1 <= drift.champion_tokens <= MOST_TOKENS


def test_a_remembered_reference_gives_the_same_result_and_is_not_drawn_again(
    bench: Bench, champion: AdapterStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    remembered = Remembered(tmp_path)
    first = measure_drift(bench, texts(), champion, (), (), remembered=remembered)
    stacks: list[AdapterStack] = []
    generate = bench.runtime.generate

    def counting(requests, *rest):
        stacks.extend(request.adapters for request in requests)
        return generate(requests, *rest)

    monkeypatch.setattr(bench.runtime, "generate", counting)
    assert measure_drift(bench, texts(), champion, (), (), remembered=remembered) == first
    assert set(stacks) == {champion}
    changed = [replace(text, request="What now?") for text in texts()]
    measure_drift(bench, changed, champion, (), (), remembered=remembered)
    assert () in stacks, "other requests need other answers"


@pytest.mark.parametrize("has_champion", [False, True])
def test_progress_ends_with_everything(bench: Bench, champion: AdapterStack, tmp_path: Path, has_champion: bool):
    now = champion if has_champion else ()
    for remembered in (None, Remembered(tmp_path), Remembered(tmp_path)):
        told: list[tuple[str, int, int]] = []
        measure_drift(
            bench, texts(), champion, now, (), remembered=remembered, tell=lambda *values, to=told: to.append(values)
        )
        name, done, total = told[-1]
        assert (name, done) == ("drift", total)
