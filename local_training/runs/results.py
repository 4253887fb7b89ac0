"""Adapters of a run at rest: the expert's frozen one as the trainer reads it, and the result where it is found."""

import os
import shutil
from pathlib import Path

from engine.adapters.converting import gguf_to_peft, peft_to_gguf
from engine.adapters.files import part_of, settle, written
from engine.runtime.gguf import read_header
from local_training.policy import Policy
from local_training.runs.folder import Frozen, RunFolder


def expert_folder(folder: RunFolder, frozen: Frozen) -> Path | None:
    """The expert's adapter as a PEFT folder, converted back from the file that serves; None where it has none.

    Raises: BadModelFile, AdapterMismatch, DiskFull, AgentError.
    """
    if not frozen.expert_adapter:
        return None
    target = folder.inputs / "expert"
    if not target.is_dir():
        part = folder.inputs / ".part-expert"
        with written(target):
            shutil.rmtree(part, ignore_errors=True)
        gguf_to_peft(Path(frozen.expert_adapter), read_header(Path(frozen.base)), part)
        with written(target):
            os.replace(part, target)
    return target


def put_result(folder: RunFolder, frozen: Frozen, policy: Policy) -> None:
    """The trained adapter as PEFT has it, and beside it as the engine has it. Raises: DiskFull, AgentError."""
    with written(folder.adapter):
        shutil.rmtree(folder.adapter, ignore_errors=True)
    policy.save(folder.adapter)
    with part_of(folder.path) as part:
        peft_to_gguf(folder.adapter, read_header(Path(frozen.base)), part)
        with written(folder.adapter_gguf):
            settle(part, folder.adapter_gguf)
    shutil.rmtree(folder.work, ignore_errors=True)
