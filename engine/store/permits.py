"""What a person has permitted or forbidden for good, and the mode of each conversation, in the store's database.

Every method is one transaction or one read and raises StoreProblem or one of its children when the disk or the file
fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, get_args

from engine.errors import UnknownName, UsageProblem
from engine.harness.permissions import Mode, Rule
from engine.store.database import Database
from engine.store.rows import writable

DEFAULT_MODE: Final[Mode] = "ask"


@dataclass(frozen=True, slots=True)
class Permit:
    """A remembered answer."""

    permission_id: int
    rule: Rule
    created_at: str
    """ISO 8601, UTC."""


class PermitStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def permits(self) -> Sequence[Permit]:
        """All of them, the newest first."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT permission_id, tool, pattern, allows, created_at FROM permissions ORDER BY permission_id DESC"
            ).fetchall()
        return tuple(
            Permit(number, Rule(tool, pattern, bool(allows)), created)
            for number, tool, pattern, allows, created in found
        )

    def remember(self, rule: Rule) -> None:
        """A later answer about the same takes the place of the earlier one."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM permissions WHERE tool = ? AND pattern = ?", [rule.tool, rule.pattern])
            connection.execute(
                "INSERT INTO permissions (tool, pattern, allows, created_at) VALUES (?, ?, ?, ?)",
                [rule.tool, writable(rule.pattern), rule.allows, now],
            )

    def forget(self, permission_id: int) -> None:
        """From now on it is asked again. Raises: UnknownName."""
        with self._database.transaction() as connection:
            changed = connection.execute("DELETE FROM permissions WHERE permission_id = ?", [permission_id]).rowcount
        if not changed:
            raise UnknownName(f"There is no permission {permission_id}.", "List them with `macaron tools permissions`.")

    def mode(self, conversation_id: str) -> Mode:
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT mode FROM conversation_modes WHERE conversation_id = ?", [conversation_id]
            ).fetchone()
        return row[0] if row else DEFAULT_MODE

    def set_mode(self, conversation_id: str, mode: Mode) -> None:
        """Raises: UsageProblem for a mode that there is not, UnknownName."""
        if mode not in get_args(Mode):
            raise UsageProblem(f"There is no mode {mode!r}.", f"Modes: {', '.join(get_args(Mode))}.")
        with self._database.transaction() as connection:
            known = connection.execute(
                "SELECT 1 FROM conversations WHERE conversation_id = ?", [conversation_id]
            ).fetchone()
            if known is None:
                raise UnknownName(
                    f"There is no conversation `{conversation_id}`.", "List them with `macaron history list`."
                )
            connection.execute(
                "INSERT INTO conversation_modes (conversation_id, mode) VALUES (?, ?)"
                " ON CONFLICT (conversation_id) DO UPDATE SET mode = excluded.mode",
                [conversation_id, mode],
            )
