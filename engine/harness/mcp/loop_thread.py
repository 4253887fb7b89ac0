"""One thread with an event loop, for synchronous callers on any thread. Knows nothing of what runs in it.

A daemon thread, so that forgetting to close it keeps no process alive; what it keeps going is ended all the same when
the interpreter ends.
"""

import atexit
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future, wait
from contextlib import ExitStack
from typing import Any, Final, TypeVar

from anyio.from_thread import start_blocking_portal

from engine.errors import ScoringStopped
from engine.harness.mcp.values import ServerFailed
from engine.runtime.protocol import Stop

Result = TypeVar("Result")

_POLL_S: Final = 0.05
_CLOSE_S: Final = 30.0
"""For all that was kept going to end; far more than each may take."""


class LoopThread:
    def __init__(self) -> None:
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal(name="mcp"))
        self._kept: list[Future[Any]] = []
        self._stack.callback(_end_all, self._kept)
        atexit.register(self.close)

    def close(self) -> None:
        """End everything and wait for it. May be called twice, and is at the latest when the interpreter ends."""
        atexit.unregister(self.close)
        self._stack.close()

    def make(self, build: Callable[..., Result], *arguments: Any) -> Result:
        """What `build` returns when it is called within the loop."""
        return self._portal.call(build, *arguments)

    def keep_going(self, run: Callable[[], Awaitable[None]]) -> None:
        """Run something until `close` cancels it."""
        self._kept.append(self._portal.start_task_soon(run))

    def submit(self, run: Callable[..., Awaitable[Result]], *arguments: Any) -> Future[Result]:
        """Raises: ServerFailed after `close`."""
        try:
            return self._portal.start_task_soon(run, *arguments)
        except RuntimeError as error:
            raise ServerFailed("The MCP servers have been ended.", "Start the program again.") from error


def waited(future: Future[Result], stop: Stop) -> Result:
    """What `future` brings; setting `stop` cancels it. Raises: ScoringStopped, ServerFailed."""
    while not future.done():
        if stop.is_set():
            future.cancel()
            raise ScoringStopped("The call of the tool was stopped.", "Ask again.")
        wait([future], timeout=_POLL_S)
    try:
        return future.result()
    except CancelledError:
        raise ServerFailed("The MCP servers have been ended.", "Start the program again.") from None


def _end_all(kept: list[Future[Any]]) -> None:
    for future in kept:
        future.cancel()
    wait(kept, timeout=_CLOSE_S)
