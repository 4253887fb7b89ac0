"""How much memory this machine has for a base, and whether llama.cpp was built to use its GPU.

Loads no native library: what llama.cpp was built for is told by the files beside it, the GPU by its driver's program.
"""

import importlib.util
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psutil

from app.models.fit import Machine

_GPU_LIBRARIES: Final = ("cuda", "hip", "metal", "musa", "sycl", "vulkan")
_MEBIBYTE: Final = 1 << 20
_TIMEOUT_S: Final = 5.0


def this_machine(environment: Mapping[str, str]) -> Machine:
    memory = psutil.virtual_memory()
    built_for = _built_for(_library_folder(environment))
    if "metal" in built_for and platform.machine() == "arm64":
        return Machine(memory.total, memory.available, gpu="Apple", free_gpu_bytes=memory.available, is_unified=True)
    gpu, free = _nvidia() if built_for & {"cuda", "vulkan"} else ("", 0)
    return Machine(memory.total, memory.available, gpu=gpu, free_gpu_bytes=free)


def _library_folder(environment: Mapping[str, str]) -> Path | None:
    if folder := environment.get("LLAMA_CPP_LIB_PATH"):
        return Path(folder)
    spec = importlib.util.find_spec("llama_cpp")
    return Path(spec.origin).parent / "lib" if spec and spec.origin else None


def _built_for(folder: Path | None) -> set[str]:
    names = [file.name.lower() for file in folder.glob("*ggml-*")] if folder and folder.is_dir() else []
    return {kind for kind in _GPU_LIBRARIES if any(kind in name for name in names)}


def _nvidia() -> tuple[str, int]:
    """(name, free bytes) of the GPUs together; ("", 0) where the driver tells of none."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return "", 0
    query = [program, "--query-gpu=name,memory.free", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "", 0
    return parse_nvidia(done.stdout) if done.returncode == 0 else ("", 0)


def parse_nvidia(text: str) -> tuple[str, int]:
    """One GPU a line: its name, a comma, its free memory in mebibytes. Lines that tell no number are left out."""
    found = [(name.strip(), free.strip()) for name, _, free in (line.rpartition(",") for line in text.splitlines())]
    known = [(name, int(free) * _MEBIBYTE) for name, free in found if free.isdecimal()]
    return ", ".join(name for name, _ in known), sum(free for _, free in known)
