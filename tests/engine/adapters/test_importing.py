"""Adapters of anybody's come into one folder, named by their content, if they fit the base; nothing else gets in."""

import errno
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest

from engine.adapters.gguf_lora import write_lora
from engine.adapters.importing import import_adapter
from engine.adapters.lora import LoraPair
from engine.errors import AdapterMismatch, AgentError, BadModelFile, DiskFull, ModelMissing
from engine.runtime.gguf import GGUFHeader, read_header
from tests.engine.adapters.samples import peft_tensors, write_folder
from tests.support.completing import complete, loaded


@pytest.fixture(scope="module")
def base(starter_base: Path) -> GGUFHeader:
    return read_header(starter_base)


def kept(folder: Path) -> list[str]:
    """Every name in the folder, unfinished files too."""
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_gguf_adapter_is_copied_as_it_is(base: GGUFHeader, starter_adapters: tuple[Path, ...], tmp_path: Path):
    imported = import_adapter(starter_adapters[0], base.path, tmp_path / "adapters")
    assert kept(tmp_path / "adapters") == [f"{imported.sha256}.gguf"]
    assert Path(imported.adapter.path).read_bytes() == starter_adapters[0].read_bytes()
    assert (imported.kind, imported.is_new, imported.ranks, imported.weights) == ("gguf", True, (8, 8), 210)


def test_a_PEFT_folder_is_converted(base: GGUFHeader, tmp_path: Path):
    tensors = {**peft_tensors(base, ["attn_q"]), **peft_tensors(base, ["ffn_up"], rank=9)}
    folder = write_folder(tmp_path / "my adapter", tensors, rank_pattern={"up_proj": 9})
    imported = import_adapter(folder, base.path, tmp_path / "adapters")
    assert (imported.kind, imported.ranks, imported.weights) == ("peft", (4, 9), 4)
    assert read_header(Path(imported.adapter.path)).architecture == "llama"


def test_B1_the_same_adapter_is_kept_once_whatever_it_is_called(base: GGUFHeader, tmp_path: Path):
    folder = write_folder(tmp_path / "one", peft_tensors(base, ["attn_q"]))
    first = import_adapter(folder, base.path, tmp_path / "adapters")
    second = import_adapter(shutil.copytree(folder, tmp_path / "other"), base.path, tmp_path / "adapters")
    assert (first.is_new, second.is_new) == (True, False)
    assert first.adapter == second.adapter and kept(tmp_path / "adapters") == [f"{first.sha256}.gguf"]


def test_a_kept_file_that_was_damaged_is_made_whole(base: GGUFHeader, tmp_path: Path):
    folder = write_folder(tmp_path / "p", peft_tensors(base, ["attn_q"]))
    first = import_adapter(folder, base.path, tmp_path / "adapters")
    Path(first.adapter.path).write_bytes(b"gone")
    assert import_adapter(folder, base.path, tmp_path / "adapters").is_new
    assert read_header(Path(first.adapter.path)).tensors


def test_what_is_kept_is_its_owners_alone(base: GGUFHeader, starter_adapters: tuple[Path, ...], tmp_path: Path):
    imported = import_adapter(starter_adapters[0], base.path, tmp_path / "adapters")
    assert stat.S_IMODE(os.stat(imported.adapter.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(tmp_path / "adapters").st_mode) == 0o700


def test_links_as_the_hub_cache_has_them_are_followed(base: GGUFHeader, tmp_path: Path):
    blobs = write_folder(tmp_path / "blobs", peft_tensors(base, ["attn_q"]))
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    for file in blobs.iterdir():
        (snapshot / file.name).symlink_to(file)
    assert import_adapter(snapshot, base.path, tmp_path / "adapters").weights == 2


@pytest.mark.model
def test_the_runtime_loads_what_was_imported(base: GGUFHeader, tmp_path: Path):
    folder = write_folder(tmp_path / "p", peft_tensors(base), lora_alpha=0.5)
    imported = import_adapter(folder, base.path, tmp_path / "adapters", data_type="q8_0")
    with loaded(base.path) as runtime:
        tokens = runtime.encode("The capital of France is")
        without = complete(runtime, tokens, max_tokens=2)
        adapted = complete(runtime, tokens, (imported.adapter,), max_tokens=2)
    assert adapted.logprobs != without.logprobs


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        pytest.param(lambda path: None, ModelMissing, "no file or folder", id="nothing"),
        pytest.param(lambda path: path.mkdir(), BadModelFile, "adapter_config", id="empty folder"),
        pytest.param(lambda path: path.write_bytes(b"PK" + bytes(99)), BadModelFile, "not a GGUF", id="zip"),
        pytest.param(lambda path: path.write_bytes(b"GGUF"), BadModelFile, "only 4 bytes", id="tiny"),
        pytest.param(lambda path: os.mkfifo(path), ModelMissing, "no model file", id="pipe"),
    ],
)
def test_C1_what_is_no_adapter_is_refused_and_leaves_nothing(
    base: GGUFHeader, tmp_path: Path, make: Callable[[Path], object], error: type[AgentError], says: str
):
    make(tmp_path / "source")
    with pytest.raises(error, match=says) as caught:
        import_adapter(tmp_path / "source", base.path, tmp_path / "adapters")
    assert caught.value.hint and kept(tmp_path / "adapters") == []


