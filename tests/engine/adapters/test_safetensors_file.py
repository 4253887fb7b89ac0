"""Safetensors files: what is right is read as the format's own library reads it; what is wrong costs an error only."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from engine.adapters import safetensors_file
from engine.adapters.safetensors_file import read_index, read_tensor, safetensors_bytes
from engine.errors import BadModelFile, ModelMissing

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


def raw(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> Path:
    """A file with exactly this header and data, right or wrong."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


def entry(start: int, end: int, shape: list[Any] | None = None, kind: str = "F32") -> dict[str, Any]:
    return {"dtype": kind, "shape": [(end - start) // 4] if shape is None else shape, "data_offsets": [start, end]}


def test_what_the_library_writes_is_read(tmp_path: Path):
    save_file({"a": VALUES, "b": VALUES.astype(np.float16)}, tmp_path / "x", metadata={"format": "pt"})
    index = read_index(tmp_path / "x")
    assert set(index) == {"a", "b"}
    for name, number_type in (("a", np.float32), ("b", np.float16)):
        read = read_tensor(tmp_path / "x", index[name])
        assert read.dtype == number_type and np.array_equal(read, VALUES)


def test_the_library_reads_what_is_written(tmp_path: Path):
    (tmp_path / "x").write_bytes(b"".join(safetensors_bytes({"a": VALUES, "b": VALUES.T.astype(np.float16)})))
    loaded = load_file(tmp_path / "x")
    assert np.array_equal(loaded["a"], VALUES)
    assert loaded["b"].dtype == np.float16 and np.array_equal(loaded["b"], VALUES.T)


def test_bfloat16_is_widened_without_loss(tmp_path: Path):
    values = np.array([1.0, -2.5, 3.0e38, 1.0e-38, 0.0], np.float32)
    bits = (values.view(np.uint32) >> 16).astype("<u2")
    path = raw(tmp_path / "x", {"a": entry(0, 10, [5], "BF16")}, bits.tobytes())
    read = read_tensor(path, read_index(path)["a"])
    assert read.dtype == np.float32
    assert np.array_equal(read.view(np.uint32) >> 16, bits) and not (read.view(np.uint32) & 0xFFFF).any()


EIGHT = bytes(8)


@pytest.mark.parametrize(
    ("header", "data", "says"),
    [
        pytest.param(b"", b"", "header would have 0", id="nothing"),
        pytest.param(b"{", b"", "header would have 1", id="cut header"),
        pytest.param(b"\xff\xfe{}", b"", "decode", id="no text"),
        pytest.param(b"[" * 100_000, b"", "recursion", id="deep"),
        pytest.param([1], b"", "no object", id="list"),
        pytest.param(b'{"a":1,"a":2}', b"", "twice", id="repeated"),
        pytest.param({"a": 7}, b"", "not described", id="number"),
        pytest.param({"a": {"dtype": "F32", "shape": [2]}}, EIGHT, "not described", id="no offsets"),
        pytest.param({"a": entry(0, 8, [2], "F64")}, EIGHT, "type F64", id="type"),
        pytest.param({"a": entry(0, 8, [1])}, EIGHT, "cannot have 8", id="size"),
        pytest.param({"a": entry(0, 8, [-1, -2])}, EIGHT, "no usable shape", id="negative"),
        pytest.param({"a": entry(0, 8, [True, 2])}, EIGHT, "no usable shape", id="truth"),
        pytest.param({"a": entry(0, 8, [1 << 62, 1 << 62])}, EIGHT, "no usable shape", id="huge shape"),
        pytest.param({"a": entry(0, 8, [])}, EIGHT, "no usable shape", id="scalar"),
        pytest.param({"a": entry(0, 8), "b": entry(4, 12)}, bytes(12), "begins at", id="overlap"),
        pytest.param({"a": entry(0, 4), "b": entry(8, 12)}, bytes(12), "begins at", id="hole"),
        pytest.param({"a": entry(-4, 4)}, EIGHT, "cannot have", id="before"),
        pytest.param({"a": entry(0, 80)}, EIGHT, "end at byte", id="outside"),
        pytest.param({"a": entry(0, 8)}, bytes(9), "the file at", id="more"),
        pytest.param({"a\n\x1b[31m": entry(0, 8)}, EIGHT, "cannot be one", id="name"),
        pytest.param({"": entry(0, 8)}, EIGHT, "cannot be one", id="no name"),
    ],
)
def test_C1_a_hostile_or_damaged_file_is_refused(tmp_path: Path, header: Any, data: bytes, says: str):
    with pytest.raises(BadModelFile, match=says) as caught:
        read_index(raw(tmp_path / "x", header, data))
    assert caught.value.hint


@pytest.mark.parametrize("length", [1 << 20, 1 << 40, (1 << 64) - 1])
def test_C1_a_header_that_announces_more_than_there_is_takes_no_memory(tmp_path: Path, length: int):
    with pytest.raises(BadModelFile, match="header would have"):
        read_index(raw(tmp_path / "x", {}, length=length))


def test_C1_a_sparse_file_of_a_terabyte_is_refused_at_once(tmp_path: Path):
    path = raw(tmp_path / "x", b"", length=1 << 24)
    os.truncate(path, 1 << 40)
    with pytest.raises(BadModelFile, match="no safetensors file"):
        read_index(path)


def test_too_many_tensors_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(safetensors_file, "_MAX_TENSORS", 1)
    with pytest.raises(BadModelFile, match="announces 2"):
        read_index(raw(tmp_path / "x", {"a": entry(0, 4), "b": entry(4, 8)}, EIGHT))


def test_a_file_that_is_cut_while_it_is_read_is_an_error(tmp_path: Path):
    save_file({"a": VALUES}, tmp_path / "x")
    stored = read_index(tmp_path / "x")["a"]
    (tmp_path / "x").write_bytes((tmp_path / "x").read_bytes()[:-1])
    with pytest.raises(BadModelFile, match="cut short"):
        read_tensor(tmp_path / "x", stored)


def test_a_file_that_is_not_there_says_so(tmp_path: Path):
    with pytest.raises(ModelMissing):
        read_index(tmp_path / "x")
