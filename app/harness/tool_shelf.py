"""Tools and permissions straight from the home of this process: `ui.tool_shelf.ToolShelf`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from app.harness.home_tools import HomeTools, Toolboxes
from engine.errors import UnknownName, UsageProblem
from engine.harness.approvals import Answer, Approval
from engine.harness.config import FolderTrust
from engine.harness.mcp import Health, ServerStatus
from engine.harness.permissions import Mode
from engine.harness.repl.saving import describe
from engine.harness.repl.session import check_example, run_saved
from engine.harness.saved_tools import KeptTool, keep, said
from engine.harness.tools.values import ToolResult, ToolSpec
from engine.store.permits import Permit
from engine.store.tools import ToolVersion
from engine.strict_json import loads

_SUCH_AS: Final = """Such as '{"text": "hello"}'."""


class StoredTools:
    def __init__(self, tools: HomeTools) -> None:
        self._tools = tools

    def approvals(self) -> Sequence[Approval]:
        return self._tools.approvals.waiting()

    def reply(self, approval_id: str, answer: Answer) -> None:
        self._tools.approvals.answer(approval_id, answer)

    def mode(self, conversation_id: str) -> Mode:
        return self._tools.permits.mode(conversation_id)

    def set_mode(self, conversation_id: str, mode: Mode) -> None:
        self._tools.permits.set_mode(conversation_id, mode)

    def permits(self) -> Sequence[Permit]:
        return self._tools.permits.permits()

    def forget_permit(self, permission_id: int) -> None:
        self._tools.permits.forget(permission_id)

    def tools(self) -> Sequence[ToolSpec]:
        return self._made().specs()

    def saved_tools(self) -> Sequence[KeptTool]:
        return keep(self._tools.saved, self.tools())

    def saved_tool(self, name: str) -> KeptTool:
        self._tools.saved.get(name)
        return next(kept for kept in self.saved_tools() if kept.version.name == name)

    def tool_versions(self, name: str) -> Sequence[ToolVersion]:
        found = self._tools.saved.versions(name)
        if not found:
            raise UnknownName(f"There never was a saved tool `{name:.80}`.", "List them: `macaron tools list`.")
        return found

    def save_tool(self, name: str, source: str, example: str) -> KeptTool:
        check_example(describe(name, source, example, self.tools()))
        self._tools.saved.add(name, source, example, "user")
        return self.saved_tool(name)

    def approve_tool(self, name: str, version: int, approved_hash: str) -> None:
        kept = self.saved_tool(name)
        if (kept.version.version, kept.hash_now) != (version, approved_hash) or not approved_hash:
            raise UsageProblem(
                f"The tool {name}, or something it calls, has changed meanwhile.", "Look at it again and decide anew."
            )
        self._tools.saved.approve(name, version, approved_hash)

    def remove_tool(self, name: str) -> None:
        self._tools.saved.remove(name)

    def run_tool(self, name: str, arguments: str) -> ToolResult:
        kept = self.saved_tool(name)
        if kept.tool is None:
            raise UsageProblem(f"{name} is no tool any more: {kept.problem}", "Edit it: `macaron tools edit`.")
        if kept.tool.tools:
            raise UsageProblem(
                f"{name} calls {', '.join(kept.tool.tools)}, which only run within a conversation.",
                "Ask for it in the chat.",
            )
        result = run_saved(kept.tool, _object(arguments))
        return ToolResult(said(result), is_error=result.ending != "finished", is_tainted=False)

    def servers(self) -> Sequence[ServerStatus]:
        made = self._made()
        wrong = [ServerStatus(one.name, "", "", False, False, Health("ended", one.problem), "") for one in made.refused]
        return (*made.mcp.servers(), *wrong)

    def start_server(self, name: str) -> ServerStatus:
        mcp = self._made().mcp
        mcp.restart(name)
        return next(one for one in mcp.servers() if one.name == name)

    def approve_server(self, name: str, fingerprint: str) -> None:
        self._made().mcp.approve_entry(name, fingerprint)

    def approve_server_tools(self, name: str, fingerprint: str) -> None:
        self._made().mcp.approve_tools(name, fingerprint)

    def revoke_server(self, name: str) -> None:
        self._made().mcp.revoke(name)

    def folders(self) -> Sequence[FolderTrust]:
        return self._tools.folders()

    def trust_folder(self, place: str, content_hash: str) -> None:
        self._tools.trust_folder(place, content_hash)

    def distrust_folder(self, place: str) -> None:
        self._tools.distrust_folder(place)

    def _made(self) -> Toolboxes:
        return self._tools.toolboxes(self._tools.harnessed().config)


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = loads(text.strip() or "{}")
    except ValueError as error:
        raise UsageProblem(f"The arguments are not JSON: {error}.", _SUCH_AS) from error
    if not isinstance(value, dict):
        raise UsageProblem("The arguments are no JSON object.", _SUCH_AS)
    return value