def test_a_base_is_no_adapter(base: GGUFHeader, tmp_path: Path):
    with pytest.raises(BadModelFile, match="not a LoRA adapter"):
        import_adapter(base.path, base.path, tmp_path / "adapters")


@pytest.mark.parametrize("name", ["adapter_model.safetensors", "adapter_config.json"])
def test_a_file_of_a_PEFT_folder_names_the_folder(base: GGUFHeader, tmp_path: Path, name: str):
    folder = write_folder(tmp_path / "p", peft_tensors(base, ["attn_q"]))
    with pytest.raises(BadModelFile) as caught:
        import_adapter(folder / name, base.path, tmp_path / "adapters")
    assert str(folder) in caught.value.hint


def test_a_folder_of_gguf_files_names_one(base: GGUFHeader, starter_adapters: tuple[Path, ...], tmp_path: Path):
    with pytest.raises(BadModelFile) as caught:
        import_adapter(starter_adapters[0].parent, base.path, tmp_path / "adapters")
    assert "L0.gguf" in caught.value.hint


def test_C3_an_adapter_for_another_base_is_refused(
    base: GGUFHeader, tiny_moe: Path, tiny_moe_adapters: tuple[Path, ...], tmp_path: Path
):
    with pytest.raises(AdapterMismatch, match="qwen35moe"):
        import_adapter(tiny_moe_adapters[0], base.path, tmp_path / "adapters")
    assert import_adapter(tiny_moe_adapters[0], tiny_moe, tmp_path / "adapters").kind == "gguf"
    folder = write_folder(tmp_path / "p", peft_tensors(base, ["attn_q"]))
    with pytest.raises(AdapterMismatch, match="qwen35moe"):
        import_adapter(folder, tiny_moe, tmp_path / "adapters")


def test_C1_an_adapter_on_a_shared_embedding_is_refused_because_llama_cpp_would_abort(base: GGUFHeader, tmp_path: Path):
    # The lookup's pair lies transposed; llama.cpp multiplies with it as it is where the embedding is also the head.
    inputs, tokens = base.tensors["token_embd.weight"].shape
    pair = LoraPair(np.ones((tokens, 4), np.float32), np.ones((inputs, 4), np.float32), 8.0)
    pairs = {"token_embd.weight": pair}
    write_lora(tmp_path / "a.gguf", pairs, architecture="llama", data_type="f16", metadata={})
    with pytest.raises(AdapterMismatch, match="embedding"):
        import_adapter(tmp_path / "a.gguf", base.path, tmp_path / "adapters")
    assert kept(tmp_path / "adapters") == []


@pytest.mark.parametrize("kind", ["F32", "F16", "BF16", "Q8_0"])
def test_a_gguf_adapter_with_a_value_that_is_no_number_is_refused(base: GGUFHeader, tmp_path: Path, kind: str):
    inputs, outputs = base.tensors["blk.0.attn_q.weight"].shape
    a_rI, b_Or = np.ones((32, inputs), np.float32), np.ones((outputs, 32), np.float32)
    path = write_pair(tmp_path / "good.gguf", "blk.0.attn_q.weight", a_rI, b_Or, kind)
    assert import_adapter(path, base.path, tmp_path / "adapters").is_new
    b_Or[-1, -1] = np.nan
    with np.errstate(invalid="ignore"):
        path = write_pair(tmp_path / "bad.gguf", "blk.0.attn_q.weight", a_rI, b_Or, kind)
    with pytest.raises(BadModelFile, match=r"blk\.0\.attn_q\.weight\.lora_b holds values"):
        import_adapter(path, base.path, tmp_path / "adapters")
    assert len(kept(tmp_path / "adapters")) == 1


def write_pair(path: Path, name: str, a_rI: np.ndarray, b_Or: np.ndarray, kind: str) -> Path:
    """A llama adapter of one pair in any type, without any check."""
    number_type = gguf.GGMLQuantizationType[kind]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 8.0)
    for end, values in (("lora_a", a_rI), ("lora_b", b_Or)):
        writer.add_tensor(f"{name}.{end}", gguf.quantize(values, number_type), raw_dtype=number_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_full_disk_leaves_nothing(
    base: GGUFHeader, starter_adapters: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def no_room(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfile", no_room)
    with pytest.raises(DiskFull):
        import_adapter(starter_adapters[0], base.path, tmp_path / "adapters")
    assert kept(tmp_path / "adapters") == []
