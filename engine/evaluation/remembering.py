"""Results that need not be measured again: one JSON file each, named after everything that they depend on.

Losing one costs time and nothing else, so a damaged file counts as absent, and a full disk as nothing to complain of.
"""

import hashlib
import json
import os
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from engine.adapters.files import put
from engine.errors import AgentError
from engine.evaluation.reading import Bench
from engine.runtime import wire
from engine.runtime.protocol import AdapterStack

T = TypeVar("T")

_MOST_FILES: Final = 1000
"""A few dozen references with all their suites; those used least recently go first."""


def key_of(bench: Bench, stack: AdapterStack, what: str, content_hash: str) -> str:
    """Everything that the result of `what` depends on, as one line. `content_hash` is of what is read."""
    info = bench.mixture.info
    facts = {
        "what": what,
        "content": content_hash,
        "base": info.base_hash,
        "stack": [[adapter.content_hash, adapter.scale] for adapter in stack],
        "expert": bench.expert,
        "harness": bench.harness.version,
        # The same sums, but not in the same order: near-ties may fall to the other side.
        "computed": [info.backend.partition(",")[0], _engine_version()],
    }
    return json.dumps(facts, sort_keys=True)


class Remembered:
    """A folder of results, made when the first is kept. Kept ones are found by the same key and type."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, key: str, kind: type[T]) -> T | None:
        path = self._path(key)
        try:
            stored = json.loads(path.read_bytes())
            if stored["key"] != key or stored["sha256"] != _digest(stored["result"]):
                return None
            result = wire.from_plain(kind, stored["result"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError, wire.WireError):
            return None
        with suppress(OSError):
            os.utime(path)
        return cast(T, result)

    def keep(self, key: str, result: Any) -> None:
        plain = json.loads(json.dumps(wire.to_plain(result)))
        content = json.dumps({"key": key, "sha256": _digest(plain), "result": plain}).encode()
        with suppress(AgentError):
            put(self._path(key), [content])
        self._forget_oldest()

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"

    def _forget_oldest(self) -> None:
        # Another process may do the same at the same time.
        with suppress(OSError):
            files = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
            for path in files[_MOST_FILES:]:
                path.unlink(missing_ok=True)


def _digest(plain: Any) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _engine_version() -> str:
    try:
        return version("llama_cpp_python")
    except PackageNotFoundError:  # built in place, or bundled without its metadata
        return ""
