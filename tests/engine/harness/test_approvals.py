"""Asking a person: each question is answered once, from any thread, and a turn that is stopped was not permitted."""

import threading
import time

import pytest

from engine.errors import ScoringStopped, UnknownName
from engine.harness.approvals import LASTING, PERMITTING, Answer, Approval, Approvals
from engine.harness.tools.values import Preview
from engine.runtime.protocol import NEVER


def approval(number: int = 1) -> Approval:
    return Approval(f"a-{number}", "c", "t", "write", "", "changes", "/a", Preview("Write /a", "+ text"))


class Asking:
    """A turn that waits in a thread of its own."""

    def __init__(self, approvals: Approvals, asked: Approval, stop=NEVER) -> None:
        self.found: list[Answer | Exception] = []
        self._thread = threading.Thread(target=self._ask, args=(approvals, asked, stop))
        self._thread.start()
        deadline = time.monotonic() + 10
        while asked not in approvals.waiting() and time.monotonic() < deadline:
            time.sleep(0.005)

    def end(self) -> "Answer | Exception":
        self._thread.join(10)
        (found,) = self.found
        return found

    def _ask(self, approvals: Approvals, asked: Approval, stop) -> None:
        try:
            self.found.append(approvals.ask(asked, stop))
        except Exception as error:
            self.found.append(error)


@pytest.mark.parametrize("answer", ["once", "always", "reject", "never"])
def test_the_answer_reaches_the_turn_that_asked(answer: Answer):
    approvals = Approvals()
    asking = Asking(approvals, approval())
    assert approvals.answer("a-1", answer) == approval()
    assert asking.end() == answer
    assert (answer in PERMITTING, answer in LASTING) == (answer in ("once", "always"), answer in ("always", "never"))


def test_several_wait_at_once_and_each_gets_its_own():
    approvals = Approvals()
    first, second = Asking(approvals, approval(1)), Asking(approvals, approval(2))
    assert [one.approval_id for one in approvals.waiting()] == ["a-1", "a-2"]
    approvals.answer("a-2", "once")
    approvals.answer("a-1", "never")
    assert (first.end(), second.end()) == ("never", "once")
    assert approvals.waiting() == ()


def test_E5_a_second_answer_comes_too_late_and_says_so():
    approvals = Approvals()
    asking = Asking(approvals, approval())
    approvals.answer("a-1", "reject")
    with pytest.raises(UnknownName, match="any more"):
        approvals.answer("a-1", "always")
    assert asking.end() == "reject"


def test_E5_a_turn_that_is_stopped_was_not_permitted_and_waits_no_more():
    approvals, stop = Approvals(), threading.Event()
    asking = Asking(approvals, approval(), stop)
    stop.set()
    assert isinstance(asking.end(), ScoringStopped)
    with pytest.raises(UnknownName):
        approvals.answer("a-1", "once")
