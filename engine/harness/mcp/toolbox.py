"""The tools of all MCP servers as one toolbox: synchronous and thread-safe around one thread with the event loop.

Decides what may start and what may be offered, by fingerprints that a person approved. Shows nothing and asks nobody:
it says what waits for approval, and whoever holds a face asks. The SDK is imported when the first server starts.
"""

import json
import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engine import strict_json
from engine.errors import UnknownName, UsageProblem
from engine.harness.mcp.approvals import ApprovalStore
from engine.harness.mcp.entries import Entry, SecretOf, described, fingerprint_of
from engine.harness.mcp.listing import ListedTool, Listing
from engine.harness.mcp.results import failure
from engine.harness.mcp.values import Health, Limits, ServerFailed
from engine.harness.tools.values import Invocation, Preview, ToolResult, ToolSpec
from engine.runtime.protocol import NEVER

if TYPE_CHECKING:
    from engine.harness.mcp.connection import Connection
    from engine.harness.mcp.loop_thread import LoopThread

_NOISY: Final = ("mcp", "client", "httpx2", "httpcore2")
"""Loggers of the SDK and its HTTP library. Their lines quote what servers send, and addresses with secrets in them."""
_USUAL_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server as a person decides about it."""

    name: str
    description: str
    """The exact command or address, whole, without secrets."""
    entry_fingerprint: str
    may_start: bool
    """Whether this very entry was approved."""
    may_offer: bool
    """Whether this very list of tools was approved."""
    health: Health
    printed: str
    """The last of what it printed for people."""


class McpToolbox:
    """Nothing runs before `start`; `close` ends everything it started, and so does the end of the process."""

    def __init__(
        self,
        entries: Sequence[Entry],
        approvals: ApprovalStore,
        *,
        folder: Path,
        environment: Mapping[str, str],
        secret_of: SecretOf,
        limits: Limits = _USUAL_LIMITS,
    ) -> None:
        """`folder` holds one working folder per program; of `environment`, programs get what every program needs."""
        self._entries = {entry.name: entry for entry in entries}
        self._approvals = approvals
        self._folder = folder
        self._environment = dict(environment)
        self._secret_of = secret_of
        self._limits = limits
        self._opening = threading.Lock()
        self._loop: LoopThread | None = None
        self._connections: Mapping[str, Connection] = {}
        """Replaced whole, so that any thread may read it."""
        self._begun: Mapping[str, Future[Listing]] = {}
        """The last start of each that was asked for here."""

    def start(self) -> None:
        """Begin to start every server whose entry is approved; waits for none of them."""
        for name in self._entries:
            if self._may_start(name):
                self._begin(name)

    def refresh(self, starting_s: float = 5.0) -> None:
        """Read the tools of every running server again; call it before a turn. What is wrong is told by `servers`.

        Servers are asked at the same time, and none takes longer than it may. Those that are still starting are
        waited for `starting_s`; a turn goes on without the others.
        """
        loop = self._loop
        if loop is None:
            return
        running = [one for one in self._connections.values() if one.health.state == "running"]
        listed = [loop.submit(connection.relist) for connection in running]
        wait(self._begun.values(), timeout=starting_s)
        wait(listed)

    def servers(self) -> tuple[ServerStatus, ...]:
        return tuple(self._status(name) for name in self._entries)

    def approve_entry(self, name: str, entry_fingerprint: str) -> None:
        """Let a server start, as it was shown, and begin to start it.

        Raises: UnknownName, UsageProblem, StoreProblem.
        """
        if fingerprint_of(self._entry(name)) != entry_fingerprint:
            raise UsageProblem(f"The entry of `{name}` has changed meanwhile.", "Look at it again.")
        self._approvals.approve_entry(name, entry_fingerprint)
        self._begin(name)

    def approve_tools(self, name: str, fingerprint: str) -> None:
        """Let a list of tools be offered, as it was shown. Raises: UnknownName, UsageProblem, StoreProblem."""
        entry = self._entry(name)
        listing = self._health(name).listing
        if listing is None or listing.fingerprint != fingerprint:
            raise UsageProblem(f"The tools of `{name}` have changed meanwhile.", "Look at them again.")
        self._approvals.approve_tools(name, fingerprint_of(entry), fingerprint)

    def revoke(self, name: str) -> None:
        """Forget the approval of a server and end it. Raises: UnknownName, StoreProblem."""
        self._entry(name)
        self._approvals.revoke(name)
        connection, loop = self._connections.get(name), self._loop
        if connection is not None and loop is not None:
            wait([loop.submit(connection.stop)])

    def restart(self, name: str) -> None:
        """Start a server that ended, however often it did. Raises: UnknownName, UsageProblem, ServerFailed."""
        from engine.harness.mcp.loop_thread import waited

        self._entry(name)
        if not self._may_start(name):
            raise UsageProblem(f"`{name}` may not start yet.", "Approve its entry first.")
        waited(self._begin(name), NEVER)

    def close(self) -> None:
        """End all servers and wait until nothing of them is left. May be called twice."""
        with self._opening:
            loop, self._loop, self._connections, self._begun = self._loop, None, {}, {}
        if loop is not None:
            loop.close()

    def specs(self) -> Sequence[ToolSpec]:
        """Those of approved lists. Servers that ended keep theirs, because a call starts them once more."""
        return [
            tool.spec
            for name, connection in self._connections.items()
            if (listing := self._offered(name, connection.health)) is not None
            for tool in listing.tools
        ]

    def preview(self, invocation: Invocation) -> Preview:
        """Raises: UnknownName, UsageProblem."""
        name, tool = self._find(invocation.call.name)
        shown = json.dumps(_arguments(invocation), ensure_ascii=False, indent=2)
        return Preview(
            f"Call `{tool.own_name}` of the MCP server `{name}`",
            f"{described(self._entries[name])}\n\n{tool.own_name} {shown}",
        )

    def run(self, invocation: Invocation) -> ToolResult:
        """Raises: ScoringStopped once `invocation.stop` is set."""
        try:
            return self._run(invocation)
        except (UsageProblem, ServerFailed) as problem:
            return failure(f"{problem.problem} {problem.hint}".strip())

    def _run(self, invocation: Invocation) -> ToolResult:
        from engine.harness.mcp.loop_thread import waited

        name, tool = self._find(invocation.call.name)
        arguments = _arguments(invocation)
        connection, loop = self._connections.get(name), self._loop
        if connection is None or loop is None or not self._may_start(name):
            raise ServerFailed(f"The MCP server `{name}` may not run.", "Its user has to approve it first.")
        waited(loop.submit(connection.ready), invocation.stop)
        # By now it may be another run of it, with other tools than those that were offered.
        offered = self._offered(name, connection.health)
        if offered is None or tool.spec not in [one.spec for one in offered.tools]:
            raise ServerFailed(
                f"The MCP server `{name}` has changed its tools.", "None of them is run before its user approved them."
            )
        return waited(loop.submit(connection.call, tool.own_name, arguments), invocation.stop)

    def _entry(self, name: str) -> Entry:
        entry = self._entries.get(name)
        if entry is None:
            raise UnknownName(f"There is no MCP server `{name}`.", "See the names of those there are.")
        return entry

    def _health(self, name: str) -> Health:
        connection = self._connections.get(name)
        return Health() if connection is None else connection.health

    def _status(self, name: str) -> ServerStatus:
        entry = self._entries[name]
        fingerprint = fingerprint_of(entry)
        health = self._health(name)
        connection = self._connections.get(name)
        return ServerStatus(
            name,
            described(entry),
            fingerprint,
            self._may_start(name),
            self._offered(name, health) is not None,
            health,
            "" if connection is None else connection.notes.text(),
        )

    def _may_start(self, name: str) -> bool:
        return self._approvals.may_start(name, fingerprint_of(self._entries[name]))

    def _offered(self, name: str, health: Health) -> Listing | None:
        """The list of tools that may be offered now."""
        listing = health.listing
        if listing is None or health.is_stale:
            return None
        fingerprint = fingerprint_of(self._entries[name])
        return listing if self._approvals.may_offer(name, fingerprint, listing.fingerprint) else None

    def _find(self, offered_name: str) -> tuple[str, ListedTool]:
        """Raises: UnknownName."""
        for name, connection in self._connections.items():
            listing = connection.health.listing
            for tool in () if listing is None else listing.tools:
                if tool.spec.tool.name == offered_name:
                    return name, tool
        raise UnknownName(f"No MCP server has a tool `{offered_name:.80}`.", "Call one of the tools offered.")

    def _begin(self, name: str) -> Future[Listing]:
        from engine.harness.mcp.connection import Connection
        from engine.harness.mcp.loop_thread import LoopThread

        with self._opening:
            if self._loop is None:
                _silence_libraries()
                self._loop = LoopThread()
            loop = self._loop
            if name not in self._connections:
                made = loop.make(
                    Connection, self._entries[name], self._environment, self._secret_of, self._folder, self._limits
                )
                loop.keep_going(made.serve)
                self._connections = {**self._connections, name: made}
            begun = loop.submit(self._connections[name].start)
            self._begun = {**self._begun, name: begun}
            return begun


def _arguments(invocation: Invocation) -> dict[str, Any]:
    """Raises: UsageProblem."""
    try:
        arguments = strict_json.loads(invocation.call.arguments or "{}")
    except ValueError as reason:
        raise UsageProblem(f"The arguments cannot be read: {reason}.", "Write one JSON object.") from None
    if not isinstance(arguments, dict):
        raise UsageProblem("The arguments are no JSON object.", "Write one JSON object.")
    return arguments


def _silence_libraries() -> None:
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.CRITICAL)
