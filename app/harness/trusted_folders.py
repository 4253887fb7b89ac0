"""Which folders a person trusts, each by the hash of what it held then: one small file in the home.

Keeps hashes only. Where the file is missing or cannot be understood, nothing is trusted.
"""

import json
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from app.files import write_private
from engine.errors import UsageProblem
from engine.strict_json import loads

FILE_NAME: Final = "trusted-folders.json"
MOST_FOLDERS: Final = 1_000
_FORMAT: Final = 1
_MOST_BYTES: Final = 1 << 20
_HASH: Final = re.compile(r"[0-9a-f]{64}")


class TrustedFolders:
    """Thread-safe within a process; a home belongs to one process at a time."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()

    def hashes(self) -> Mapping[str, str]:
        """The content hash every trusted folder had, by its path.

        Raises: UsageProblem when the file is damaged.
        """
        try:
            with self._file.open("rb") as opened:
                data = opened.read(_MOST_BYTES + 1)
            return _checked(loads(data.decode("utf-8")))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise UsageProblem(
                f"{self._file} cannot be read: {error.strerror}, so no folder is trusted.", "Check its permissions."
            ) from error
        except ValueError as error:
            raise UsageProblem(
                f"{self._file} is damaged, so no folder is trusted: {error}.",
                "Remove it, and trust the folders again when you are asked.",
            ) from error

    def trust(self, place: str, content_hash: str) -> None:
        """Trust the folder as long as its hash is this one. Raises: UsageProblem, DiskFull, AgentError."""
        with self._lock:
            hashes = {**self.hashes(), place: content_hash}
            if len(hashes) > MOST_FOLDERS:
                raise UsageProblem(
                    f"{MOST_FOLDERS} folders are trusted already.", "Take the trust from some that you no longer use."
                )
            self._write(hashes)

    def distrust(self, place: str) -> bool:
        """Whether there was a trust to take. Raises: UsageProblem, DiskFull, AgentError."""
        with self._lock:
            hashes = dict(self.hashes())
            if hashes.pop(place, None) is None:
                return False
            self._write(hashes)
            return True

    def _write(self, hashes: Mapping[str, str]) -> None:
        content = {"format": _FORMAT, "folders": dict(sorted(hashes.items()))}
        write_private(self._file, [json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n"], overwrite=True)


def _checked(value: Any) -> Mapping[str, str]:
    """Raises: ValueError, with the reason as a clause."""
    if not isinstance(value, dict) or set(value) != {"format", "folders"} or not isinstance(value["folders"], dict):
        raise ValueError("it holds no `format` and `folders`")
    if value["format"] != _FORMAT:
        raise ValueError(f"it has the format {str(value['format'])[:20]}, which this version does not know")
    folders: dict[str, Any] = value["folders"]
    if wrong := [place for place, found in folders.items() if not isinstance(found, str) or not _HASH.fullmatch(found)]:
        raise ValueError(f"the hash of `{wrong[0][:200]}` is none")
    return folders
