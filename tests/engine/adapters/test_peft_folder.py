"""A PEFT folder is read as it was written, is written whole or not at all, and runs nothing when it is read."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.adapters.lora import LoraPair
from engine.adapters.peft_folder import config_of, read_peft, write_peft
from engine.errors import BadModelFile, DiskFull, ModelMissing, UsageProblem
from tests.engine.adapters.samples import write_folder

Q0 = "model.layers.0.self_attn.q_proj"
FILES = ("adapter_config.json", "adapter_model.safetensors")


def a_pair(rank: int = 4, alpha: float = 8.0, seed: int = 0, number_type: Any = np.float32) -> LoraPair:
    random = np.random.default_rng(seed)
    return LoraPair(
        random.normal(size=(rank, 6)).astype(number_type), random.normal(size=(5, rank)).astype(number_type), alpha
    )


def some_pairs() -> dict[str, LoraPair]:
    """Mostly of rank 4 and alpha 8, with one of another rank and one of another alpha, and odd numbers."""
    odd = a_pair(seed=3)
    odd.a_rI[0, :3] = (-0.0, 1e-45, 3.4e38)
    return {
        Q0: a_pair(),
        "model.layers.0.mlp.up_proj": a_pair(rank=3, seed=1),
        "model.layers.1.mlp.up_proj": a_pair(alpha=2.5, seed=2),
        "model.layers.1.self_attn.q_proj": odd,
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def config_in(folder: Path) -> dict[str, Any]:
    return json.loads((folder / FILES[0]).read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One that holds a small adapter."""
    pair = a_pair()
    names = [f"base_model.model.{Q0}.lora_{half}.weight" for half in "AB"]
    return write_folder(tmp_path / "peft", dict(zip(names, (pair.a_rI, pair.b_Or), strict=True)))


def test_a_folder_comes_back_bit_by_bit_with_the_rank_and_alpha_of_each_module(tmp_path: Path):
    written = some_pairs()
    write_peft(tmp_path / "peft", written, base_name="基座.gguf")

    read = read_peft(tmp_path / "peft").pairs

    assert read.keys() == written.keys()
    for name, pair in written.items():
        assert (read[name].a_rI.tobytes(), read[name].b_Or.tobytes()) == (pair.a_rI.tobytes(), pair.b_Or.tobytes())
        assert (read[name].rank, read[name].alpha) == (pair.rank, pair.alpha)
    assert sorted(contents(tmp_path / "peft")) == sorted(FILES)
    assert config_in(tmp_path / "peft")["base_model_name_or_path"] == "基座.gguf"


def test_the_config_names_only_the_modules_that_differ():
    config = config_of(some_pairs())
    assert (config.rank, config.rank_pattern) == (4, {"model.layers.0.mlp.up_proj": 3})
    assert (config.alpha, config.alpha_pattern) == (8.0, {"model.layers.1.mlp.up_proj": 2.5})


def test_equal_weights_give_equal_bytes_whatever_their_order(tmp_path: Path):
    pairs = {"b": a_pair(rank=2, alpha=4.0), "a": a_pair(rank=3, alpha=6.0)}
    write_peft(tmp_path / "one", pairs)
    write_peft(tmp_path / "other", dict(reversed(pairs.items())))
    assert contents(tmp_path / "one") == contents(tmp_path / "other")


def test_an_adapter_that_is_there_is_overwritten_only_where_that_is_asked_for(folder: Path):
    before = contents(folder)
    new = {Q0: a_pair(rank=2, alpha=3.0, seed=9)}

    with pytest.raises(UsageProblem, match="already"):
        write_peft(folder, new)
    assert contents(folder) == before

    write_peft(folder, new, overwrite=True)
    pair = read_peft(folder).pairs[Q0]
    assert (pair.rank, pair.alpha, np.array_equal(pair.a_rI, new[Q0].a_rI)) == (2, 3.0, True)


def test_a_full_disk_leaves_the_folder_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch):
    before = contents(folder)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        write_peft(folder, {Q0: a_pair(seed=9)}, overwrite=True)

    assert contents(folder) == before


def test_without_its_config_an_adapter_that_was_cut_off_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    keep, synced = os.fsync, []

    def full_at_the_second(descriptor: int) -> None:
        synced.append(descriptor)
        if len(synced) > 1:
            raise OSError(28, "No space left on device")
        keep(descriptor)

    monkeypatch.setattr(os, "fsync", full_at_the_second)
    with pytest.raises(DiskFull):
        write_peft(tmp_path / "peft", {Q0: a_pair()})

    assert list(contents(tmp_path / "peft")) == ["adapter_model.safetensors"]
    with pytest.raises(ModelMissing, match="adapter_config"):
        read_peft(tmp_path / "peft")


def test_C4_pickled_weights_are_never_opened(folder: Path):
    (folder / "adapter_model.safetensors").rename(folder / "adapter_model.bin")
    with pytest.raises(BadModelFile, match="can run code"):
        read_peft(folder)


def test_C4_weights_that_are_a_pickle_under_another_name_run_nothing(folder: Path, tmp_path: Path):
    marker = tmp_path / "ran"
    payload = f"cpathlib\nPath\n(V{marker}\ntRp0\n0cbuiltins\ngetattr\n(g0\nVtouch\ntR(tR."
    (folder / "adapter_model.safetensors").write_bytes(payload.encode())
    with pytest.raises(BadModelFile, match="no safetensors file"):
        read_peft(folder)
    assert not marker.exists()


@pytest.mark.parametrize(
    "config", [b"", b"{", b"[]", b"\xff", b"[" * 100_000], ids=["empty", "cut", "list", "no text", "deep"]
)
def test_a_config_that_is_no_config_is_refused(folder: Path, config: bytes):
    (folder / "adapter_config.json").write_bytes(config)
    with pytest.raises(BadModelFile, match="adapter_config"):
        read_peft(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_of_the_folder_is_named(folder: Path, name: str):
    (folder / name).unlink()
    with pytest.raises(ModelMissing, match=name):
        read_peft(folder)
