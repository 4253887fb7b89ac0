"""The queue: one piece of work at a time, lanes in turn, first come first served, and nobody can hold it up."""

import asyncio
import threading
from collections.abc import Generator, Iterator

import pytest

from app.host.queue import MOST_WAITING, Job, QueueClosed, QueueFull, Work, WorkQueue
from engine.asides import Aside
from engine.errors import RuntimeFailed, UnknownName
from engine.runtime.protocol import Stop


@pytest.fixture
def queue() -> Iterator[WorkQueue]:
    queue = WorkQueue()
    yield queue
    queue.stop_all()
    queue.wait(10)


def work_of(*items: str) -> Work[str]:
    def work(stop: Stop) -> Generator[str, None, None]:
        yield from items

    return work


class Busy:
    """Work that holds the queue until the test lets go, or stops it."""

    def __init__(self, queue: WorkQueue) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.job = queue.submit("busy", self._work)
        assert self.begun.wait(5)

    def _work(self, stop: Stop) -> Generator[str, None, None]:
        self.begun.set()
        yield "begun"
        while not self.go_on.wait(0.01):
            if stop.is_set():
                yield "stopped"
                return
        yield "done"


def submit_noting(queue: WorkQueue, lane: str, name: str, served: list[str]) -> Job[str]:
    def work(stop: Stop) -> Generator[str, None, None]:
        served.append(name)
        yield name

    return queue.submit(lane, work)


def test_the_first_to_come_is_the_first_within_a_lane(queue: WorkQueue) -> None:
    served: list[str] = []
    busy = Busy(queue)
    jobs = [submit_noting(queue, "api", f"{number}", served) for number in range(5)]
    busy.go_on.set()
    for job in jobs:
        job.result()
    assert served == ["0", "1", "2", "3", "4"]


def test_a_lane_with_much_to_do_lets_another_in_after_one_piece_of_work(queue: WorkQueue) -> None:
    served: list[str] = []
    busy = Busy(queue)
    many = [submit_noting(queue, "api", f"api {number}", served) for number in range(4)]
    late = submit_noting(queue, "faces", "the user", served)
    busy.go_on.set()
    for job in (*many, late):
        job.result()
    assert served.index("the user") == 1


def test_work_that_waits_is_stopped_before_it_begins(queue: WorkQueue) -> None:
    served: list[str] = []
    busy = Busy(queue)
    waiting = submit_noting(queue, "api", "never", served)
    queue.stop(waiting)
    assert waiting.result() == []
    busy.go_on.set()
    busy.job.result()
    assert served == []
    assert not queue.is_busy


def test_work_that_runs_is_told_to_stop(queue: WorkQueue) -> None:
    busy = Busy(queue)
    queue.stop(busy.job)
    assert busy.job.result() == ["begun", "stopped"]


def test_an_error_reaches_who_waits_and_the_next_work_is_served(queue: WorkQueue) -> None:
    def work(stop: Stop) -> Generator[str, None, None]:
        yield "first"
        raise UnknownName("There is no such thing.")

    with pytest.raises(UnknownName):
        queue.submit("api", work).result()
    assert queue.submit("api", work_of("next")).result() == ["next"]


