"""The one door to llama.cpp: imports the low-level binding, checks that it fits the library, and keeps its log.

The binding passes C structs by value. A library built from another commit may have moved a field, and then a flag
lands silently in the wrong place; so the defaults the library fills in are compared with those we know.
"""

import ctypes
import logging
import os
import platform
import sys
from collections import deque
from typing import Any, Final

from engine.errors import BindingMismatch

# OpenMP reads this when the library is loaded. Waiting threads that spin collapse on a busy two-core machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

try:
    import llama_cpp.llama_cpp as lib
except (ImportError, OSError, RuntimeError, AttributeError) as error:
    _override = os.environ.get("LLAMA_CPP_LIB_PATH")
    if _override:
        raise BindingMismatch(
            f"llama.cpp could not be loaded from {_override}: {error}",
            "Unset LLAMA_CPP_LIB_PATH, or point it to a folder with a matching libllama and libggml (see the README).",
        ) from error
    raise BindingMismatch(
        f"llama.cpp could not be loaded: {error}",
        "Install it with `pip install --force-reinstall --no-cache-dir llama-cpp-python`; it needs a C++ compiler. "
        "Without one, install a wheel that was built on another machine (see the README).",
    ) from error

__all__ = ["AbortFlag", "LogTail", "check_binding", "extensions", "lib", "start"]

_logger = logging.getLogger(__name__)

_CONTEXT_DEFAULTS: Final = {
    "n_ctx": 512,
    "n_batch": 2048,
    "n_ubatch": 512,
    "n_seq_max": 1,
    "n_rs_seq": 0,
    "ctx_type": 0,
    "type_k": 1,
    "type_v": 1,
    "embeddings": False,
    "offload_kqv": True,
    "no_perf": True,
    "op_offload": True,
    "swa_full": True,
    "kv_unified": False,
    "n_samplers": 0,
}
_MODEL_DEFAULTS: Final = {
    "vocab_only": False,
    "check_tensors": False,
    "use_extra_bufts": True,
    "no_alloc": False,
    "load_mtp": False,
}

_WATCHED_BYTES: Final = 1024
_LARGEST_PADDING: Final = 7
"""A struct may end with bytes that nobody fills in."""

_ERROR_LEVEL: Final = 4
_WARN_LEVEL: Final = 3


class LogTail:
    """The last warnings and errors of llama.cpp, so that a failure can be explained."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=20)
        self._callback = lib.llama_log_callback(self._on_line)  # must outlive the library's use of it
        lib.llama_log_set(self._callback, ctypes.c_void_p())

    def _on_line(self, level: int, text: bytes, _data: object) -> None:
        line = text.decode("utf-8", "replace").strip()
        if level in (_WARN_LEVEL, _ERROR_LEVEL) and line:
            self._lines.append(line)
            _logger.debug("llama.cpp: %s", line)

    def take(self) -> str:
        """What was said since the last call, newest last, on one line."""
        text = "; ".join(list(self._lines)[-3:])
        self._lines.clear()
        return text


class AbortFlag:
    """A flag that llama.cpp polls between graph nodes without entering Python.

    The callback is the C library's `strlen`: on the buffer "" it returns 0 (go on), on "x" it returns 1 (abort). A
    Python callback would take the interpreter lock once per node and cost about a tenth of the decode speed.
    """

    def __init__(self) -> None:
        self._buffer = ctypes.create_string_buffer(2)
        c_library = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)
        address = ctypes.cast(c_library.strlen, ctypes.c_void_p).value
        self.callback: Any = lib.ggml_abort_callback(address or 0)
        self.data: Any = ctypes.cast(self._buffer, ctypes.c_void_p)

    def set(self) -> None:
        self._buffer[0] = b"x"

    def clear(self) -> None:
        self._buffer[0] = b"\0"


def check_binding() -> None:
    """Raises: BindingMismatch when the loaded library's structs are not those of the binding."""
    for struct, function, expected in (
        ("llama_context_params", "llama_context_default_params", _CONTEXT_DEFAULTS),
        ("llama_model_params", "llama_model_default_params", _MODEL_DEFAULTS),
    ):
        params: Any = getattr(lib, function)()
        for name, value in expected.items():
            found = getattr(params, name, None)
            if found != value:
                raise _mismatch(f"{struct}.{name} is {found}, not {value}")
        size, written = ctypes.sizeof(params), _written_bytes(function)
        if written is not None and not size - _LARGEST_PADDING <= written <= size:
            raise _mismatch(f"{struct} has {written} bytes in the library and {size} in the binding")


def extensions() -> Any:
    """The bindings of functions that llama.cpp does not promise to keep.

    Raises: BindingMismatch when this library has not got them.
    """
    try:
        import llama_cpp.llama_cpp_ext as found
    except (ImportError, AttributeError) as error:
        raise BindingMismatch(
            f"This llama.cpp library cannot draft ahead: {error}", "Load the base without draft tokens."
        ) from error
    return found


def _written_bytes(function: str) -> int | None:
    """How many bytes the library fills in when it returns this struct; None where that cannot be watched.

    On x86-64 a large struct is returned through a pointer passed like a first argument, so a buffer of our own, filled
    with a pattern, shows the size the library was compiled with.
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        return None
    pattern = b"\xa7"
    buffer = ctypes.create_string_buffer(pattern * _WATCHED_BYTES, _WATCHED_BYTES)
    # A handle of its own: the binding's keeps the types that the rest of the program relies on.
    fill = getattr(ctypes.CDLL(lib._lib._name), function)
    fill.argtypes, fill.restype = [ctypes.c_void_p], None
    fill(buffer)
    return len(buffer.raw.rstrip(pattern))


def _mismatch(detail: str) -> BindingMismatch:
    return BindingMismatch(
        f"The llama.cpp library does not match its binding: {detail}.",
        "Reinstall llama-cpp-python 0.3.36 or newer, or unset LLAMA_CPP_LIB_PATH.",
    )


_log: LogTail | None = None


def start() -> LogTail:
    """Initialise llama.cpp once per process and return its log."""
    global _log
    if _log is None:
        check_binding()
        lib.llama_backend_init()
        _log = LogTail()
    return _log
