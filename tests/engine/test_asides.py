"""Work beside a turn: done once by whoever drives the turn, or by the turn itself where nobody did."""

import threading

import pytest

from engine.asides import Aside, aside
from engine.errors import UsageProblem


def test_it_is_done_once_however_often_it_is_run_and_asked_for():
    done: list[int] = []
    work = Aside(lambda: done.append(1) or len(done))
    work.run()
    work.run()
    assert (work.result(), work.result(), done) == (1, 1, [1])


def test_one_that_gives_nothing_is_also_done_once():
    done: list[int] = []
    work: Aside[None] = Aside(lambda: done.append(1))
    work.run()
    work.result()
    assert done == [1]


def test_where_nobody_ran_it_the_turn_does():
    assert Aside(lambda: "found").result() == "found"


def test_what_goes_wrong_is_raised_in_the_turn_and_not_where_it_ran():
    def fail() -> str:
        raise UsageProblem("No.", "Do otherwise.")

    work = Aside(fail)
    work.run()
    with pytest.raises(UsageProblem, match="No"):
        work.result()


def test_a_turn_goes_on_with_what_was_found_in_another_thread():
    def turn():
        found = yield from aside(threading.get_ident)
        yield f"found {found}"

    events = turn()
    work = next(events)
    assert isinstance(work, Aside)
    other = threading.Thread(target=work.run)
    other.start()
    other.join()
    assert next(events) == f"found {other.ident}"
