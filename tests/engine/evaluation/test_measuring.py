"""Suites are measured by the real engine, on a tiny random base: the same for the same adapter, other for another."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.adapters.gate.inputs import AdapterResults
from engine.errors import RuntimeFailed, ScoringStopped
from engine.evaluation.measuring import measure
from engine.evaluation.reading import Bench, end_of_answer, prompt_of
from engine.evaluation.suites import ChoiceItem, EvaluationMessage, Suite
from engine.harness.prompt import PromptState, UnseenTurn, build, head
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import AdapterStack, ScoreRequest, Scores, Stop
from tests.support.evaluating import choices, nan_adapter, open_bench, said, written, zero_adapter

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def bench(tiny_moe: Path) -> Iterator[Bench]:
    with open_bench(tiny_moe) as opened:
        yield opened


def measured(bench: Bench, *suites: Suite, stack: AdapterStack = ()) -> AdapterResults:
    return measure(bench, stack, suites, content_hash="")


def test_a_prompt_is_the_one_that_serving_builds(bench: Bench):
    _, tokens = prompt_of(said("Hi.", "Hello.", "And now?"), bench)
    harness, runtime = bench.mixture.harness, bench.runtime
    past = (UnseenTurn("t", "Hi.", "Hello.", is_own=True),)
    state = PromptState("L0", head(harness, runtime, "L0"), (), past, "And now?")
    assert tokens == build(state, harness, runtime).tokens


def test_a_system_message_of_an_item_takes_the_place_of_the_experts(bench: Bench):
    beginning, tokens = prompt_of((EvaluationMessage("system", "Be brief."), *said("Hi.")), bench)
    assert tokens[: len(beginning)] == beginning
    text = bench.runtime.decode(beginning)
    assert "Be brief." in text and bench.mixture.harness.systems["L0"] not in text


def test_a_right_answer_is_one_that_is_likelier_as_a_whole_than_every_wrong_one(bench: Bench):
    suite = choices()
    (result,) = measured(bench, suite).suites
    end = end_of_answer(bench)
    for item, found in zip(suite.items, result.items, strict=True):
        assert isinstance(item, ChoiceItem)
        labels = [(*bench.runtime.encode(text), *end) for text in (item.right, *item.wrong)]
        _, tokens = prompt_of(item.messages, bench)
        alone = [bench.runtime.score(ScoreRequest(tokens, (label,))).totals()[0] for label in labels]
        assert found.is_right == (alone[0] > max(alone[1:]))
        assert found.nats_per_token == pytest.approx(-alone[0] / len(labels[0]), rel=1e-3)
        first = bench.runtime.score(ScoreRequest(tokens, (labels[0][:1],))).totals()[0]
        assert found.continued_nats == pytest.approx((first - alone[0]) / (len(labels[0]) - 1), rel=1e-3)
    assert {item.is_right for item in result.items} == {True, False}, "the items tell nothing apart"


def test_an_answer_ends_with_the_token_that_ends_a_turn(bench: Bench):
    assert end_of_answer(bench) == (bench.mixture.info.markup["<|im_end|>"],)


def test_own_answers_are_checked_in_the_order_of_the_suite(bench: Bench):
    (result,) = measured(bench, written()).suites
    assert [item.item_id for item in result.items] == [item.item_id for item in written().items]
    assert [item.is_right for item in result.items] == [True] * 10 + [False]
    assert all(item.nats_per_token is None for item in result.items)


def test_an_adapter_that_changes_nothing_does_exactly_as_none(bench: Bench, tiny_moe: Path, tmp_path: Path):
    stack = (adapter_ref(zero_adapter(tiny_moe, tmp_path / "zero.gguf")),)
    assert measured(bench, choices(), written(), stack=stack) == measured(bench, choices(), written())


def test_another_adapter_does_otherwise(bench: Bench, tiny_moe_adapters: tuple[Path, ...]):
    (before,), (after,) = (
        measured(bench, choices(), stack=stack).suites for stack in ((), (adapter_ref(tiny_moe_adapters[0]),))
    )
    changes = [one.nats_per_token != other.nats_per_token for one, other in zip(before.items, after.items, strict=True)]
    assert all(changes)


def test_a_suite_comes_out_the_same_whatever_was_measured_before_it(bench: Bench):
    alone = measured(bench, choices()).suites[0]
    assert measured(bench, choices("others", count=3), written(), choices()).suites[2] == alone


def test_an_item_comes_out_the_same_whatever_items_were_measured_before_it(bench: Bench):
    suite = choices()
    last = Suite(suite.name, suite.role, suite.content_hash, suite.items[-1:])
    assert measured(bench, last).suites[0].items == measured(bench, suite).suites[0].items[-1:]


def test_groups_go_on_to_the_results(bench: Bench):
    item = ChoiceItem("a", said("Hi."), "Hello.", ("No.",), group="greetings")
    assert measured(bench, Suite("s", "general", "h", (item,))).suites[0].items[0].group == "greetings"


def test_progress_is_told_over_all_suites_and_ends_with_everything(bench: Bench):
    told: list[tuple[str, int, int]] = []
    measure(bench, (), [choices(), written()], content_hash="", tell=lambda *values: told.append(values))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert {total for _, _, total in told} == {17}
    assert (told[0][:2], told[-1][:2]) == (("capitals", 0), ("short", 17))


def test_a_stop_ends_the_measuring_in_between(bench: Bench):
    stop = threading.Event()
    told: list[int] = []

    def tell(_suite: str, done: int, _total: int) -> None:
        told.append(done)
        if done == 2:
            stop.set()

    with pytest.raises(ScoringStopped):
        measure(bench, (), [choices()], content_hash="", stop=stop, tell=tell)
    assert told[-1] == 2


def test_numbers_that_are_none_are_an_error_of_the_engine(bench: Bench, tiny_moe: Path, tmp_path: Path):
    broken = (adapter_ref(nan_adapter(tiny_moe, tmp_path / "nan.gguf")),)
    for suite in (choices(), written()):
        with pytest.raises(RuntimeFailed, match="no numbers"):
            measured(bench, suite, stack=broken)


def test_the_head_that_items_share_is_read_once(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    reused: list[int] = []
    score = bench.runtime.score

    def counting(request: ScoreRequest, stop: Stop) -> Scores:
        scores = score(request, stop)
        reused.append(scores.usage.reused_tokens)
        return scores

    monkeypatch.setattr(bench.runtime, "score", counting)
    measured(bench, choices(count=4))
    beginning, _ = prompt_of(said("Hi."), bench)
    assert reused == [len(beginning)] * 4
