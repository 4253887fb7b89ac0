"""The header reader on real files and on broken ones: always a clear refusal, never a crash."""

import random
import struct
import time
from pathlib import Path

import gguf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.assets import asset_path
from engine.errors import AdapterMismatch, BadModelFile, ModelMissing
from engine.runtime.gguf import ArrayInfo, check_adapter, check_base, read_header
from engine.runtime.identity import adapter_ref, fingerprint
from tests.support.adapters import write_random_adapter
from tests.support.corpus import ARRAY, I32, LOOKUP, TEXT, U32, take_apart


@pytest.mark.parametrize("base", ["starter_base", "tiny_moe"])
def test_the_header_agrees_with_the_reference_reader(base: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(base)
    header = read_header(path)
    reference = gguf.GGUFReader(path)
    assert header.architecture == reference.fields["general.architecture"].contents()
    assert {name: info.size_bytes for name, info in header.tensors.items()} == {
        tensor.name: tensor.n_bytes for tensor in reference.tensors
    }
    assert all(
        header.header_bytes + header.tensors[tensor.name].offset == tensor.data_offset for tensor in reference.tensors
    )
    check_base(header)


def test_an_adapter_fits_the_base_it_was_made_for(starter_base: Path, starter_adapters: tuple[Path, ...]) -> None:
    base = read_header(starter_base)
    for adapter in starter_adapters:
        check_adapter(read_header(adapter), base)


def test_an_adapter_for_another_architecture_is_refused(
    starter_base: Path, tiny_moe_adapters: tuple[Path, ...]
) -> None:
    with pytest.raises(AdapterMismatch, match="qwen35moe"):
        check_adapter(read_header(tiny_moe_adapters[0]), read_header(starter_base))


def test_a_base_is_no_adapter_and_an_adapter_no_base(tiny_moe: Path, tiny_moe_adapters: tuple[Path, ...]) -> None:
    base, adapter = read_header(tiny_moe), read_header(tiny_moe_adapters[0])
    with pytest.raises(BadModelFile, match="not a LoRA adapter"):
        check_adapter(base, base)
    with pytest.raises(BadModelFile, match="not a base"):
        check_base(adapter)


def _adapter(path: Path, tensors: dict[str, tuple[int, ...]]) -> Path:
    """An adapter file for qwen35moe with zero tensors of these shapes (numpy order)."""
    import numpy as np

    writer = gguf.GGUFWriter(path, "qwen35moe")
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 16.0)
    for name, shape in tensors.items():
        writer.add_tensor(name, np.zeros(shape, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


EXPERTS = "blk.0.ffn_gate_exps.weight"


@pytest.mark.parametrize(
    ("tensors", "problem"),
    [
        ({f"{EXPERTS}.lora_a": (4, 8, 64), f"{EXPERTS}.lora_b": (4, 32, 8)}, "numbers of experts"),
        ({f"{EXPERTS}.lora_a": (8, 8, 65), f"{EXPERTS}.lora_b": (8, 32, 8)}, "65 by 32"),
        ({f"{EXPERTS}.lora_a": (8, 8, 64), f"{EXPERTS}.lora_b": (8, 32, 4)}, "do not belong together"),
        ({f"{EXPERTS}.lora_a": (8, 8, 64)}, "only one half"),
        ({"blk.9.attn_q.weight.lora_a": (8, 64), "blk.9.attn_q.weight.lora_b": (64, 8)}, "does not exist"),
        ({"blk.0.attn_norm.weight.lora_a": (8, 64), "blk.0.attn_norm.weight.lora_b": (64, 8)}, "not a matrix"),
    ],
    ids=["expert count", "width", "rank", "half a pair", "unknown tensor", "a vector"],
)
def test_an_adapter_that_does_not_fit_is_refused_with_the_tensor_and_the_reason(
    tmp_path: Path, tiny_moe: Path, tensors: dict[str, tuple[int, ...]], problem: str
) -> None:
    base = read_header(tiny_moe)
    shape = base.tensors[EXPERTS].shape
    assert shape == (64, 32, 8), "the shapes above are made for this base"
    with pytest.raises(AdapterMismatch, match=problem):
        check_adapter(read_header(_adapter(tmp_path / "adapter.gguf", tensors)), base)


def test_an_empty_adapter_is_refused(tmp_path: Path, tiny_moe: Path) -> None:
    with pytest.raises(BadModelFile, match="no LoRA weights"):
        check_adapter(read_header(_adapter(tmp_path / "adapter.gguf", {})), read_header(tiny_moe))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="nowhere"):
        read_header(tmp_path / "nowhere.gguf")


def _with_counts(data: bytes, tensors: int, values: int) -> bytes:
    return data[:8] + struct.pack("<QQ", tensors, values) + data[24:]


@pytest.mark.parametrize(
    "broken",
    [
        lambda data: b"",
        lambda data: data[:30],
        lambda data: b"GGML" + data[4:],
        lambda data: data[:4] + struct.pack("<I", 1) + data[8:],
        lambda data: data[:4] + struct.pack("<I", 99) + data[8:],
        lambda data: _with_counts(data, 2**63, 1),
        lambda data: _with_counts(data, 1, 2**63),
        lambda data: data[:24] + struct.pack("<Q", 2**62) + data[32:],
        lambda data: data[:-100],
        lambda data: data[: len(data) // 2],
    ],
    ids=["empty", "30 bytes", "magic", "v1", "v99", "2^63 tensors", "2^63 values", "huge key", "short", "half"],
)
def test_a_broken_file_is_refused(tmp_path: Path, tiny_moe: Path, broken: object) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(broken(tiny_moe.read_bytes()))  # type: ignore[operator]
    with pytest.raises(BadModelFile):
        read_header(path)


def test_random_damage_to_the_header_is_refused_or_harmless(tmp_path: Path, tiny_moe: Path) -> None:
    original = tiny_moe.read_bytes()
    header_bytes = read_header(tiny_moe).header_bytes
    source = random.Random(20261129)
    path = tmp_path / "damaged.gguf"
    refused = 0
    for _ in range(150):
        data = bytearray(original)
        for _ in range(source.randint(1, 4)):
            data[source.randrange(header_bytes)] = source.randrange(256)
        path.write_bytes(data)
        try:
            header = read_header(path)
        except BadModelFile:
            refused += 1
            continue
        assert all(header.header_bytes + t.offset + t.size_bytes <= len(data) for t in header.tensors.values())
    assert refused > 30


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(), st.sampled_from([b"", b"GGUF\x03\0\0\0", b"GGUF\x03\0\0\0" + struct.pack("<QQ", 1, 1)]))
def test_any_bytes_are_refused(tmp_path: Path, data: bytes, start: bytes) -> None:
    path = tmp_path / "any.gguf"
    path.write_bytes(start + data)
    with pytest.raises(BadModelFile):
        check_base(read_header(path))


def test_a_large_vocabulary_is_read_in_no_time(tmp_path: Path, tiny_moe: Path) -> None:
    count = 250_000
    parts = take_apart(tiny_moe)
    parts.set("tokenizer.ggml.tokens", TEXT, [f"token {number}" for number in range(count)])
    parts.set("tokenizer.ggml.merges", TEXT, [f"left{number} right" for number in range(count)])
    parts.set("tokenizer.ggml.token_type", I32, [1] * count)
    parts.tensors[LOOKUP].shape = [64, count]
    parts.tensors[LOOKUP].data = bytes(64 * 4 * count)
    path = tmp_path / "large.gguf"
    path.write_bytes(parts.to_bytes())

    started = time.process_time()
    header = read_header(path)
    check_base(header)
    assert time.process_time() - started < 0.5
    assert header.metadata["tokenizer.ggml.tokens"] == ArrayInfo("STRING", count, count)


def test_a_header_longer_than_any_real_one_is_refused_without_reading_on(tmp_path: Path, tiny_moe: Path) -> None:
    parts = take_apart(tiny_moe)
    parts.values[b"general.odd"] = struct.pack("<IIQ", ARRAY, 0, 200 << 20)
    path = tmp_path / "endless.gguf"
    path.write_bytes(parts.header())
    with path.open("r+b") as file:
        file.truncate(1 << 36)
    started = time.process_time()
    with pytest.raises(BadModelFile, match="header is longer"):
        read_header(path)
    assert time.process_time() - started < 2.0


def test_a_file_that_may_not_be_read_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "locked.gguf"
    path.write_bytes(bytes(100))

    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    # The owner of these tests may be root, whom no file mode stops.
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(BadModelFile, match="Permission denied"):
        read_header(path)


def _headed(heads: dict[str, object], path: Path, tiny_moe: Path) -> Path:
    parts = take_apart(tiny_moe)
    for key, content in heads.items():
        parts.set(f"qwen35moe.attention.{key}", U32, content)
    path.write_bytes(parts.to_bytes())
    return path


@pytest.mark.parametrize(
    "heads",
    [
        {"head_count": [4, 4, 4, 4]},
        {"head_count_kv": [0, 0, 0, 2]},
        {"head_count": [4, 4, 4, 4], "head_count_kv": [0, 0, 0, 2]},
        {"head_count": 4, "head_count_kv": 1},
    ],
    ids=["heads", "key heads", "both", "one key head"],
)
def test_numbers_that_differ_from_block_to_block_are_accepted(
    tmp_path: Path, tiny_moe: Path, heads: dict[str, object]
) -> None:
    check_base(read_header(_headed(heads, tmp_path / "heads.gguf", tiny_moe)))


def test_the_embedder_can_be_a_base_of_its_own_kind() -> None:
    check_base(read_header(asset_path("embedder", "all-MiniLM-L6-v2-Q8_0.gguf")))


def test_identity_is_the_content_not_the_name(tmp_path: Path, tiny_moe: Path) -> None:
    first = write_random_adapter(tiny_moe, tmp_path / "one.gguf", seed=1)
    moved = tmp_path / "moved.gguf"
    moved.write_bytes(first.read_bytes())
    other = write_random_adapter(tiny_moe, tmp_path / "two.gguf", seed=2)
    assert adapter_ref(first).content_hash == adapter_ref(moved).content_hash == fingerprint(first)
    assert adapter_ref(first).content_hash != adapter_ref(other).content_hash


def test_a_changed_file_has_another_identity(tmp_path: Path, tiny_moe: Path) -> None:
    path = write_random_adapter(tiny_moe, tmp_path / "one.gguf", seed=1)
    before = adapter_ref(path).content_hash
    write_random_adapter(tiny_moe, path, seed=2)
    assert adapter_ref(path).content_hash != before
