"""Permissions straight from the store of this process: `ui.tool_shelf.ToolShelf`."""

from collections.abc import Sequence

from engine.harness.approvals import Answer, Approval, Approvals
from engine.harness.permissions import Mode
from engine.store.permits import Permit, PermitStore


class StoredTools:
    def __init__(self, permits: PermitStore, approvals: Approvals) -> None:
        self._permits, self._approvals = permits, approvals

    def approvals(self) -> Sequence[Approval]:
        return self._approvals.waiting()

    def reply(self, approval_id: str, answer: Answer) -> None:
        self._approvals.answer(approval_id, answer)

    def mode(self, conversation_id: str) -> Mode:
        return self._permits.mode(conversation_id)

    def set_mode(self, conversation_id: str, mode: Mode) -> None:
        self._permits.set_mode(conversation_id, mode)

    def permits(self) -> Sequence[Permit]:
        return self._permits.permits()

    def forget_permit(self, permission_id: int) -> None:
        self._permits.forget(permission_id)
