"""How much memory this process holds for itself, and a limit on it. Mapped model files do not count."""

from contextlib import suppress

import psutil


def tells_of_memory(text: str) -> bool:
    """Whether llama.cpp's words, or the last ones of a process that died, mean that memory was short."""
    lowered = text.lower()
    return any(sign in lowered for sign in ("alloc", "out of memory", "memoryerror", "mem_buffer"))


def private_bytes() -> int:
    """Resident memory that belongs to this process alone, in bytes (without mapped files where the system tells)."""
    memory = psutil.Process().memory_info()
    return int(memory.rss - getattr(memory, "shared", 0))


def limit_private_bytes(limit: int) -> None:
    """Let allocations beyond `limit` bytes fail, where the system can do that for private memory (Linux)."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
