"""Adapters as PEFT folders: what cannot be read safely, or served, is refused with the reason."""

import json
import os

import pytest

from engine.errors import BadModelFile, DiskFull, ModelMissing
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from safetensors.torch import load, save_file  # noqa: E402

from local_training.adapter_folder import PeftAdapter, read_adapter, write_adapter  # noqa: E402
from tests.support.tiny_policy import random_adapter, tiny_policy  # noqa: E402

torch.set_num_threads(1)


def test_a_folder_comes_back_as_it_was_written(tmp_path):
    written = random_adapter(tmp_path / "one", tiny_policy())
    changed = PeftAdapter(
        rank=written.rank,
        alpha=2.5,
        pairs=written.pairs,
        base_name="基座.gguf",
        rank_stabilised=True,
        rank_pattern={"up_proj": 3},
        alpha_pattern={"up_proj": 1.5},
    )
    write_adapter(tmp_path / "two", changed)

    found = read_adapter(tmp_path / "two")

    for name, pair in written.pairs.items():
        assert torch.equal(found.pairs[name].A_rI, pair.A_rI) and torch.equal(found.pairs[name].B_Or, pair.B_Or)
    parts = ("rank", "alpha", "base_name", "rank_stabilised", "rank_pattern", "alpha_pattern")
    assert [getattr(found, part) for part in parts] == [getattr(changed, part) for part in parts]
    assert found.pairs.keys() == written.pairs.keys()


def test_a_full_disk_leaves_the_folder_as_it_was(tmp_path, monkeypatch):
    folder = tmp_path / "adapter"
    adapter = random_adapter(folder, tiny_policy())
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull, match="No space left"):
        write_adapter(folder, adapter)

    assert {name: (folder / name).read_bytes() for name in before} == before


def test_a_folder_with_a_pickle_instead_of_safetensors_is_refused(tmp_path):
    folder = tmp_path / "adapter"
    tiny_policy().save(folder)
    (folder / "adapter_model.safetensors").rename(folder / "adapter_model.bin")

    with pytest.raises(ModelMissing, match=r"adapter_model\.safetensors"):
        read_adapter(folder)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param({"peft_type": "IA3"}, "no LoRA adapter", id="another_method"),
        pytest.param({"use_dora": True}, "use_dora", id="dora"),
        pytest.param({"bias": "all"}, "bias", id="bias"),
        pytest.param({"modules_to_save": ["lm_head"]}, "modules_to_save", id="whole_modules"),
        pytest.param({"r": 0}, "no usable r", id="no_rank"),
        pytest.param({"r": "8"}, "no usable r", id="rank_as_text"),
        pytest.param({"lora_alpha": None}, "no usable r and lora_alpha", id="no_alpha"),
    ],
)
def test_a_configuration_that_cannot_be_served_is_refused(tmp_path, changes, problem):
    folder = tmp_path / "adapter"
    tiny_policy().save(folder)
    change_config(folder, **changes)

    with pytest.raises(BadModelFile, match=problem):
        read_adapter(folder)


def test_damaged_folders_are_refused(tmp_path):
    folder = tmp_path / "adapter"
    tiny_policy().save(folder)
    weights = folder / "adapter_model.safetensors"
    content = weights.read_bytes()
    halves = load(content)

    weights.write_bytes(content[: len(content) // 2])
    with pytest.raises(BadModelFile, match="cannot be read"):
        read_adapter(folder)

    key = next(iter(halves))
    save_file({name: half for name, half in halves.items() if name != key}, weights)
    with pytest.raises(BadModelFile, match="incomplete"):
        read_adapter(folder)

    save_file(halves | {key: torch.full_like(halves[key], torch.nan)}, weights)
    with pytest.raises(BadModelFile, match="not finite"):
        read_adapter(folder)

    (folder / "adapter_config.json").write_text("{")
    with pytest.raises(BadModelFile, match="cannot be read"):
        read_adapter(folder)


def change_config(folder, **changes):
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
