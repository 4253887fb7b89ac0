"""Who worked for how long, by a clock that the test turns."""

from types import SimpleNamespace

import pytest

from local_training.runs import worktime
from local_training.runs.worktime import Spent, WorkTime


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(worktime, "time", SimpleNamespace(monotonic=clock))
    return clock


def test_a_lap_says_who_worked_for_how_long(clock: Clock):
    work = WorkTime()
    for worker, seconds in (("sampling", 4.0), ("training", 3.0), ("sampling", 2.0)):
        with work.working(worker):
            clock.now += seconds
    clock.now += 1.0
    spent = work.lap()
    assert spent == Spent(seconds=10.0, sampling=6.0, training=3.0)
    assert spent.idle_share == pytest.approx(0.1)


def test_every_lap_begins_with_nothing(clock: Clock):
    work = WorkTime()
    with work.working("sampling"):
        clock.now += 5.0
    work.lap()
    clock.now += 2.0
    assert work.seconds() == 2.0
    assert work.lap() == Spent(2.0, 0.0, 0.0)


def test_a_pause_amid_work_is_neither_work_nor_time(clock: Clock):
    work = WorkTime()
    with work.working("training"):
        clock.now += 1.0
        clock.now += 60.0
        work.wait(60.0)
        clock.now += 2.0
    assert work.seconds() == 3.0
    assert work.lap() == Spent(3.0, 0.0, 3.0)


def test_a_pause_between_two_pieces_of_work_is_not_idleness(clock: Clock):
    work = WorkTime()
    with work.working("sampling"):
        clock.now += 2.0
    clock.now += 60.0
    work.wait(60.0)
    with work.working("training"):
        clock.now += 2.0
    spent = work.lap()
    assert (spent, spent.idle_share) == (Spent(4.0, 2.0, 2.0), 0.0)


def test_a_pause_of_an_earlier_lap_takes_nothing_from_the_next(clock: Clock):
    work = WorkTime()
    clock.now += 60.0
    work.wait(60.0)
    work.lap()
    with work.working("training"):
        clock.now += 4.0
    assert work.lap() == Spent(4.0, 0.0, 4.0)


def test_work_that_failed_was_work(clock: Clock):
    work = WorkTime()
    with pytest.raises(ZeroDivisionError), work.working("training"):
        clock.now += 3.0
        raise ZeroDivisionError
    assert work.lap().training == 3.0


@pytest.mark.parametrize(
    ("spent", "share"),
    [(Spent(0.0, 0.0, 0.0), 1.0), (Spent(4.0, 3.0, 3.0), 0.0), (Spent(4.0, 0.0, 1.0), 0.75)],
    ids=["nothing yet", "both at once", "mostly idle"],
)
def test_the_idle_share_is_a_share(spent: Spent, share: float):
    assert spent.idle_share == pytest.approx(share)
