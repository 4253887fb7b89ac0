"""One server from start to end: it is started when wanted, listed, called, and started once more after it ended.

Lives in one event loop; `health` alone may be read from any thread. Knows no approvals: whoever uses it asks first.
Of what servers may ask of a client (models, input, folders) nothing is offered.
"""

import math
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import anyio
import mcp_types as types
from mcp import ClientSession, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost, listen
from pydantic import ValidationError

from engine.errors import AgentError, boundary
from engine.harness.mcp.cleaning import line
from engine.harness.mcp.entries import Entry, HttpEntry, SecretOf, StdioEntry, prefix_of
from engine.harness.mcp.listing import Listing
from engine.harness.mcp.notes import Notes
from engine.harness.mcp.program import Program, clean_environment
from engine.harness.mcp.protocol import MOST_PROBLEM_CHARACTERS, ForgivingDispatcher, list_tools, shake_hands, told
from engine.harness.mcp.remote import remote_streams
from engine.harness.mcp.results import failure, read_result
from engine.harness.mcp.values import Health, Limits, ServerFailed
from engine.harness.tools.values import ToolResult

_MOST_LIVES: Final = 2
RELIST_PAUSE_S: Final = 0.2
"""Between two readings of a list that a server says has changed again."""
_REASON_S: Final = 2.0
"""To learn why it ended."""
_CLIENT: Final = types.Implementation(name="macaron-tall", version="1")


