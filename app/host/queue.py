"""One piece of work at a time on one thread, fairly: lanes take turns, and within a lane the first to come is first.

Knows neither turns nor HTTP. Work is a generator that is given a stop flag; what it yields reaches whoever waits, in
another thread or in an event loop, without anyone being able to hold the worker up by not reading. Work that yields an
Aside is set aside until that is done, on a thread of its own, and meanwhile others are served.
"""

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

from engine.asides import Aside
from engine.errors import AgentError, RuntimeFailed, boundary
from engine.runtime.protocol import Stop

T = TypeVar("T")
Work = Callable[[Stop], Generator[T | Aside[Any], None, None]]

MOST_WAITING: Final = 256
"""Pieces of work that may wait at once; more than anyone who still waits for an answer would have."""


class QueueFull(RuntimeFailed):
    """Too much is waiting already."""


class QueueClosed(RuntimeFailed):
    """The host is ending."""


class Job(Generic[T]):
    """One piece of work: what it has yielded so far, how it ended, and how to stop it."""

    def __init__(self, lane: str, work: Work[T]) -> None:
        self.lane = lane
        self.work = work
        self.stop = threading.Event()
        self.items: list[T] = []
        self.error: AgentError | None = None
        self.is_over = False
        self._steps: Generator[T | Aside[Any], None, None] | None = None
        self._changed = threading.Condition()
        self._listeners: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}

    def wait(self, timeout_s: float | None = None) -> bool:
        """Until it is over; False when that took longer."""
        with self._changed:
            return self._changed.wait_for(lambda: self.is_over, timeout_s)

    def result(self) -> list[T]:
        """All it yielded. Blocks until it is over. Raises: the error it ended with."""
        self.wait()
        if self.error is not None:
            raise self.error
        return self.items

    async def follow(self, start: int = 0) -> AsyncGenerator[T, None]:
        """What it yields, from item `start` on. Several may follow. Raises: the error it ended with."""
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        key = id(woken)
        with self._changed:
            self._listeners[key] = (loop, woken)
        try:
            position = start
            while True:
                woken.clear()
                is_over = self.is_over  # before the items: nothing is added after it
                while position < len(self.items):
                    yield self.items[position]
                    position += 1
                if is_over:
                    break
                await woken.wait()
        finally:
            with self._changed:
                self._listeners.pop(key, None)
        if self.error is not None:
            raise self.error

    # The worker's side

    def run(self) -> Aside[Any] | None:
        """Do the work, or go on with it. An Aside is to be done before it is run again; without one it is over.

        Every error is kept for those who follow.
        """
        try:
            with boundary(RuntimeFailed, "The host made a mistake", "Try again; see the host's log if it recurs."):
                if self._steps is None and not self.stop.is_set():
                    self._steps = self.work(self.stop)
                for item in self._steps or ():
                    if isinstance(item, Aside):
                        return item
                    self._add(item)
        except AgentError as error:
            self.error = error
        except BaseException:
            self.end()
            raise
        self.end()
        return None

    def abandon(self, error: AgentError) -> None:
        """End work that was set aside and will not be run again."""
        try:
            with boundary(RuntimeFailed, "The host made a mistake", "See the host's log."):
                if self._steps is not None:
                    self._steps.close()
        except AgentError as failure:
            error = failure
        self.end(error)

    def end(self, error: AgentError | None = None) -> None:
        self.error = self.error or error
        with self._changed:
            self.is_over = True
            self._changed.notify_all()
            self._wake()

    def _add(self, item: T) -> None:
        with self._changed:
            self.items.append(item)
            self._wake()

    def _wake(self) -> None:
        for loop, woken in self._listeners.values():
            if not loop.is_closed():
                loop.call_soon_threadsafe(woken.set)


