"""Take an adapter of anybody's, in PEFT's or llama.cpp's format, into the folder of adapters if it fits a base.

The name of a file is its SHA-256, so nothing that a source is called becomes a path, and one adapter is kept once.
Knows no home, no profile and no catalogue.
"""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from engine.adapters.converting import peft_to_gguf
from engine.adapters.files import part_of, settle, written
from engine.adapters.gguf_lora import check_finite
from engine.adapters.lora import DataType
from engine.adapters.peft_config import CONFIG_FILE
from engine.adapters.peft_folder import WEIGHTS_FILE, is_peft_folder
from engine.errors import BadModelFile, ModelMissing
from engine.runtime.gguf import GGUFHeader, check_adapter, read_header
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import AdapterRef

_CHUNK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ImportedAdapter:
    adapter: AdapterRef
    kind: Literal["peft", "gguf"]
    """What it was."""
    sha256: str
    is_new: bool
    """False when the same adapter was there already."""
    size_bytes: int
    weights: int
    """How many weights of the base it changes."""
    ranks: tuple[int, int]
    """Smallest and largest."""


def import_adapter(source: Path, base: Path, folder: Path, *, data_type: DataType = "f16") -> ImportedAdapter:
    """Put the adapter at `source`, a PEFT folder or a GGUF file, into `folder`. A GGUF file is taken as it is.

    data_type: of the weights, where they are converted.

    Raises: ModelMissing, BadModelFile when it is no usable adapter, AdapterMismatch when it is one for another base;
    DiskFull, AgentError.
    """
    base_header = read_header(base)
    with part_of(folder) as part:
        if source.is_dir():
            kind: Literal["peft", "gguf"] = "peft"
            _refuse_other_folder(source)
            header = peft_to_gguf(source, base_header, part, data_type=data_type)
        else:
            kind = "gguf"
            header = _copy(source, base_header, part)
        sha256 = _sha256(part)
        target = folder / f"{sha256}.gguf"
        is_new = not (target.is_file() and _sha256(target) == sha256)
        if is_new:
            with written(target):
                settle(part, target)
    ranks = [tensor.shape[0] for name, tensor in header.tensors.items() if name.endswith(".lora_b")]
    return ImportedAdapter(
        adapter_ref(target), kind, sha256, is_new, header.size_bytes, len(ranks), (min(ranks), max(ranks))
    )


def _copy(source: Path, base: GGUFHeader, part: Path) -> GGUFHeader:
    """Checked before, so that no large file is copied in vain, and after, because it may have changed meanwhile."""
    if not source.exists():
        raise ModelMissing(f"There is no file or folder {source}.", "Give a PEFT folder or a GGUF adapter.")
    if is_peft_folder(source.parent) and source.name in (CONFIG_FILE, WEIGHTS_FILE):
        raise BadModelFile(
            f"{source.name} is one of two files of a PEFT adapter.", f"Name its folder, {source.parent}."
        )
    check_adapter(read_header(source), base)
    with written(part):
        shutil.copyfile(source, part)
    header = read_header(part)
    check_adapter(header, base)
    check_finite(header)
    return header


def _refuse_other_folder(folder: Path) -> None:
    if is_peft_folder(folder):
        return
    files = sorted(path.name for path in folder.glob("*.gguf"))
    if files:
        raise BadModelFile(f"{folder} holds no PEFT adapter.", f"Name one of its files, such as {files[0]}.")
    raise BadModelFile(
        f"{folder} holds no adapter_config.json, so it is no PEFT adapter.",
        "Choose the folder that PEFT's `save_pretrained` wrote.",
    )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with written(path), path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
