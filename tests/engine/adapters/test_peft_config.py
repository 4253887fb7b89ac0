"""What of PEFT's configuration can be used, what it then means, and why the rest cannot."""

import math
from typing import Any

import pytest

from engine.adapters.peft_config import parse_config
from engine.errors import BadModelFile
from tests.engine.adapters.samples import CONFIG

Q1 = "model.layers.1.self_attn.q_proj"
Q11 = "model.layers.11.self_attn.q_proj"


def test_ranks_and_alphas_of_single_modules_are_found_by_the_end_of_their_name():
    config = parse_config(
        {
            **CONFIG,
            "rank_pattern": {"layers.1.self_attn.q_proj": 2, "q_proj": 16},
            "alpha_pattern": {r"model\.layers\.11\.self_attn\.q_proj": 3.5, "^self_attn.q_proj": 99},
        }
    )
    assert (config.rank_of(Q1), config.rank_of(Q11), config.rank_of("model.layers.1.mlp.up_proj")) == (2, 16, 4)
    assert (config.alpha_of(Q1), config.alpha_of(Q11)) == (8.0, 3.5)


def test_a_rank_stabilised_update_is_divided_by_the_root_of_its_own_rank():
    config = parse_config({**CONFIG, "use_rslora": True, "rank_pattern": {Q1: 9}})
    assert config.alpha_of(Q1) / config.rank_of(Q1) == pytest.approx(8 / math.sqrt(9))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param({"peft_type": "IA3"}, "kind IA3", id="ia3"),
        pytest.param({"peft_type": None}, "kind None", id="none"),
        pytest.param({"use_dora": True}, "DoRA also rescales", id="dora"),
        pytest.param({"modules_to_save": ["lm_head"]}, "replaces whole layers", id="modules_to_save"),
        pytest.param({"bias": "lora_only"}, "biases", id="bias"),
        pytest.param({"lora_bias": True}, "biases", id="lora_bias"),
        pytest.param({"trainable_token_indices": [1]}, "single tokens", id="tokens"),
        pytest.param({"target_parameters": ["mlp.experts.down_proj"]}, "fused experts", id="experts"),
        pytest.param({"layer_replication": [[0, 2]]}, "repeats layers", id="replication"),
        pytest.param({"fan_in_fan_out": True}, "transposed", id="transposed"),
        pytest.param({"use_qalora": True}, "pools", id="qalora"),
        pytest.param({"alora_invocation_tokens": [1, 2]}, "after certain tokens", id="alora"),
        pytest.param({"init_lora_weights": "pissa_niter_4"}, "base's own weights", id="pissa"),
        pytest.param({"init_lora_weights": ["olora"]}, "base's own weights", id="odd"),
        pytest.param({"r": 0}, "rank", id="rank 0"),
        pytest.param({"r": True}, "rank", id="rank true"),
        pytest.param({"r": "8"}, "rank", id="rank text"),
        pytest.param({"lora_alpha": 0}, "alpha", id="alpha 0"),
        pytest.param({"lora_alpha": float("nan")}, "alpha", id="alpha nan"),
        pytest.param({"lora_alpha": None}, "alpha", id="alpha none"),
        pytest.param({"lora_alpha": 10**300}, "alpha", id="alpha huge"),
        pytest.param({"rank_pattern": {"q_proj": -1}}, "rank_pattern of q_proj", id="pattern rank"),
        pytest.param({"rank_pattern": ["q_proj"]}, "no object", id="pattern list"),
        pytest.param({"alpha_pattern": {"(a+)+$": 4}}, "only names", id="pattern expression"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(change: dict[str, Any], says: str):
    with pytest.raises(BadModelFile, match=says) as caught:
        parse_config({**CONFIG, **change})
    assert caught.value.hint
