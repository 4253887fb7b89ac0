"""A server that is a program: started in a clean environment, spoken to line by line, ended with all it started.

Knows processes and JSON-RPC lines, no tools. In place of the SDK's own transport, which holds a line of any length,
hands on more of the environment, and does not say why or with which exit code a server ended. On Windows the program
itself is ended, but not what it started in turn.
"""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
import mcp_types as types
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from engine.errors import UsageProblem
from engine.harness.environment import necessities
from engine.harness.mcp.entries import SecretOf, StdioEntry, with_secrets
from engine.harness.mcp.lines import LineReader, LongLine
from engine.harness.mcp.notes import Notes
from engine.harness.mcp.values import MOST_MESSAGE_BYTES, ServerFailed

MOST_PASSED_BYTES: Final = 256 * 1024 * 1024
MOST_STRAY_BYTES: Final = 1024 * 1024
"""On standard output that are no messages; a server that prints more there is ended."""

_POLL_S: Final = 0.02
_KILLED_S: Final = 5.0
"""For the system to end what cannot refuse; only a program stuck in a device takes longer."""

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


def clean_environment(entry: StdioEntry, environment: Mapping[str, str], secret_of: SecretOf) -> dict[str, str]:
    """What the program sees: the necessities and what its entry names. Raises: AgentError where a secret is missing."""
    return {**necessities(environment), **with_secrets(entry.environment, secret_of)}


class Program:
    """One run of a server."""

    def __init__(
        self,
        entry: StdioEntry,
        environment: Mapping[str, str],
        folder: Path,
        notes: Notes,
        stop_s: float,
    ) -> None:
        """`environment` is all that it gets."""
        self._entry = entry
        self._environment = environment
        self._folder = folder
        self._notes = notes
        self._stop_s = stop_s
        self._stray_bytes = 0
        self.process_id: int | None = None
        self.ended = anyio.Event()
        self.reason = ""
        """Why it ended, once it has."""

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[Streams]:
        """What it sends and what it is sent, for as long as it runs; afterwards nothing of it is left.

        Raises: ServerFailed.
        """
        process = await self._started()
        self.process_id = process.pid
        incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_send, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, process, incoming)
            tasks.start_soon(self._read_errors, process)
            tasks.start_soon(self._write, process, outgoing)
            try:
                yield received, to_send
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process, self._stop_s)
                tasks.cancel_scope.cancel()
                for stream in (incoming, received, to_send, outgoing):
                    stream.close()

    async def _started(self) -> Process:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return await anyio.open_process(
                [self._entry.command, *self._entry.arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._entry.folder or self._folder,
                env=dict(self._environment),
                start_new_session=sys.platform != "win32",  # one group, which can be ended whole
            )
        except OSError as error:
            raise ServerFailed(
                f"`{self._entry.command}` cannot be started: {error.strerror or error}.",
                "See whether it is installed and found, or correct `command` or `cwd`.",
            ) from error

    async def _read(self, process: Process, incoming: Incoming) -> None:
        assert process.stdout is not None
        lines = LineReader(MOST_MESSAGE_BYTES, MOST_PASSED_BYTES)
        reason = ""
        try:
            async for chunk in process.stdout:
                for line in lines.feed(chunk):
                    for message in self._messages(line):
                        await incoming.send(message)
        except UsageProblem as problem:
            reason = problem.problem
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            reason = "It closed its output."
        await self._has_ended(process, reason)
        incoming.close()

    def _messages(self, line: bytes | LongLine) -> list[SessionMessage]:
        """None or one. Raises: UsageProblem when a server does not keep to the protocol."""
        if isinstance(line, LongLine):
            if line.answered is None:
                raise UsageProblem(f"It sent a message of {line.size_bytes} bytes.")
            problem = types.ErrorData(
                code=types.INTERNAL_ERROR,
                message=f"The result has {line.size_bytes} bytes and was not read; {MOST_MESSAGE_BYTES} are allowed.",
            )
            return [SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=line.answered, error=problem))]
        if not line.strip():
            return []
        try:
            return [SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))]
        except ValueError:
            self._notes.add(b"(on standard output) " + line[:500] + b"\n")
            self._stray_bytes += len(line)
            if self._stray_bytes > MOST_STRAY_BYTES:
                raise UsageProblem("It prints text where only messages belong.") from None
            return []

    async def _has_ended(self, process: Process, reason: str) -> None:
        """Say why, with the exit code where there is one."""
        if not reason:
            await _wait(process, 1.0)
            code = process.returncode
            reason = "It closed its output." if code is None else f"It ended with exit code {code}."
        self.reason = self.reason or reason
        self.ended.set()

    async def _read_errors(self, process: Process) -> None:
        assert process.stderr is not None
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            async for chunk in process.stderr:
                self._notes.add(chunk)

    async def _write(self, process: Process, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        assert process.stdin is not None
        # A program that no longer reads is found by the end of its output, or by the time a call takes.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            async for message in outgoing:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(text.encode() + b"\n")


async def _end(process: Process, stop_s: float) -> None:
    """Close its input, ask it to end, end it; then whatever it started and left behind."""
    assert process.stdin is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        await process.stdin.aclose()
    if not await _wait(process, stop_s):
        _signal(process, signal.SIGTERM)
        await _wait(process, stop_s)
    _signal(process, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    await _wait(process, _KILLED_S)
    with anyio.move_on_after(_KILLED_S), suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        await process.aclose()


async def _wait(process: Process, most_s: float) -> bool:
    """Whether it has ended by then. Looks, because waiting would also wait for those who share its output."""
    end = anyio.current_time() + most_s
    while process.returncode is None:
        if anyio.current_time() >= end:
            return False
        await anyio.sleep(_POLL_S)
    return True


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform != "win32":
            os.killpg(process.pid, number)  # its group has its number, also once it has ended itself
        elif process.returncode is None:
            process.terminate()
