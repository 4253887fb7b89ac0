"""Files that crashed the engine child: remembered by content, and refused from then on."""

import json
import time
from pathlib import Path

from engine.errors import BadModelFile
from engine.runtime.identity import fingerprint


class Quarantine:
    """A small JSON file, or nothing at all when there is no path."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def check(self, file: str) -> None:
        """Raises: BadModelFile when this file crashed the engine before."""
        known = self._read()
        if not known or not Path(file).is_file():
            return
        record = known.get(fingerprint(Path(file)))
        if record:
            raise BadModelFile(
                f"{Path(file).name} crashed the engine on {record['when']} and is not loaded again ({record['how']}).",
                f"Get the file anew. To try this very file once more, remove its entry from {self._path}.",
            )

    def add(self, file: str, how: str) -> None:
        if self._path is None or not Path(file).is_file():
            return
        known = self._read()
        known[fingerprint(Path(file))] = {"file": file, "when": time.strftime("%Y-%m-%d"), "how": how[:300]}
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(known, indent=1), encoding="utf-8")
        part.replace(self._path)

    def _read(self) -> dict[str, dict[str, str]]:
        if self._path is None:
            return {}
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}


NO_QUARANTINE = Quarantine(None)
