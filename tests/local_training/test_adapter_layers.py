"""Weights on their way between torch's layers and the engine's arrays: every bit arrives, or nothing changes."""

import numpy as np
import pytest

from engine.adapters.lora import LoraPair
from engine.errors import AdapterMismatch
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training.adapter_layers import lora_layers, put_pairs, take_pairs  # noqa: E402
from tests.support.tiny_policy import tiny_policy  # noqa: E402

torch.set_num_threads(1)

NAME = "personal"
Q0 = "model.layers.0.self_attn.q_proj"


def bits(model):
    return {
        path: tuple(half[NAME].weight.detach().numpy().tobytes() for half in (layer.lora_A, layer.lora_B))
        for path, layer in lora_layers(model)
    }


def test_what_is_taken_out_of_a_model_is_put_into_another_bit_by_bit():
    model, other = tiny_policy().model, tiny_policy(stir=False).model
    with torch.no_grad():
        dict(lora_layers(model))[Q0].lora_A[NAME].weight[0, :3] = torch.tensor([-0.0, 1e-45, 3.4e38])

    put_pairs(other, NAME, take_pairs(model, NAME, 32.0), "tiny")

    assert bits(other) == bits(model)


def test_a_pair_holds_the_rank_and_alpha_of_its_layer():
    pairs = take_pairs(tiny_policy(rank=3).model, NAME, 6.0)

    assert {(pair.rank, pair.alpha) for pair in pairs.values()} == {(3, 6.0)}
    assert len(pairs) == 2 * 7, "all linear layers of two blocks"


def test_an_adapter_in_half_precision_arrives_with_its_exact_values():
    model = tiny_policy().model
    halved = {
        name: LoraPair(pair.a_rI.astype(np.float16), pair.b_Or.astype(np.float16), pair.alpha)
        for name, pair in take_pairs(model, NAME, 32.0).items()
    }

    put_pairs(model, NAME, halved, "tiny")

    for name, pair in take_pairs(model, NAME, 32.0).items():
        assert pair.a_rI.dtype == np.float32
        assert np.array_equal(pair.a_rI, halved[name].a_rI) and np.array_equal(pair.b_Or, halved[name].b_Or)


def test_arrays_that_cannot_be_written_to_are_taken_and_stay_as_they_are():
    model, other = tiny_policy().model, tiny_policy(stir=False).model
    pairs = take_pairs(model, NAME, 32.0)
    for pair in pairs.values():
        pair.a_rI.flags.writeable = pair.b_Or.flags.writeable = False
    before = pairs[Q0].a_rI.copy()

    put_pairs(other, NAME, pairs, "tiny")
    with torch.no_grad():
        dict(lora_layers(other))[Q0].lora_A[NAME].weight.add_(1)

    assert np.array_equal(pairs[Q0].a_rI, before)


@pytest.mark.parametrize("spoilt", ["a layer too few", "a row too few"])
def test_pairs_that_do_not_fit_change_nothing(spoilt):
    model = tiny_policy().model
    before = bits(model)
    pairs = {name: LoraPair(pair.a_rI + 1, pair.b_Or + 1, 32.0) for name, pair in take_pairs(model, NAME, 32.0).items()}
    last = list(pairs)[-1]
    if spoilt == "a layer too few":
        del pairs[last]
    else:
        pairs[last] = LoraPair(pairs[last].a_rI, pairs[last].b_Or[:-1], 32.0)

    with pytest.raises(AdapterMismatch, match=last):
        put_pairs(model, NAME, pairs, "tiny")

    assert bits(model) == before
