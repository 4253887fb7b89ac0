"""The benchmark of conversion at its smallest, and that it would see a conversion that is wrong."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.adapters.converting import peft_to_gguf
from engine.adapters.gguf_lora import read_lora, write_lora
from engine.adapters.layout import from_pairs
from engine.runtime.gguf import GGUFHeader, read_header
from tests.support.requirements import require_module

torch = require_module("torch")
require_module("transformers")
require_module("peft")

from tests.bench import conversion, report  # noqa: E402
from tests.bench.conversion import (  # noqa: E402
    ADAPTED,
    BARE,
    LEFT_OUT,
    Compared,
    Contents,
    compare_tiny,
    contents,
    differences,
    round_trip,
)
from tests.support.adapters import write_random_adapter  # noqa: E402
from tests.support.tiny_llama import HEADS, TinyModel, write_tiny  # noqa: E402

pytestmark = [
    pytest.mark.model,
    # PEFT asks transformers for what that calls by a new name.
    pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning"),
]


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def tiny(tmp_path: Path) -> TinyModel:
    return write_tiny("llama", tmp_path)


def wrongly(change: Callable[[str, Any], Any]) -> Callable[..., GGUFHeader]:
    """`peft_to_gguf`, but every pair of halves goes through `change` before it is written."""

    def convert(folder: Path, base: GGUFHeader, target: Path, **options: Any) -> GGUFHeader:
        right = peft_to_gguf(folder, base, target.with_suffix(".right"), **options)
        pairs = {name: change(name, pair) for name, pair in read_lora(right).items()}
        write_lora(target, pairs, architecture="llama", data_type=options.get("data_type", "f16"), metadata={})
        return read_header(target)

    return convert


def in_the_order_of_torch(name: str, pair: Any) -> Any:
    heads = {"attn_q": HEADS["q_proj"], "attn_k": HEADS["k_proj"]}.get(name.split(".")[2])
    return replace(pair, b_Or=from_pairs(pair.b_Or, heads)) if heads else pair


def of_half_the_alpha(_: str, pair: Any) -> Any:
    return replace(pair, alpha=pair.alpha / 2)


def test_the_report_has_every_goal_and_meets_them(tiny: TinyModel, tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    plain = report.to_json(conversion.measure(tiny.base, 2, 0, tmp_path / "bench"))

    goals = {goal["id"]: goal for goal in plain["goals"]}
    assert list(goals) == ["mean_abs_dlogp_tiny", "mean_abs_dlogp_starter", "round_trip_differences"]
    assert all(goal["met"] for goal in goals.values())
    assert [goal["runs"] for goal in goals.values()] == [2, 2, 5]
    assert 0 < goals["mean_abs_dlogp_starter"]["value"] < 0.02  # the base in its place is as exact as the tiny ones
    log_probabilities, trips = plain["tables"].values()
    tiny_rows = [("random tokens", adapter) for adapter in (ADAPTED, BARE, LEFT_OUT)]
    given = [("given text", adapter) for adapter in (ADAPTED, BARE, LEFT_OUT)]
    sampled = [("sampled", adapter) for adapter in (ADAPTED, BARE)]
    found = [(row["answers"], row["adapter"]) for row in log_probabilities]
    assert found == [*tiny_rows, *tiny_rows, *given, *sampled]
    for row in log_probabilities:
        assert (row["mean_abs_dlogp"] > 0.02) == (row["adapter"] == LEFT_OUT), row
    assert [(row["tensors"], row["differing_tensors"]) for row in trips] == [(28, 0)] * 5
    json.dumps(plain)


@pytest.mark.parametrize("change", [in_the_order_of_torch, of_half_the_alpha])
def test_a_wrong_conversion_misses_the_goal(
    change: Callable[[str, Any], Any], tiny: TinyModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversion, "peft_to_gguf", wrongly(change))
    figures = {one.adapter: one.figure().value for one in compare_tiny(tiny, 2, 0, tmp_path)}
    assert not report.is_met(conversion.TINY.goal, figures[ADAPTED])
    assert report.is_met(conversion.TINY.goal, figures[BARE])


@pytest.mark.parametrize("change", [in_the_order_of_torch, of_half_the_alpha])
def test_a_round_trip_through_a_wrong_conversion_differs(
    change: Callable[[str, Any], Any], tiny: TinyModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = write_random_adapter(tiny.base, tmp_path / "a.gguf", data_type="f16")
    monkeypatch.setattr(conversion, "peft_to_gguf", wrongly(change))
    found = round_trip("tiny", tiny.base, adapter, tmp_path / "trip", "f16")
    # q and k of two blocks have their order in B; alpha is one number for all.
    assert found.differing == (4 if change is in_the_order_of_torch else 1)


def test_one_bit_a_missing_tensor_and_another_type_are_differences(tiny: TinyModel, tmp_path: Path) -> None:
    before = contents(read_header(write_random_adapter(tiny.base, tmp_path / "a.gguf", data_type="f16")))
    name = next(iter(before))
    type_name, shape, values = before[name]
    one_bit: Contents = before | {name: (type_name, shape, bytes([values[0] ^ 1]) + values[1:])}
    other_type: Contents = before | {name: ("BF16", shape, values)}
    fewer = {key: value for key, value in before.items() if key != name}

    assert differences(before, dict(before)) == 0
    assert [differences(before, after) for after in (one_bit, other_type, fewer)] == [1, 1, 1]
    assert differences(fewer, before) == 1


def test_the_figure_is_the_mean_over_tokens_and_its_spread_that_of_prompts() -> None:
    one = Compared("base", "given text", ADAPTED, [[-1.0, -2.0, -3.0], [-1.0]], [[-1.0, -2.0, -3.0], [-1.4]])
    figure = one.figure()
    assert figure.value == pytest.approx(0.1)
    assert figure.runs == 2
    assert figure.spread == pytest.approx((0.0, 0.4))
    assert one.row()["tokens"] == 4 and one.row()["largest"] == pytest.approx(0.4)
