"""All a face may do with tools and permissions. Needs no model."""

from collections.abc import Sequence
from typing import Protocol

from engine.harness.approvals import Answer, Approval
from engine.harness.config import FolderTrust
from engine.harness.mcp import ServerStatus
from engine.harness.permissions import Mode
from engine.harness.saved_tools import KeptTool
from engine.harness.tools.values import ToolResult, ToolSpec
from engine.store.permits import Permit
from engine.store.tools import ToolVersion


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

    def tools(self) -> Sequence[ToolSpec]:
        """Those there are beside the saved ones, whether they are switched on or not."""
        ...

    def saved_tools(self) -> Sequence[KeptTool]:
        """Those that a model or a person wrote, as they stand now, by name."""
        ...

    def saved_tool(self, name: str) -> KeptTool:
        """Raises: UnknownName."""
        ...

    def tool_versions(self, name: str) -> Sequence[ToolVersion]:
        """The newest first. Raises: UnknownName where there never was one."""
        ...

    def save_tool(self, name: str, source: str, example: str) -> KeptTool:
        """The next version, written by the user, once its example has passed; it still waits to be approved.

        Raises: UsageProblem, which says why it is no tool; RuntimeFailed without a sandbox.
        """
        ...

    def approve_tool(self, name: str, version: int, approved_hash: str) -> None:
        """Offer it as it was shown. Raises: UnknownName; UsageProblem where it has changed meanwhile."""
        ...

    def remove_tool(self, name: str) -> None:
        """Raises: UnknownName."""
        ...

    def run_tool(self, name: str, arguments: str) -> ToolResult:
        """The user runs it themselves, approved or not, in the sandbox and without other tools; `arguments` are JSON.

        Raises: UnknownName, UsageProblem.
        """
        ...

    def servers(self) -> Sequence[ServerStatus]:
        """The MCP servers of the configuration, also those that it should not have; starts none."""
        ...

    def start_server(self, name: str) -> ServerStatus:
        """Start it, or start it again, and wait until it has listed its tools: up to a minute.

        Raises: UnknownName; UsageProblem where it may not start; ServerFailed.
        """
        ...

    def approve_server(self, name: str, fingerprint: str) -> None:
        """Let it start, exactly as it was shown. Raises: UnknownName; UsageProblem where it has changed meanwhile."""
        ...

    def approve_server_tools(self, name: str, fingerprint: str) -> None:
        """Offer its tools, exactly as shown. Raises: UnknownName; UsageProblem where they have changed meanwhile."""
        ...

    def revoke_server(self, name: str) -> None:
        """End it and forget that it was approved. Raises: UnknownName."""
        ...

    def folders(self) -> Sequence[FolderTrust]:
        """Granted folders that bring configuration, and all that are trusted."""
        ...

    def trust_folder(self, place: str, content_hash: str) -> None:
        """Use what it brings, exactly as it was shown. Raises: UnknownName; UsageProblem where it has changed since."""
        ...

    def distrust_folder(self, place: str) -> None:
        """Raises: UnknownName where it was not trusted."""
        ...
