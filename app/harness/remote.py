"""The permissions of a host that runs: `ui.tool_shelf.ToolShelf` over HTTP."""

from collections.abc import Sequence
from typing import Any, cast

from app.host.connection import HostConnection
from engine.harness.approvals import Answer, Approval
from engine.harness.config import FolderTrust
from engine.harness.mcp import ServerStatus
from engine.harness.permissions import Mode
from engine.harness.saved_tools import KeptTool
from engine.harness.tools.values import ToolResult, ToolSpec
from engine.store.permits import Permit
from engine.store.tools import ToolVersion


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

    def tools(self) -> Sequence[ToolSpec]:
        return cast(Sequence[ToolSpec], self._call("tools"))

    def saved_tools(self) -> Sequence[KeptTool]:
        return cast(Sequence[KeptTool], self._call("saved_tools"))

    def saved_tool(self, name: str) -> KeptTool:
        return cast(KeptTool, self._call("saved_tool", name=name))

    def tool_versions(self, name: str) -> Sequence[ToolVersion]:
        return cast(Sequence[ToolVersion], self._call("tool_versions", name=name))

    def save_tool(self, name: str, source: str, example: str) -> KeptTool:
        return cast(KeptTool, self._call("save_tool", name=name, source=source, example=example))

    def approve_tool(self, name: str, version: int, approved_hash: str) -> None:
        self._call("approve_tool", name=name, version=version, approved_hash=approved_hash)

    def remove_tool(self, name: str) -> None:
        self._call("remove_tool", name=name)

    def run_tool(self, name: str, arguments: str) -> ToolResult:
        return cast(ToolResult, self._call("run_tool", name=name, arguments=arguments))

    def servers(self) -> Sequence[ServerStatus]:
        return cast(Sequence[ServerStatus], self._call("servers"))

    def start_server(self, name: str) -> ServerStatus:
        return cast(ServerStatus, self._call("start_server", name=name))

    def approve_server(self, name: str, fingerprint: str) -> None:
        self._call("approve_server", name=name, fingerprint=fingerprint)

    def approve_server_tools(self, name: str, fingerprint: str) -> None:
        self._call("approve_server_tools", name=name, fingerprint=fingerprint)

    def revoke_server(self, name: str) -> None:
        self._call("revoke_server", name=name)

    def folders(self) -> Sequence[FolderTrust]:
        return cast(Sequence[FolderTrust], self._call("folders"))

    def trust_folder(self, place: str, content_hash: str) -> None:
        self._call("trust_folder", place=place, content_hash=content_hash)

    def distrust_folder(self, place: str) -> None:
        self._call("distrust_folder", place=place)

    def _call(self, name: str, /, **arguments: Any) -> Any:
        return self._connection.call(name, **arguments)
