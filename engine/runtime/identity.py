"""Who a weights file is: its content, never its name. Light; used wherever stacks are put together."""

import hashlib
import os
from pathlib import Path
from typing import Final

from engine.errors import ModelMissing
from engine.runtime.protocol import AdapterRef

_FULL_HASH_BYTES: Final = 64 << 20
_SAMPLES: Final = 64
_SAMPLE_BYTES: Final = 1 << 20

_hashes: dict[tuple[str, int, int], str] = {}


def fingerprint(path: Path) -> str:
    """Identity of a weights file, 32 hex digits.

    Small files are hashed whole; of large ones the size and 64 evenly spaced mebibytes, so that a 20 GB base does not
    cost half a minute at every start.
    """
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        if size <= _FULL_HASH_BYTES:
            while chunk := file.read(_SAMPLE_BYTES):
                digest.update(chunk)
        else:
            for sample in range(_SAMPLES):
                file.seek(sample * (size - _SAMPLE_BYTES) // (_SAMPLES - 1))
                digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:32]


def adapter_ref(path: Path, scale: float = 1.0) -> AdapterRef:
    """Name an adapter by its content; the hash is computed once per file state and process.

    Raises: ModelMissing.
    """
    try:
        state = path.stat()
        key = (os.path.abspath(path), state.st_size, state.st_mtime_ns)
        if key not in _hashes:
            _hashes[key] = fingerprint(path)
    except OSError as error:
        raise ModelMissing(f"The adapter {path} cannot be read: {error.strerror}.", "Put the file back.") from error
    return AdapterRef(str(path), _hashes[key], scale)
