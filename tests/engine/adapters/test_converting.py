"""From PEFT to GGUF and back on real shapes: names, order, exact round trips, and what is refused, leaving nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from engine.adapters.converting import BASE_HASH_KEY, SOURCE_KEY, gguf_to_peft, peft_to_gguf
from engine.adapters.gguf_lora import read_lora, write_lora
from engine.adapters.layout import from_pairs, layout_of, to_pairs
from engine.adapters.lora import LoraPair
from engine.adapters.peft_folder import read_peft
from engine.errors import AdapterMismatch, AgentError, BadModelFile
from engine.runtime.gguf import GGUFHeader, read_header
from engine.runtime.identity import fingerprint
from tests.engine.adapters.samples import MODULES, peft_tensors, write_folder
from tests.support.adapters import write_random_adapter

Tensors = dict[str, np.ndarray]
Q0 = "base_model.model.model.layers.0.self_attn.q_proj"


@pytest.fixture(scope="module")
def base(starter_base: Path) -> GGUFHeader:
    return read_header(starter_base)


def contents(header: GGUFHeader) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Type, shape and bytes of every tensor of a file."""
    data = header.path.read_bytes()[header.header_bytes :]
    return {
        name: (tensor.type_name, tensor.shape, data[tensor.offset : tensor.offset + tensor.size_bytes])
        for name, tensor in header.tensors.items()
    }


@given(st.integers(1, 9), st.integers(1, 16), st.integers(1, 4))
def test_the_two_orders_of_rows_are_each_others_inverse(heads: int, half: int, columns: int):
    rows = np.arange(heads * 2 * half * columns).reshape(-1, columns)
    assert np.array_equal(from_pairs(to_pairs(rows, heads), heads), rows)
    assert np.array_equal(to_pairs(rows, heads)[1], rows[half]), "row 0 is followed by its partner, half a head away"


def test_every_linear_layer_finds_its_tensor(base: GGUFHeader, tmp_path: Path):
    header = peft_to_gguf(write_folder(tmp_path / "p", peft_tensors(base)), base, tmp_path / "a.gguf")
    halves = {f"blk.{block}.{kind}.weight.lora_{half}" for block in (0, 1) for kind in MODULES for half in "ab"}
    assert set(header.tensors) == halves
    assert {tensor.type_name for tensor in header.tensors.values()} == {"F16"}


def test_the_file_says_what_it_is_and_what_it_was_made_for(base: GGUFHeader, tmp_path: Path):
    folder = write_folder(tmp_path / "p", peft_tensors(base, ["attn_q"]))
    header = peft_to_gguf(folder, base, tmp_path / "a.gguf")
    known = header.metadata
    assert (known["general.type"], known["adapter.type"], header.architecture) == ("adapter", "lora", "llama")
    assert known["adapter.lora.alpha"] == 8.0
    assert known[BASE_HASH_KEY] == fingerprint(base.path)
    assert known[SOURCE_KEY] == f"peft:{read_peft(folder).content_hash}"
    assert known["general.base_model.0.name"] == base.metadata["general.name"]
    assert str(tmp_path).encode() not in header.path.read_bytes()


def test_the_same_adapter_becomes_the_same_bytes(base: GGUFHeader, tmp_path: Path):
    files = []
    for name in ("one", "other"):
        folder = write_folder(tmp_path / name / "p", peft_tensors(base, ["attn_k", "ffn_up"]))
        files.append(peft_to_gguf(folder, base, tmp_path / f"{name}.gguf").path.read_bytes())
    assert files[0] == files[1]


def test_only_modules_with_another_alpha_are_scaled(base: GGUFHeader, tmp_path: Path):
    tensors = peft_tensors(base, ["attn_v", "ffn_up"])
    folder = write_folder(tmp_path / "p", tensors, alpha_pattern={"layers.1.mlp.up_proj": 24})
    pairs = read_lora(peft_to_gguf(folder, base, tmp_path / "a.gguf", data_type="f32"))
    for block, factor in ((0, 1), (1, 3)):
        name = f"base_model.model.model.layers.{block}.mlp.up_proj.lora_B.weight"
        assert np.array_equal(pairs[f"blk.{block}.ffn_up.weight"].b_Or, tensors[name] * np.float32(factor))