def test_a_mistake_of_the_program_is_told_as_one_and_the_queue_lives_on(queue: WorkQueue) -> None:
    def work(stop: Stop) -> Generator[str, None, None]:
        yield str(1 // 0)

    with pytest.raises(RuntimeFailed, match="by zero"):
        queue.submit("api", work).result()
    assert queue.submit("api", work_of("next")).result() == ["next"]


def test_more_than_anyone_would_wait_for_is_refused(queue: WorkQueue) -> None:
    busy = Busy(queue)
    for _ in range(MOST_WAITING):
        queue.submit("api", work_of())
    with pytest.raises(QueueFull):
        queue.submit("api", work_of())
    busy.go_on.set()


def test_closing_stops_what_runs_and_tells_who_waits(queue: WorkQueue) -> None:
    busy = Busy(queue)
    waiting = queue.submit("api", work_of("never"))
    queue.stop_all()
    queue.wait()
    assert busy.job.result() == ["begun", "stopped"]
    with pytest.raises(QueueClosed):
        waiting.result()
    with pytest.raises(QueueClosed):
        queue.submit("api", work_of())


async def test_several_followers_each_get_everything_even_afterwards(queue: WorkQueue) -> None:
    busy = Busy(queue)

    async def read(start: int = 0) -> list[str]:
        return [item async for item in busy.job.follow(start)]

    readers = [asyncio.create_task(read()) for _ in range(3)]
    await asyncio.sleep(0.05)
    busy.go_on.set()
    assert [await reader for reader in readers] == [["begun", "done"]] * 3
    assert await read(1) == ["done"]


async def test_a_follower_that_never_reads_does_not_hold_up_the_others(queue: WorkQueue) -> None:
    lazy = queue.submit("api", work_of(*map(str, range(10_000)))).follow()
    assert await anext(lazy) == "0"
    assert [item async for item in queue.run("api", work_of("served"))] == ["served"]
    await lazy.aclose()


async def test_cancelling_who_waits_stops_the_work(queue: WorkQueue) -> None:
    began, ended = threading.Event(), threading.Event()

    def work(stop: Stop) -> Generator[str, None, None]:
        began.set()
        while not stop.is_set():
            yield "more"
        ended.set()

    async def read() -> None:
        async for _ in queue.run("api", work):
            pass

    reader = asyncio.create_task(read())
    assert await asyncio.to_thread(began.wait, 5)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert await asyncio.to_thread(ended.wait, 5)


def test_who_waits_is_told_how_many_are_served_before(queue: WorkQueue) -> None:
    busy = Busy(queue)
    api = [queue.submit("api", work_of("x")) for _ in range(3)]
    face = queue.submit("faces", work_of("x"))
    # The one that runs, those before it in its lane, and as many of the other lane as have their turn first.
    assert [queue.ahead(job) for job in (*api, face)] == [2, 3, 4, 2]
    busy.go_on.set()
    api[-1].result()
    assert queue.ahead(api[-1]) == 0


class Away:
    """Work that is set aside until the test lets it go on, or it is stopped."""

    def __init__(self, queue: WorkQueue, lane: str = "faces") -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.was_closed = False
        self.job = queue.submit(lane, self._work)
        assert self.begun.wait(5)

    def _work(self, stop: Stop) -> Generator[str | Aside[None], None, None]:
        def wait() -> None:
            self.begun.set()
            while not self.go_on.wait(0.01) and not stop.is_set():
                pass

        try:
            yield "asked"
            yield Aside(wait)
            yield "stopped" if stop.is_set() else "answered"
        except GeneratorExit:
            self.was_closed = True
            raise


def test_work_that_is_set_aside_lets_others_in_and_goes_on_afterwards(queue: WorkQueue) -> None:
    away = Away(queue)
    assert queue.submit("faces", work_of("done")).result() == ["done"]
    assert queue.is_busy and not away.job.is_over
    away.go_on.set()
    assert away.job.result() == ["asked", "answered"]
    assert not queue.is_busy


def test_work_that_is_set_aside_goes_on_before_what_waits_in_its_lane(queue: WorkQueue) -> None:
    served: list[str] = []
    away = Away(queue)
    busy = Busy(queue)
    later = submit_noting(queue, "faces", "later", served)
    away.go_on.set()
    while queue.ahead(away.job) == 0:  # until it waits again
        assert not away.job.is_over
    assert queue.ahead(later) > queue.ahead(away.job)
    busy.go_on.set()
    later.result()
    assert away.job.is_over


def test_a_stop_reaches_work_that_is_set_aside(queue: WorkQueue) -> None:
    away = Away(queue)
    queue.stop(away.job)
    assert away.job.result() == ["asked", "stopped"]


def test_what_is_set_aside_when_the_queue_closes_is_given_up(queue: WorkQueue) -> None:
    away = Away(queue)
    queue.stop_all()
    with pytest.raises(QueueClosed):
        away.job.result()
    assert away.was_closed


def test_what_an_aside_cannot_do_is_told_to_the_work(queue: WorkQueue) -> None:
    def fail() -> None:
        raise UnknownName("There is no such thing.", "")

    def work(stop: Stop) -> Generator[str | Aside[None], None, None]:
        step = Aside(fail)
        yield step
        step.result()

    with pytest.raises(UnknownName):
        queue.submit("faces", work).result()
