"""Sockets on loopback, and uvicorn on them: bounded connections, deadlines, no logs of addresses, a quick stop.

Knows nothing of the application it serves.
"""

import errno
import socket
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from app.gate.protocol import HEAD_BYTES, ConnectionLimits, GuardedProtocol
from app.stopping import heard_by
from engine.errors import AgentError

LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 1024
_GRACE_S: Final = 1
"""For streams to end by themselves once the server stops; what is left then is cut."""
_SPARE_FILES: Final = 256


def listen(port: int, fallback: bool = True) -> socket.socket:
    """A socket that accepts on 127.0.0.1: on `port`, or on a free one when that is taken; 0 is any free one.

    Connections wait in it from now on, until a server takes them. Raises: AgentError.
    """
    try:
        return open_listener(LOOPBACK, port)
    except AgentError:
        if not fallback:
            raise
        return open_listener(LOOPBACK, 0)


def open_listener(address: str, port: int) -> socket.socket:
    """Raises: AgentError naming address and port."""
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":
            # There SO_REUSEADDR would let two programs share a port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        # Only a socket that listens keeps others off the port.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise _not_open(address, port, error) from error
    listener.setblocking(False)
    return listener


def port_of(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


class Server:
    """One application on sockets that listen already. `run` it here, or have it `running` beside you."""

    def __init__(
        self,
        app: ASGIApp,
        sockets: Sequence[socket.socket],
        limits: ConnectionLimits | None = None,
        before_stop: Callable[[], None] = lambda: None,
    ) -> None:
        """`before_stop` ends the application's own work, so that its streams still tell how that ended."""
        limits = limits or ConnectionLimits()
        self._sockets = list(sockets)
        self._before_stop = before_stop
        protocol = type("Protocol", (GuardedProtocol,), {"limits": limits})
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                app,
                http=protocol,
                # Neither the host nor the page has a WebSocket; a request for one is answered as plain HTTP.
                ws="none",
                loop="asyncio",
                log_config=None,
                log_level="error",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                backlog=_BACKLOG,
                timeout_keep_alive=limits.idle_s,
                timeout_graceful_shutdown=_GRACE_S,
                h11_max_incomplete_event_size=HEAD_BYTES,
            )
        )
        _allow_open_files(limits.connections + _SPARE_FILES)

    @property
    def is_started(self) -> bool:
        return self._uvicorn.started

    def run(self) -> None:
        """Serve until `stop`, or until the program is told to end. Raises: AgentError when it cannot start."""
        with stopped_by_signals(self.stop):
            try:
                self._uvicorn.run(sockets=self._sockets)
            except SystemExit as error:  # uvicorn's way of saying so
                raise AgentError("The server could not start.", "Look into the log for the reason.") from error
            finally:
                for listener in self._sockets:
                    listener.close()

    def stop(self) -> None:
        """End every connection within two seconds, streams included. From any thread, and more than once."""
        self._before_stop()
        self._uvicorn.should_exit = True

    @contextmanager
    def running(self) -> Iterator["Server"]:
        """Serve on a thread of its own while the block runs. Raises: AgentError when it does not start."""
        failures: list[AgentError] = []

        def serve() -> None:
            try:
                self.run()
            except AgentError as error:
                failures.append(error)
            finally:
                self._uvicorn.has_settled.set()

        thread = threading.Thread(target=serve, name="server", daemon=True)
        thread.start()
        try:
            self._uvicorn.has_settled.wait()
            if failures:
                raise failures[0]
            yield self
        finally:
            self.stop()
            thread.join()


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.has_settled = threading.Event()
        """It serves, or it never will."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.has_settled.set()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        # uvicorn raises the signal again once it is done, which would end the program before it has cleaned up.
        yield


@contextmanager
def stopped_by_signals(stop_server: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM stop the server; only the main thread can hear them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        # Not here: a lock that this thread holds while it is interrupted may be needed.
        threading.Thread(target=stop_server, name="stop").start()

    with heard_by(stop):
        yield


def _not_open(address: str, port: int, error: OSError) -> AgentError:
    if error.errno in (errno.EADDRINUSE, errno.EACCES):
        return AgentError(
            f"Port {port} of {address} is taken by another program, or not allowed.",
            "Close that program, or set another port in settings.toml.",
        )
    return AgentError(f"No server can listen on {address}, port {port}: {error.strerror}.", "Choose another address.")


def _allow_open_files(count: int) -> None:
    """Raise the soft limit on open files, as far as the system lets us; each connection is one."""
    if sys.platform == "win32":
        return
    import resource  # there is none on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