@pytest.mark.parametrize("data_type", ["f16", "f32"])
def test_gguf_to_peft_to_gguf_keeps_every_byte(base: GGUFHeader, tmp_path: Path, data_type: Any):
    first = write_random_adapter(base.path, tmp_path / "a.gguf", rank=6, alpha=20.0, data_type=data_type)
    gguf_to_peft(first, base, tmp_path / "p")
    again = peft_to_gguf(tmp_path / "p", base, tmp_path / "b.gguf", data_type=data_type)
    assert contents(again) == contents(read_header(first))
    assert again.metadata["adapter.lora.alpha"] == 20.0


def test_a_round_trip_with_different_ranks_keeps_every_byte(base: GGUFHeader, tmp_path: Path):
    tensors = {**peft_tensors(base, rank=4), **peft_tensors(base, ["ffn_down"], rank=7)}
    folder = write_folder(tmp_path / "p", tensors, rank_pattern={"down_proj": 7}, use_rslora=True)
    first = peft_to_gguf(folder, base, tmp_path / "a.gguf")
    gguf_to_peft(first.path, base, tmp_path / "back")
    assert contents(peft_to_gguf(tmp_path / "back", base, tmp_path / "b.gguf")) == contents(first)


def test_a_PEFT_folder_comes_back_as_it_was(base: GGUFHeader, tmp_path: Path):
    tensors = peft_tensors(base, number_type=np.float16)
    peft_to_gguf(write_folder(tmp_path / "p", tensors), base, tmp_path / "a.gguf")
    gguf_to_peft(tmp_path / "a.gguf", base, tmp_path / "back")
    back = load_file(tmp_path / "back" / "adapter_model.safetensors")
    assert set(back) == set(tensors)
    assert all(back[name].dtype == np.float16 and np.array_equal(back[name], tensors[name]) for name in tensors)
    config = json.loads((tmp_path / "back" / "adapter_config.json").read_text(encoding="utf-8"))
    assert (config["r"], config["lora_alpha"], config["peft_type"]) == (4, 8, "LORA")


def test_an_alpha_of_zero_means_the_update_as_it_is(base: GGUFHeader, tmp_path: Path):
    path = write_random_adapter(base.path, tmp_path / "a.gguf", rank=6, alpha=1e-30, strength=0.0)
    path.write_bytes(path.read_bytes().replace(np.float32(1e-30).tobytes(), np.float32(0).tobytes(), 1))
    assert {pair.alpha for pair in read_lora(read_header(path)).values()} == {6.0}


def test_an_adapter_in_eight_bits_is_read_back_as_llama_cpp_sees_it(base: GGUFHeader, tmp_path: Path):
    tensors = peft_tensors(base, ["ffn_up"], rank=32)
    folder = write_folder(tmp_path / "p", tensors, r=32)
    pair = read_lora(peft_to_gguf(folder, base, tmp_path / "a.gguf", data_type="q8_0"))["blk.0.ffn_up.weight"]
    wanted = tensors["base_model.model.model.layers.0.mlp.up_proj.lora_A.weight"]
    assert pair.a_rI.dtype == np.float32 and pair.rank == 32
    assert np.abs(pair.a_rI - wanted).max() < np.abs(wanted).max() / 127


def change(**changes: Any) -> Callable[[Tensors], None]:
    def apply(tensors: Tensors) -> None:
        for half, value in changes.items():
            name = f"{Q0}.lora_{half}.weight"
            tensors[name] = value(tensors[name])

    return apply


def rename(old: str, new: str) -> Callable[[Tensors], None]:
    def apply(tensors: Tensors) -> None:
        for name in list(tensors):
            tensors[name.replace(old, new)] = tensors.pop(name)

    return apply


def add(name: str) -> Callable[[Tensors], None]:
    return lambda tensors: tensors.update({name: np.ones((4, 4), np.float32)})


