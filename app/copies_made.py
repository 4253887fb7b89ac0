"""Where copies of what was said were written to, so that forgetting can name them: one line of JSON each.

Knows backups and exports that verbs of this program wrote to a place they were given; the copies of these it cannot
know. A line that is lost loses a hint and nothing else, so a full disk is nothing to complain of.
"""

import hashlib
import json
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from app.files import private_opener, write_private
from app.paths import Paths

_MOST_LINES: Final = 10_000


@dataclass(frozen=True, slots=True)
class CopyMade:
    kind: Literal["backup", "export"]
    path: str
    """Absolute."""
    made_at: str
    """ISO 8601, UTC."""
    conversations: tuple[str, ...] = ()
    """Those in it; empty for all."""

    @property
    def digest(self) -> str:
        """Names the line, without saying what is in it: files are called after titles."""
        return hashlib.sha256(_line(self).encode()).hexdigest()


def note_copy(
    paths: Paths, kind: Literal["backup", "export"], files: Sequence[Path], conversations: Sequence[str] = ()
) -> None:
    """`conversations`: those in the files, for several files one each; none for all there are."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    is_one_each = len(files) == len(conversations)
    held = [(name,) for name in conversations] if is_one_each else [tuple(conversations)] * len(files)
    made = [CopyMade(kind, str(file.absolute()), now, those) for file, those in zip(files, held, strict=True)]
    with suppress(OSError), open(paths.copies, "a", encoding="utf-8", opener=private_opener) as log:
        log.writelines(_line(one) for one in made)


def copies_made(paths: Paths) -> list[CopyMade]:
    """Those whose files are still there, the oldest first; lines that are none are passed over."""
    found = []
    with suppress(OSError):
        for line in paths.copies.read_text(encoding="utf-8", errors="replace").splitlines()[-_MOST_LINES:]:
            with suppress(ValueError, KeyError, TypeError):
                value = json.loads(line)
                one = CopyMade(value["kind"], value["path"], value["made_at"], tuple(value["conversations"]))
                if os.path.lexists(one.path):
                    found.append(one)
    return found


def remove_notes(paths: Paths, digests: Collection[str]) -> None:
    """Of copies by their digests, and of those that are gone. Raises: DiskFull, AgentError."""
    if paths.copies.is_file():
        kept = [_line(one).encode() for one in copies_made(paths) if one.digest not in digests]
        write_private(paths.copies, kept, overwrite=True)


def _line(made: CopyMade) -> str:
    return json.dumps(asdict(made), ensure_ascii=False) + "\n"
