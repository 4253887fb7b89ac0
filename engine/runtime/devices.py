"""Where llama.cpp can compute on this machine, in words, and why it computes where it does."""

import ctypes
from dataclasses import dataclass
from typing import Any, Final

from engine.errors import RuntimeFailed
from engine.runtime.binding import lib

_CPU: Final = 0
_GPU_TYPES: Final = frozenset({1, 2})  # dedicated and integrated


@dataclass(frozen=True, slots=True)
class Device:
    name: str
    """As llama.cpp calls it, such as CPU, CUDA0, Metal or Vulkan0."""
    description: str
    is_gpu: bool


def devices() -> tuple[Device, ...]:
    """All devices llama.cpp was built for and found."""
    found = []
    for index in range(_call("ggml_backend_dev_count", ctypes.c_size_t)()):
        device = _call("ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t)(index)
        name, description = (
            _call(f"ggml_backend_dev_{what}", ctypes.c_char_p, ctypes.c_void_p)(device) or b""
            for what in ("name", "description")
        )
        kind = _call("ggml_backend_dev_type", ctypes.c_int, ctypes.c_void_p)(device)
        found.append(
            Device(name.decode("utf-8", "replace"), description.decode("utf-8", "replace"), kind in _GPU_TYPES)
        )
    return tuple(found)


def can_offload() -> bool:
    """Whether this llama.cpp was built for any GPU."""
    return bool(lib.llama_supports_gpu_offload())


def backend(
    found: tuple[Device, ...], gpu_layers: int, writing: int, reading: int, *, can_offload: bool
) -> tuple[str, str]:
    """(where the layers are computed, why), for the user."""
    gpus = [device for device in found if device.is_gpu]
    processor = next((device.description for device in found if not device.is_gpu and device.description), "CPU")
    used = f"{writing} thread{'s' if writing > 1 else ''}" + (f", {reading} to read" if reading != writing else "")
    on_cpu = f"CPU, {used} ({processor})"
    if gpus and gpu_layers != 0:
        names = ", ".join(f"{device.name} ({device.description})" for device in gpus)
        return names, "llama.cpp found it" if gpu_layers < 0 else f"llama.cpp found it; it takes {gpu_layers} layers"
    if gpus:
        return on_cpu, f"a GPU is there ({gpus[0].description}), but the plan keeps all layers on the CPU"
    if can_offload:
        return on_cpu, "llama.cpp was built for a GPU, but found none"
    return on_cpu, "this llama.cpp was built without a GPU backend"


def buffer_type_handle(name: str) -> int:
    """llama.cpp's buffer type of the device of this name, such as "CPU".

    Raises: RuntimeFailed when there is no such device.
    """
    device = _call("ggml_backend_dev_by_name", ctypes.c_void_p, ctypes.c_char_p)(name.encode())
    if not device:
        known = ", ".join(found.name for found in devices())
        raise RuntimeFailed(f"There is no device {name} to put tensors on.", f"Choose one of {known}.")
    return int(_call("ggml_backend_dev_buffer_type", ctypes.c_void_p, ctypes.c_void_p)(device))


def _call(name: str, result: Any, *arguments: Any) -> Any:
    # Through libllama, which knows the ggml it was linked with, wherever that lies.
    function = ctypes.CDLL(lib._lib._name)[name]
    function.restype, function.argtypes = result, list(arguments)
    return function
