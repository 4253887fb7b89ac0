"""All a face may do with permissions: what waits for an answer, what was answered for good, a conversation's mode."""

from collections.abc import Sequence
from typing import Protocol

from engine.harness.approvals import Answer, Approval
from engine.harness.permissions import Mode
from engine.store.permits import Permit


class ToolShelf(Protocol):
    """Every call may raise `engine.AgentError`."""

    def approvals(self) -> Sequence[Approval]:
        """Calls that wait for an answer, of all turns that run, oldest first."""
        ...

    def reply(self, approval_id: str, answer: Answer) -> None:
        """Raises: UnknownName where nothing waits under this id any more."""
        ...

    def mode(self, conversation_id: str) -> Mode: ...

    def set_mode(self, conversation_id: str, mode: Mode) -> None:
        """From the next call of a tool on."""
        ...

    def permits(self) -> Sequence[Permit]:
        """The answers that count from then on, the newest first."""
        ...

    def forget_permit(self, permission_id: int) -> None:
        """It is asked again from now on."""
        ...
