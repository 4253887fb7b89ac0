"""The real timer wakes at the last moment it was given, and at no other."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from app.jobs.timetable import Timer


@pytest.fixture
def woken() -> threading.Semaphore:
    return threading.Semaphore(0)


@pytest.fixture
def timer(woken: threading.Semaphore) -> Iterator[Timer]:
    timer = Timer(woken.release)
    timer.start()
    yield timer
    timer.stop()


def ahead(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def test_it_wakes_once_at_the_moment(timer: Timer, woken: threading.Semaphore) -> None:
    moment = ahead(0.3)
    timer.wake_at(moment)
    assert woken.acquire(timeout=20)
    assert datetime.now(UTC) >= moment
    assert not woken.acquire(timeout=0.3)


@pytest.mark.parametrize("late_s", [0.001, 3600.0, 86_400.0 * 400])
def test_a_moment_that_is_over_wakes_at_once(timer: Timer, woken: threading.Semaphore, late_s: float) -> None:
    timer.wake_at(ahead(-late_s))
    assert woken.acquire(timeout=20)


def test_an_earlier_moment_takes_the_place_of_a_later_one(timer: Timer, woken: threading.Semaphore) -> None:
    timer.wake_at(ahead(3600))
    timer.wake_at(ahead(0.05))
    assert woken.acquire(timeout=20)


def test_a_moment_that_was_taken_back_wakes_nobody(timer: Timer, woken: threading.Semaphore) -> None:
    timer.wake_at(ahead(0.2))
    timer.wake_at(None)
    timer.wake_at(None)
    assert not woken.acquire(timeout=0.6)


def test_it_may_be_set_again_by_what_it_wakes() -> None:
    rounds, done = [], threading.Event()

    def again() -> None:
        rounds.append(datetime.now(UTC))
        if len(rounds) == 3:
            done.set()
        else:
            timer.wake_at(ahead(0.05))

    timer = Timer(again)
    timer.start()
    timer.wake_at(ahead(0.05))
    assert done.wait(20)
    timer.stop()


@pytest.mark.parametrize("attempt", range(30))
def test_it_stops_in_order_while_it_is_due_and_sets_itself_again(attempt: int) -> None:
    """No error in a thread, and no waiting for each other."""
    woken = threading.Event()

    def again() -> None:
        woken.set()
        timer.wake_at(ahead(0))

    timer = Timer(again)
    timer.start()
    timer.wake_at(ahead(0))
    assert woken.wait(20)
    timer.stop()
    timer.wake_at(ahead(0))
