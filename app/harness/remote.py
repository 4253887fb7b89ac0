"""The permissions of a host that runs: `ui.tool_shelf.ToolShelf` over HTTP."""

from collections.abc import Sequence
from typing import Any, cast

from app.host.connection import HostConnection
from engine.harness.approvals import Answer, Approval
from engine.harness.permissions import Mode
from engine.store.permits import Permit


class RemoteTools:
    """Who opened the connection closes it."""

    def __init__(self, connection: HostConnection) -> None:
        self._connection = connection

    def approvals(self) -> Sequence[Approval]:
        return cast(Sequence[Approval], self._call("approvals"))

    def reply(self, approval_id: str, answer: Answer) -> None:
        self._call("reply", approval_id=approval_id, answer=answer)

    def mode(self, conversation_id: str) -> Mode:
        return cast(Mode, self._call("mode", conversation_id=conversation_id))

    def set_mode(self, conversation_id: str, mode: Mode) -> None:
        self._call("set_mode", conversation_id=conversation_id, mode=mode)

    def permits(self) -> Sequence[Permit]:
        return cast(Sequence[Permit], self._call("permits"))

    def forget_permit(self, permission_id: int) -> None:
        self._call("forget_permit", permission_id=permission_id)

    def _call(self, name: str, /, **arguments: Any) -> Any:
        return self._connection.call(name, **arguments)
