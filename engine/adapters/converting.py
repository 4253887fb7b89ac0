"""PEFT adapter to GGUF adapter for a given base, and back: read, rename, reorder, write, check. Decides nothing."""

from pathlib import Path
from typing import Final

import gguf

from engine.adapters.files import part_of, settle, written
from engine.adapters.gguf_lora import read_lora, write_lora
from engine.adapters.layout import layout_of
from engine.adapters.lora import DataType
from engine.adapters.peft_folder import read_peft, write_peft
from engine.runtime.gguf import GGUFHeader, check_adapter, read_header
from engine.runtime.identity import fingerprint

BASE_HASH_KEY: Final = "macaron.base_hash"
"""Fingerprint of the base file an adapter was converted for."""
SOURCE_KEY: Final = "macaron.source"
"""What it was converted from: "peft:" and the hash of that folder's two files."""
_MAX_NAME_CHARACTERS: Final = 200


def peft_to_gguf(folder: Path, base: GGUFHeader, target: Path, *, data_type: DataType = "f16") -> GGUFHeader:
    """Convert the PEFT adapter in `folder` for `base`; `target` is there whole or not at all.

    Raises: ModelMissing, BadModelFile when it is no adapter that can be converted, AdapterMismatch when it is one for
    another base; DiskFull, AgentError.
    """
    layout = layout_of(base)
    source = read_peft(folder)
    pairs = layout.to_tensors(source.pairs)
    metadata: dict[str, str | int] = {
        "general.base_model.count": 1,
        "general.base_model.0.name": base_name(base),
        BASE_HASH_KEY: fingerprint(base.path),
        SOURCE_KEY: f"peft:{source.content_hash}",
    }
    with part_of(target.parent) as part, written(target):
        write_lora(part, pairs, architecture=base.architecture, data_type=data_type, metadata=metadata)
        check_adapter(read_header(part), base)
        settle(part, target)
    return read_header(target)


def gguf_to_peft(adapter: Path, base: GGUFHeader, folder: Path) -> None:
    """Write the GGUF adapter as a PEFT folder, for training on from it. F16 and F32 weights keep every bit.

    Raises: ModelMissing, BadModelFile, AdapterMismatch; UsageProblem when `folder` holds an adapter already; DiskFull,
    AgentError.
    """
    header = read_header(adapter)
    check_adapter(header, base)
    modules = layout_of(base).to_modules(read_lora(header))
    write_peft(folder, modules, base_name=base_name(base))


def base_name(base: GGUFHeader) -> str:
    """The base in words, on one line."""
    name = base.metadata.get(gguf.Keys.General.NAME)
    text = name if isinstance(name, str) else base.path.stem
    return "".join(sign for sign in text if sign.isprintable())[:_MAX_NAME_CHARACTERS]
