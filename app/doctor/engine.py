"""Checks of what computes: llama.cpp and the GPUs it sees, the profile and its base, and how fast they are together."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from app.bases import find_base
from app.doctor.check import Check, bad, ok, warning
from app.doctor.probing import ProbeFailed, ask_python
from app.paths import Paths
from app.profiles import load_chosen_profile
from app.settings import Settings
from app.wiring import engine_child, load_plan
from engine.errors import AgentError
from engine.routing.profile import Profile
from engine.runtime import ladder
from engine.runtime.protocol import Finished, Request

_DEVICES_S: Final = 60.0
"""The first look at a GPU after a start of the machine takes long."""
_PROBE_DEVICES: Final = """
import json
from engine.runtime.devices import can_offload, devices
found = [[device.name, device.description, device.is_gpu] for device in devices()]
print(json.dumps({"devices": found, "can_offload": can_offload()}))
"""
_REBUILD: Final = (
    'Build it for the GPU: `CMAKE_ARGS="-DGGML_{kind}=on" pip install --force-reinstall --no-cache-dir --no-binary '
    "llama-cpp-python llama-cpp-python` (needs the {kit} and a C++ compiler)."
)


@dataclass(frozen=True, slots=True)
class Built:
    """What llama.cpp was built for, and the GPUs it found: (name, description)."""

    gpus: tuple[tuple[str, str], ...]
    can_offload: bool


def llama_cpp() -> Check:
    try:
        version = metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:
        hint = "Install it: `pip install llama-cpp-python`; it needs a C++ compiler, or a wheel built elsewhere."
        return bad("llama_cpp", "llama-cpp-python is not installed", hint)
    override = os.environ.get("LLAMA_CPP_LIB_PATH")
    return ok("llama_cpp", f"llama-cpp-python {version}" + (f", library from {override}" if override else ""))


def gpu() -> Check:
    """Asked in a process of its own: drivers crash."""
    drivers = gpu_drivers()
    try:
        found = ask_python(_PROBE_DEVICES, _DEVICES_S)
        gpus = tuple((name, description) for name, description, is_gpu in found["devices"] if is_gpu)
        built = Built(gpus, bool(found["can_offload"]))
    except ProbeFailed as failure:
        return bad("gpu", f"llama.cpp cannot tell what it sees: {failure}", "Install llama-cpp-python again.")
    return judge_gpu(built, drivers)


def judge_gpu(built: Built, drivers: Sequence[str]) -> Check:
    """Whether the GPU that is there is used. `drivers`: makers of GPUs whose driver is loaded."""
    if built.gpus:
        return ok("gpu", ", ".join(f"{name} ({description})" for name, description in built.gpus))
    if not drivers:
        return ok("gpu", "none here" + ("; llama.cpp was built for one" if built.can_offload else ""))
    maker = drivers[0]
    if built.can_offload:
        return warning(
            "gpu",
            f"there is a GPU of {maker}, and llama.cpp was built for GPUs, but does not see it",
            f"Update the driver, look at CUDA_VISIBLE_DEVICES, and check that llama.cpp was built for {maker}.",
        )
    kind, kit = {"NVIDIA": ("CUDA", "CUDA toolkit"), "AMD": ("HIP", "ROCm kit"), "Apple": ("METAL", "Xcode tools")}[
        maker
    ]
    return warning(
        "gpu",
        f"there is a GPU of {maker}, but this llama.cpp was built without GPUs",
        _REBUILD.format(kind=kind, kit=kit),
    )


def gpu_drivers() -> tuple[str, ...]:
    """Makers of GPUs whose driver is loaded: NVIDIA, AMD, Apple."""
    found = {
        "NVIDIA": Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None,
        "AMD": Path("/dev/kfd").exists(),
        "Apple": sys.platform == "darwin" and platform.machine() == "arm64",
    }
    return tuple(maker for maker, is_there in found.items() if is_there)


def answering(paths: Paths, settings: Settings, profile_name: str | None, *, load: bool) -> Iterator[Check]:
    """The profile and its base; with `load` also where it runs and how fast."""
    try:
        profile = load_chosen_profile(paths, profile_name or settings.profile)
        yield ok("profile", f"{profile.name}: {len(profile.experts)} experts on {profile.base_model or 'their base'}")
        base = find_base(profile, paths)
        yield ok("base", f"{base} ({base.stat().st_size / 2**20:,.0f} MB)")
        if load:
            yield from _measured(paths, settings, profile, base)
    except AgentError as error:
        yield bad("engine", error.problem, error.hint)


def _measured(paths: Paths, settings: Settings, profile: Profile, base: Path) -> Iterator[Check]:
    """Load the base as the chat would, say where it runs, and measure it."""
    runtime = engine_child(paths)
    try:
        info, _, short = ladder.load(runtime, load_plan(profile, base, settings, paths.models))
        yield ok("backend", f"{info.backend}: {info.backend_reason}")
        if short:
            yield warning("fit", short, "Close other programs, or choose a smaller base or context.")
        prompt = runtime.encode("The quick brown fox jumps over the lazy dog. " * 12)
        for piece in runtime.generate([Request(prompt, 24)]):
            if isinstance(piece, Finished):
                usage = piece.usage
                read = usage.prompt_tokens / max(usage.prefill_ms, 1e-3) * 1000
                write = usage.completion_tokens / max(usage.decode_ms, 1e-3) * 1000
                yield ok("speed", f"reads {read:.0f} and writes {write:.0f} tokens a second")
    finally:
        runtime.close()
