"""Work that a turn waits for without holding the engine: a tool that runs, a person who is asked.

A turn yields an Aside between two of its events. Whoever drives the turn runs it, where and when it likes, and goes on
with the turn afterwards; other turns may run meanwhile. Knows neither turns nor tools.
"""

from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any, Generic, TypeVar

from engine.errors import AgentError, RuntimeFailed, boundary

T = TypeVar("T")


class Aside(Generic[T]):
    """One piece of work, done once."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: list[T] = []
        self._error: AgentError | None = None

    def run(self) -> None:
        """Blocks until it is done; what goes wrong waits for `result`. A second call does nothing."""
        if self._found or self._error is not None:
            return
        try:
            with boundary(RuntimeFailed, "A part of the program made a mistake", "Report it if it happens again."):
                self._found.append(self._work())
        except AgentError as error:
            self._error = error

    def result(self) -> T:
        """What came of it; does it now where nobody has. Raises: the error it ended with."""
        self.run()
        if self._error is not None:
            raise self._error
        return self._found[0]


def aside(work: Callable[[], T]) -> Generator[Aside[T], None, T]:
    """`found = yield from aside(work)` within a turn."""
    waiting = Aside(work)
    yield waiting
    return waiting.result()


def at_once(steps: Generator[T | Aside[Any], None, None]) -> Generator[T, None, None]:
    """The steps of a turn whose driver has nothing else to do: every aside is done where it comes."""
    with closing(steps):
        for step in steps:
            if isinstance(step, Aside):
                step.run()
            else:
                yield step