class WorkQueue:
    """Give it work with `submit` (any thread), or `run` it in an event loop and iterate what comes."""

    def __init__(self) -> None:
        self._lanes: OrderedDict[str, deque[Job[Any]]] = OrderedDict()
        """Lanes in the order in which they are served next."""
        self._changed = threading.Condition()
        self._current: Job[Any] | None = None
        self._aside: set[Job[Any]] = set()
        """Begun, and waiting for something that is no work of this thread."""
        self._closed = False
        self.served = 0
        """Pieces of work done so far."""
        self._thread = threading.Thread(target=self._serve, name="turns", daemon=True)
        self._thread.start()

    def submit(self, lane: str, work: Work[T]) -> Job[T]:
        """Queue work behind what waits in `lane`. Raises: QueueFull, QueueClosed."""
        job = Job(lane, work)
        with self._changed:
            if self._closed:
                raise QueueClosed("The host is ending.", "Start it again.")
            if sum(map(len, self._lanes.values())) >= MOST_WAITING:
                raise QueueFull(f"{MOST_WAITING} requests are waiting already.", "Try again in a moment.")
            self._lanes.setdefault(lane, deque()).append(job)
            self._changed.notify_all()
        return job

    async def run(self, lane: str, work: Work[T]) -> AsyncGenerator[T, None]:
        """Queue work and yield what it yields. Closing the iterator, or cancelling its task, stops the work."""
        job = self.submit(lane, work)
        try:
            async for item in job.follow():
                yield item
        finally:
            self.stop(job)

    def stop(self, job: Job[Any]) -> None:
        """Stop it wherever it is; what waits still never runs."""
        job.stop.set()
        with self._changed:
            waiting = self._lanes.get(job.lane)
            if waiting is None or job not in waiting:
                return
            waiting.remove(job)
            if not waiting:
                del self._lanes[job.lane]
        job.end()

    @property
    def is_busy(self) -> bool:
        with self._changed:
            return self._current is not None or bool(self._lanes) or bool(self._aside)

    @property
    def waiting(self) -> int:
        with self._changed:
            return sum(map(len, self._lanes.values()))

    def ahead(self, job: Job[Any]) -> int:
        """How many pieces of work are served before this one, at most; 0 once it has begun."""
        with self._changed:
            waiting = self._lanes.get(job.lane, deque())
            if job not in waiting:
                return 0
            place = waiting.index(job)
            others = sum(min(len(lane), place + 1) for name, lane in self._lanes.items() if name != job.lane)
            return place + others + (self._current is not None)

    def stop_all(self) -> None:
        """Stop what runs, drop what waits, take nothing more."""
        with self._changed:
            self._closed = True
            dropped = [job for lane in self._lanes.values() for job in lane]
            self._lanes.clear()
            for job in (*self._aside, *([self._current] if self._current is not None else [])):
                job.stop.set()
            self._changed.notify_all()
        for job in dropped:
            job.abandon(QueueClosed("The host is ending.", "Start it again."))

    def wait(self, timeout_s: float | None = None) -> None:
        """After `stop_all`: until the worker has ended."""
        self._thread.join(timeout_s)

    def _serve(self) -> None:
        for job in iter(self._next, None):
            step = job.run()
            with self._changed:
                self._current = None
                if step is None:
                    self.served += 1
                else:
                    self._aside.add(job)
                self._changed.notify_all()
            if step is not None:
                threading.Thread(target=self._set_aside, args=(job, step), name="aside", daemon=True).start()

    def _set_aside(self, job: Job[Any], step: Aside[Any]) -> None:
        """Do the step, then let the job go on before what waits in its lane."""
        with suppress(Exception):  # it is told to the work
            step.run()
        with self._changed:
            self._aside.discard(job)
            if not self._closed:
                self._lanes.setdefault(job.lane, deque()).appendleft(job)
                self._changed.notify_all()
                return
        job.abandon(QueueClosed("The host is ending.", "Start it again."))

    def _next(self) -> Job[Any] | None:
        """The next piece of work; None when the queue is closed. The lane it came from goes to the end of the row."""
        with self._changed:
            self._changed.wait_for(lambda: self._lanes or self._closed)
            if self._closed:
                return None
            lane, waiting = next(iter(self._lanes.items()))
            job = waiting.popleft()
            del self._lanes[lane]
            if waiting:
                self._lanes[lane] = waiting
            self._current = job
            return job