@pytest.mark.parametrize(
    ("spoil", "error", "says"),
    [
        pytest.param(rename("q_proj", "qkv_proj"), AdapterMismatch, "layers.0.self_attn.qkv_proj", id="module"),
        pytest.param(rename("layers.0", "layers.99"), AdapterMismatch, "no blk.99.attn_q.weight", id="layer"),
        pytest.param(rename("layers.0.", "../../x."), AdapterMismatch, "no linear layer", id="path"),
        pytest.param(rename("layers.0", "layers.٣"), AdapterMismatch, "no linear layer", id="digit"),
        pytest.param(rename("model.layers.0.self_attn.q_proj", "lm_head"), AdapterMismatch, "no output", id="head"),
        pytest.param(rename("lora_A.weight", "lora_A.bias"), BadModelFile, "no LoRA weight", id="key"),
        pytest.param(add(f"{Q0}.lora_magnitude_vector.weight"), BadModelFile, "no LoRA weight", id="dora"),
        pytest.param(add("base_model.model.model.embed_tokens.lora_embedding_A"), BadModelFile, "no LoRA", id="lookup"),
        pytest.param(add(f"{Q0}.lora_A.other.weight"), BadModelFile, "twice", id="two adapters"),
        pytest.param(add("layers.0.self_attn.k_proj.lora_A.weight"), BadModelFile, "one half of", id="half"),
        pytest.param(change(A=lambda a: a[:, :-1]), AdapterMismatch, "576 by 575", id="inputs"),
        pytest.param(change(B=lambda b: b[:-1]), AdapterMismatch, "575 by 576", id="outputs"),
        pytest.param(change(B=lambda b: b[:, :-1]), BadModelFile, "do not belong together", id="ranks"),
        pytest.param(change(A=lambda a: a[:2], B=lambda b: b[:, :2]), BadModelFile, "has rank 2", id="rank"),
        pytest.param(change(A=lambda a: a.reshape(2, 2, -1)), BadModelFile, "do not belong", id="dimensions"),
        pytest.param(change(A=lambda a: a * np.float32("nan")), BadModelFile, "no numbers", id="nan"),
        pytest.param(change(A=lambda a: a + np.float32("inf")), BadModelFile, "infinite", id="infinite"),
        pytest.param(change(A=lambda a: a + 70_000), BadModelFile, "too large for f16", id="too large"),
    ],
)
def test_C3_an_adapter_that_does_not_fit_is_refused_by_name_and_leaves_nothing(
    base: GGUFHeader, tmp_path: Path, spoil: Callable[[Tensors], None], error: type[AgentError], says: str
):
    tensors = peft_tensors(base, ["attn_q"])
    spoil(tensors)
    folder = write_folder(tmp_path / "p", tensors)
    with pytest.raises(error, match=says) as caught:
        peft_to_gguf(folder, base, tmp_path / "out" / "a.gguf")
    assert caught.value.hint
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_two_names_of_one_layer_are_refused(base: GGUFHeader, tmp_path: Path):
    tensors = peft_tensors(base, ["attn_q"])
    tensors |= {name.replace("model.model.model.", "model.model."): value for name, value in tensors.items()}
    with pytest.raises(AdapterMismatch, match="twice"):
        peft_to_gguf(write_folder(tmp_path / "p", tensors), base, tmp_path / "a.gguf")


def test_C1_a_folder_with_changed_bytes_is_read_or_refused_and_nothing_else(base: GGUFHeader, tmp_path: Path):
    folder = write_folder(tmp_path / "p", peft_tensors(base, ["attn_k"]), rank_pattern={"k_proj": 4})
    files = {name: (folder / name).read_bytes() for name in ("adapter_model.safetensors", "adapter_config.json")}
    random, layout = np.random.default_rng(7), layout_of(base)
    refused = 0
    for _ in range(150):
        for name, content in files.items():
            changed = bytearray(content)
            for place in random.integers(0, 400, random.integers(0, 3)):
                changed[place % len(content)] = random.choice(list(b'09[]{}",:-e.\\ \0\xff'))
            (folder / name).write_bytes(changed)
        try:
            layout.to_tensors(read_peft(folder).pairs)
        except AgentError as error:
            refused += bool(error.hint)
    assert refused > 75


def test_C3_another_architecture_is_refused_by_name(tiny_moe: Path):
    with pytest.raises(AdapterMismatch, match="qwen35moe") as caught:
        layout_of(read_header(tiny_moe))
    assert "llama and qwen3" in caught.value.hint


def test_a_tensor_without_a_module_cannot_go_back(base: GGUFHeader):
    pair = LoraPair(np.ones((2, 4), np.float32), np.ones((4, 2), np.float32), 8.0)
    with pytest.raises(AdapterMismatch, match="attn_qkv"):
        layout_of(base).to_modules({"blk.0.attn_qkv.weight": pair})


def test_a_scale_that_leads_beyond_the_type_is_refused(tmp_path: Path):
    ones = LoraPair(np.ones((2, 4), np.float32), np.full((4, 2), 3e38, np.float32), 1.0)
    more = LoraPair(ones.a_rI, ones.b_Or, 1e6)
    pairs = {"blk.0.attn_v.weight": ones, "blk.1.attn_v.weight": ones, "blk.2.attn_v.weight": more}
    with pytest.raises(BadModelFile, match=r"blk\.2\.attn_v.*too large for f32"):
        write_lora(tmp_path / "a.gguf", pairs, architecture="llama", data_type="f32", metadata={})