class Connection:
    """`serve` runs for as long as the server may be wanted; everything else waits for what it does."""

    def __init__(
        self, entry: Entry, environment: Mapping[str, str], secret_of: SecretOf, folder: Path, limits: Limits
    ) -> None:
        self.entry = entry
        self.health = Health()
        self.notes = Notes()
        self._environment = environment
        self._secret_of = secret_of
        self._folder = folder
        self._limits = limits
        self._session: ClientSession | None = None
        self._dispatcher: ForgivingDispatcher | None = None
        self._wanted = anyio.Event()
        self._settled = anyio.Event()
        """Set once a start has succeeded or failed."""
        self._over = anyio.Event()
        """Set once nothing is left of a life."""
        self._changed = anyio.Event()
        self._changes = 0
        """How often it said that its tools changed."""
        self._listing_lock = anyio.Lock()
        self._lives = 0
        """Starts since the last call that was answered."""
        self._scope: anyio.CancelScope | None = None
        """Of the present life."""
        self._is_stopped = False

    async def serve(self) -> None:
        """Start it whenever it is wanted, until cancelled."""
        try:
            while True:
                await self._wanted.wait()
                self._wanted = anyio.Event()
                self._over = anyio.Event()
                self._has_ended(await self._live())
        finally:
            self._has_ended("It was stopped.")

    def _has_ended(self, problem: str) -> None:
        self._session = None
        self._show(state="ended", problem=problem, process_id=None, progress="")
        self._settled.set()
        self._over.set()

    async def start(self) -> Listing:
        """Start it where it does not run, however often it ended. Raises: ServerFailed."""
        self._lives = 0
        return await self.ready()

    async def ready(self) -> Listing:
        """Its tools, read anew where they may have changed; one that ended is started again, once.

        Raises: ServerFailed.
        """
        if self._session is None:
            await self._started()
        if self.health.is_stale:
            await self.relist()
        if self._session is None or self.health.listing is None or self.health.is_stale:
            raise ServerFailed(
                f"The MCP server `{self.entry.name}` cannot be used. "
                f"{self.health.problem or 'Its tools changed again meanwhile.'}",
                "See what it printed; where it ended, it is started once more with the next call.",
            )
        return self.health.listing

    async def _started(self) -> None:
        """Raises: ServerFailed when it may not be started once more."""
        if self.health.state == "running":  # it has ended, and what is left of it is being cleared away
            await self._over.wait()
        if self.health.state != "starting":
            if self._lives >= _MOST_LIVES:
                raise ServerFailed(
                    f"The MCP server `{self.entry.name}` ended again. {self.health.problem}",
                    "See what it printed, then start it again.",
                )
            self._settled = anyio.Event()
            self._show(state="starting", problem="")
            self._wanted.set()
        await self._settled.wait()

    async def stop(self) -> None:
        """End it; only `start` starts it again."""
        self._lives = _MOST_LIVES
        if self._scope is not None:
            self._is_stopped = True
            self._scope.cancel()
            await self._over.wait()

    async def relist(self) -> None:
        """Read its list of tools again; one that cannot be read leaves the old one stale."""
        async with self._listing_lock:
            session = self._session
            if session is None:
                return
            try:
                with anyio.fail_after(self._limits.list_s):
                    await self._read_list(session)
            except TimeoutError:
                self._show(is_stale=True, problem=f"It did not list its tools within {self._limits.list_s:g} s.")
            except (MCPError, ValidationError) as error:
                self._show(is_stale=True, problem=f"It did not list its tools: {told(error)}")

    async def _read_list(self, session: ClientSession) -> None:
        """Raises: MCPError, ValidationError."""
        assert self._dispatcher is not None
        changes = self._changes
        listing = await list_tools(session, self._dispatcher, self.entry)
        self._show(listing=listing, is_stale=self._changes != changes, problem="")

    async def call(self, own_name: str, arguments: dict[str, Any]) -> ToolResult:
        """Call a tool by the server's own name for it; cancelling this cancels the call at the server."""
        session = self._session
        if session is None:
            return await self._lost("")
        patience_s = self.entry.call_s or self._limits.call_s
        latest = anyio.current_time() + self._limits.call_most_s
        with anyio.move_on_after(patience_s) as patience:

            async def progressed(progress: float, total: float | None, message: str | None) -> None:
                patience.deadline = min(anyio.current_time() + patience_s, latest)
                of_total = "" if total is None else f"/{total:g}"
                self._show(progress=f"{progress:g}{of_total} {line((message or '')[:500], 200)}".strip())

            try:
                answer = await session.call_tool(own_name, arguments, progress_callback=progressed)
            except MCPError as error:
                if error.code == types.CONNECTION_CLOSED:
                    return await self._lost(told(error))
                return failure(f"The server refused the call: {told(error)}")
            except (RuntimeError, ValueError) as error:  # an answer that is no result, or one that asks for input
                return failure(f"The server's answer cannot be used: {told(error)}")
            finally:
                self._show(progress="")
            self._lives = 1
            return read_result(answer)
        return failure(
            f"The MCP server `{self.entry.name}` said nothing for {patience_s:g} s, so the call was cancelled."
            " It may still have had an effect."
        )

    async def _lost(self, reason: str) -> ToolResult:
        """What to say of a call whose answer can no longer come."""
        with anyio.move_on_after(_REASON_S):
            await self._over.wait()
        if self.health.state != "ended":
            return failure(
                f"The connection to the MCP server `{self.entry.name}` broke off during the call, which may have had"
                f" an effect. {reason}"
            )
        again = "The next call starts it once more." if self._lives < _MOST_LIVES else "It stays ended for now."
        return failure(
            f"The MCP server `{self.entry.name}` ended during the call, which may have had an effect."
            f" {self.health.problem} {again}"
        )

    async def _live(self) -> str:
        """One life of the server; the reason why it ended."""
        self._lives += 1
        problem = ""
        scope = anyio.CancelScope(deadline=anyio.current_time() + self._limits.start_s)
        self._scope, self._is_stopped = scope, False
        try:
            with boundary(ServerFailed, "It failed"), scope:
                async with self._connected() as (session, program):
                    scope.deadline = math.inf
                    self._session = session
                    self._show(state="running", process_id=None if program is None else program.process_id)
                    self._settled.set()
                    problem = await self._watch(session, program)
                    self._session = None
        except AgentError as failed:
            return _leaf(failed)
        finally:
            self._scope = None
        if self._is_stopped:
            return "It was stopped."
        if scope.cancelled_caught:
            return f"It did not start within {self._limits.start_s:g} s."
        return problem

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[tuple[ClientSession, Program | None]]:
        program: Program | None = None
        async with AsyncExitStack() as stack:
            streams: AbstractAsyncContextManager[Any]
            match self.entry:
                case StdioEntry() as entry:
                    folder = self._folder / prefix_of(entry.name)
                    environment = clean_environment(entry, self._environment, self._secret_of)
                    program = Program(entry, environment, folder, self.notes, self._limits.stop_s)
                    streams = program.streams()
                case HttpEntry() as entry:
                    streams = remote_streams(entry, self._secret_of)
            received, to_send = await stack.enter_async_context(streams)
            self._dispatcher = ForgivingDispatcher(received, to_send)
            session = ClientSession(dispatcher=self._dispatcher, message_handler=self._heard, client_info=_CLIENT)
            await stack.enter_async_context(session)
            try:
                await shake_hands(session)
                await self._read_list(session)
            except (MCPError, ValidationError, RuntimeError) as error:
                has_ended = program is not None and program.ended.is_set()
                reason = program.reason if program is not None and has_ended else f"It does not answer: {told(error)}"
                raise ServerFailed(reason) from error
            yield session, program

    async def _watch(self, session: ClientSession, program: Program | None) -> str:
        """Wait for its end, and read its tools again whenever it says that they changed."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._subscribe, session)
            tasks.start_soon(self._relist_when_told)
            if program is None:
                await anyio.sleep_forever()
            else:
                await program.ended.wait()
            tasks.cancel_scope.cancel()
        return "" if program is None else program.reason

    async def _subscribe(self, session: ClientSession) -> None:
        """Newer servers tell of changes only to those who ask; the others tell `_heard`."""
        try:
            async with listen(session, tools_list_changed=True) as changes:
                async for _ in changes:
                    self._told_of_change()
        except (ListenNotSupportedError, SubscriptionLost, MCPError):
            return  # lists are read again before a turn in any case

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._told_of_change()

    def _told_of_change(self) -> None:
        self._changes += 1
        self._show(is_stale=True)
        self._changed.set()

    async def _relist_when_told(self) -> None:
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            await self.relist()
            await anyio.sleep(RELIST_PAUSE_S)

    def _show(self, **changes: Any) -> None:
        self.health = replace(self.health, **changes)


def _leaf(failed: AgentError) -> str:
    """The first reason below the groups that errors of parallel tasks come in."""
    error: BaseException | None = failed.__cause__
    if not isinstance(error, BaseExceptionGroup):
        return failed.problem
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, AgentError):
        return error.problem
    return f"It failed: {line(str(error) or type(error).__name__, MOST_PROBLEM_CHARACTERS)}"
