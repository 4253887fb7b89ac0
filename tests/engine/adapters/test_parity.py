"""A converted adapter says in llama.cpp what it says in torch: the same log-probabilities, within rounding."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.adapters.converting import gguf_to_peft, peft_to_gguf
from engine.adapters.gguf_lora import read_lora, write_lora
from engine.adapters.layout import from_pairs
from engine.runtime.gguf import check_adapter, read_header
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import AdapterStack, ScoreRequest
from tests.support.completing import loaded, stack
from tests.support.requirements import require_module

for _needed in ("torch", "transformers", "peft"):
    require_module(_needed)

from tests.support.tiny_llama import (  # noqa: E402  (only where torch is)
    HEADS,
    VOCABULARY,
    TinyModel,
    save_random_lora,
    torch_logprobs,
    write_tiny,
)

pytestmark = [
    pytest.mark.model,
    # PEFT asks transformers for what that calls by a new name.
    pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning"),
]

PROMPTS = 32
TOKENS = 24
GIVEN = 8
BOUND_NATS = 0.02

PLAIN: dict[str, Any] = {}
PER_MODULE: dict[str, Any] = {
    "rank_pattern": {"q_proj": 4, "model.layers.1.mlp.down_proj": 12},
    "alpha_pattern": {"k_proj": 32, "layers.0.mlp.up_proj": 4},
}
STABILISED = {**PER_MODULE, "use_rslora": True, "lora_alpha": 6, "alpha_pattern": {"k_proj": 9}}


def prompts() -> list[list[int]]:
    """Random ids of ordinary tokens."""
    return np.random.default_rng(5).integers(3, VOCABULARY - 12, (PROMPTS, TOKENS)).tolist()


@pytest.fixture(scope="module", params=["llama", "qwen3"])
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TinyModel:
    return write_tiny(request.param, tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def runtime(tiny: TinyModel) -> Iterator[LlamaRuntime]:
    with loaded(tiny.base) as runtime:
        yield runtime


@contextmanager
def tiny_llama(tmp_path: Path) -> Iterator[tuple[TinyModel, LlamaRuntime]]:
    tiny = write_tiny("llama", tmp_path)
    with loaded(tiny.base) as runtime:
        yield tiny, runtime


def engine_logprobs(runtime: LlamaRuntime, tokens: Sequence[int], adapters: AdapterStack = ()) -> list[float]:
    request = ScoreRequest(tuple(tokens[:GIVEN]), (tuple(tokens[GIVEN:]),), adapters)
    return list(runtime.score(request).logprobs[0])


def mean_difference(runtime: LlamaRuntime, model: Any, adapters: AdapterStack = ()) -> float:
    """Mean |difference| of log-probabilities in nats, over every answer token of all prompts."""
    differences = [
        np.abs(np.subtract(engine_logprobs(runtime, tokens, adapters), torch_logprobs(model, tokens, GIVEN)))
        for tokens in prompts()
    ]
    return float(np.mean(differences))


def test_the_bases_themselves_agree(tiny: TinyModel, runtime: LlamaRuntime):
    assert mean_difference(runtime, tiny.model) <= BOUND_NATS


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(PLAIN, id="plain"),
        pytest.param(PER_MODULE, id="per_module"),
        pytest.param(STABILISED, id="rslora"),
        pytest.param({"target_modules": ["q_proj", "lm_head"]}, id="with_head"),
    ],
)
@pytest.mark.parametrize("data_type", ["f16", "f32"])
def test_llama_cpp_and_torch_agree_on_an_adapter(
    tiny: TinyModel, runtime: LlamaRuntime, tmp_path: Path, config: dict[str, Any], data_type: Any
):
    model = save_random_lora(tiny, tmp_path / "peft", **config)
    peft_to_gguf(tmp_path / "peft", read_header(tiny.base), tmp_path / "a.gguf", data_type=data_type)

    assert mean_difference(runtime, model) > 10 * BOUND_NATS, "without the adapter they must not agree"
    assert mean_difference(runtime, model, stack(tmp_path / "a.gguf")) <= BOUND_NATS


def test_an_adapter_in_eight_bits_stays_near(tiny: TinyModel, runtime: LlamaRuntime, tmp_path: Path):
    model = save_random_lora(tiny, tmp_path / "peft", r=32)
    header = peft_to_gguf(tmp_path / "peft", read_header(tiny.base), tmp_path / "a.gguf", data_type="q8_0")

    assert {tensor.type_name for tensor in header.tensors.values()} == {"Q8_0"}
    assert mean_difference(runtime, model, stack(tmp_path / "a.gguf")) <= 5 * BOUND_NATS


def test_rows_that_are_no_multiple_of_32_stay_in_sixteen_bits(tiny: TinyModel, tmp_path: Path):
    save_random_lora(tiny, tmp_path / "peft", r=8)
    header = peft_to_gguf(tmp_path / "peft", read_header(tiny.base), tmp_path / "a.gguf", data_type="q8_0")

    kinds = {(name[-6:], tensor.type_name) for name, tensor in header.tensors.items()}
    assert kinds == {("lora_a", "Q8_0"), ("lora_b", "F16")}


def test_without_the_order_of_llama_rows_q_and_k_are_wrong(tmp_path: Path):
    with tiny_llama(tmp_path) as (tiny, runtime):
        model = save_random_lora(tiny, tmp_path / "peft", target_modules=["q_proj", "k_proj"])
        header = peft_to_gguf(tmp_path / "peft", read_header(tiny.base), tmp_path / "right.gguf")
        left_out = {
            name: replace(pair, b_Or=from_pairs(pair.b_Or, HEADS["q_proj" if "attn_q" in name else "k_proj"]))
            for name, pair in read_lora(header).items()
        }
        write_lora(tmp_path / "wrong.gguf", left_out, architecture="llama", data_type="f16", metadata={})
        check_adapter(read_header(tmp_path / "wrong.gguf"), read_header(tiny.base))

        assert mean_difference(runtime, model, stack(tmp_path / "right.gguf")) <= BOUND_NATS
        assert mean_difference(runtime, model, stack(tmp_path / "wrong.gguf")) > 5 * BOUND_NATS


def test_PEFT_loads_what_was_read_back_from_a_gguf_adapter(tiny: TinyModel, tmp_path: Path):
    from peft import PeftModel

    adapted = save_random_lora(tiny, tmp_path / "peft", **STABILISED)
    base = read_header(tiny.base)
    peft_to_gguf(tmp_path / "peft", base, tmp_path / "a.gguf", data_type="f32")
    gguf_to_peft(tmp_path / "a.gguf", base, tmp_path / "back")

    copy = type(tiny.model)(tiny.model.config).eval()
    copy.load_state_dict(tiny.model.state_dict())
    again = PeftModel.from_pretrained(copy, str(tmp_path / "back")).eval()
    tokens = prompts()[0]
    assert torch_logprobs(again, tokens, GIVEN) == pytest.approx(torch_logprobs(adapted, tokens, GIVEN), abs=1e-4)
