"""Files that crashed the engine child: remembered by content, and refused from then on."""

import json
import logging
import os
import tempfile
import time
from pathlib import Path

from engine.errors import BadModelFile, ModelMissing
from engine.runtime.identity import adapter_ref

_logger = logging.getLogger(__name__)


class Quarantine:
    """A small JSON file, or nothing at all when there is no path. A damaged one counts as empty."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def check(self, file: str) -> None:
        """Raises: BadModelFile when a file of this content crashed the engine before."""
        known = self._read()
        identity = _identity(file) if known else None
        if identity in known:
            record = known[identity]
            raise BadModelFile(
                f"{Path(file).name} crashed the engine on {record.get('when')} and is not loaded again "
                f"({record.get('how')}).",
                f"Get the file anew. To try this very file once more, remove its entry from {self._path}.",
            )

    def add(self, file: str, how: str) -> None:
        """Remember this file and how the engine ended. A disk that cannot take it costs only the memory of it."""
        identity = _identity(file)
        if self._path is None or identity is None:
            return
        record = {"file": file, "when": time.strftime("%Y-%m-%d"), "how": how[:300]}
        try:
            self._write(self._path, {**self._read(), identity: record})
        except OSError as error:
            _logger.warning("%s crashed the engine, but that could not be written down: %s", file, error)

    def _write(self, path: Path, known: dict[str, dict[str, str]]) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, part = tempfile.mkstemp(prefix=path.name, dir=path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(known, file, indent=1)
            os.replace(part, path)
        except OSError:
            Path(part).unlink(missing_ok=True)
            raise

    def _read(self) -> dict[str, dict[str, str]]:
        if self._path is None:
            return {}
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(known, dict):
            return {}
        return {identity: record for identity, record in known.items() if isinstance(record, dict)}


def _identity(file: str) -> str | None:
    """The content's hash, computed once per file state; None when the file cannot be read."""
    try:
        return adapter_ref(Path(file)).content_hash
    except ModelMissing:
        return None


NO_QUARANTINE = Quarantine(None)
