"""Which servers a person allowed to start, and which list of tools of each: one small file, replaced whole.

Knows fingerprints only. A file that cannot be read approves nothing.
"""

import json
import os
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from engine.errors import StoreProblem

_VERSION: Final = 1
_MOST_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Approval:
    entry: str
    """Fingerprint of the entry that may start."""
    tools: str | None = None
    """Fingerprint of the list of tools that may be offered."""


class ApprovalStore:
    """Thread-safe. Read anew each time, so that another process may approve meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._changing = threading.Lock()

    def of(self, server: str) -> Approval | None:
        return self._read().get(server)

    def may_start(self, server: str, entry: str) -> bool:
        approval = self.of(server)
        return approval is not None and approval.entry == entry

    def may_offer(self, server: str, entry: str, tools: str) -> bool:
        return self.of(server) == Approval(entry, tools)

    def approve_entry(self, server: str, entry: str) -> None:
        """Let a server start. Its tools need to be approved again where it is another entry. Raises: StoreProblem."""

        def change(approvals: dict[str, Approval]) -> None:
            known = approvals.get(server)
            if known is None or known.entry != entry:
                approvals[server] = Approval(entry)

        self._change(change)

    def approve_tools(self, server: str, entry: str, tools: str) -> None:
        """Let exactly this list be offered. Raises: StoreProblem."""

        def change(approvals: dict[str, Approval]) -> None:
            approvals[server] = replace(approvals.get(server, Approval(entry)), entry=entry, tools=tools)

        self._change(change)

    def revoke(self, server: str) -> None:
        """Forget a server; it asks anew. Raises: StoreProblem."""
        self._change(lambda approvals: approvals.pop(server, None))

    def _read(self) -> dict[str, Approval]:
        try:
            if self._path.stat().st_size > _MOST_BYTES:
                return {}
            return _parsed(json.loads(self._path.read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError):
            return {}

    def _change(self, change: Callable[[dict[str, Approval]], Any]) -> None:
        with self._changing:
            approvals = self._read()
            change(approvals)
            servers = {server: asdict(approval) for server, approval in sorted(approvals.items())}
            text = json.dumps({"version": _VERSION, "servers": servers}, ensure_ascii=False, indent=1)
            try:
                self._write(text)
            except OSError as error:
                raise StoreProblem(
                    f"{self._path} cannot be written: {error.strerror or error}.",
                    "Free some space, or see who may write there; nothing was approved or revoked.",
                ) from error

    def _write(self, text: str) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, part = tempfile.mkstemp(prefix=f".{self._path.name}.", dir=self._path.parent)  # with mode 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, self._path)
        finally:
            Path(part).unlink(missing_ok=True)


def _parsed(value: Any) -> dict[str, Approval]:
    """Raises: ValueError."""
    if not isinstance(value, dict) or value.get("version") != _VERSION or not isinstance(value.get("servers"), dict):
        raise ValueError("not a list of approvals of this version")
    found = {}
    for server, approval in value["servers"].items():
        match approval:
            case {"entry": str(entry), "tools": str() | None as tools}:
                found[server] = Approval(entry, tools)
            case _:
                raise ValueError("not an approval")
    return found
