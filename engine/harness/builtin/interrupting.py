"""Run what may wait long, such as a look-up of a name, so that stopping takes effect at once and a limit holds."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import Final, TypeVar

from engine.errors import ScoringStopped, UsageProblem
from engine.runtime.protocol import Stop

_LOOK_EVERY_S: Final = 0.05

T = TypeVar("T")


def run_until(work: Callable[[Callable[[], bool]], T], stop: Stop, limit_s: float, what: str) -> T:
    """What `work` gives. It is handed a function that says whether nobody waits for it any more, to be asked often.

    Raises: ScoringStopped, UsageProblem once the limit is over, and whatever `work` raises.
    """
    outcome: Future[T] = Future()
    is_given_up = threading.Event()

    def body() -> None:
        try:
            outcome.set_result(work(is_given_up.is_set))
        except BaseException as error:  # raised again where it is waited for
            outcome.set_exception(error)

    # A daemon: a look-up that hangs in the system must not keep the program from ending.
    threading.Thread(target=body, name=what, daemon=True).start()
    waited_s = 0.0
    try:
        while True:
            try:
                return outcome.result(_LOOK_EVERY_S)
            except NotYet:
                if outcome.done():
                    raise  # the work's own
            waited_s += _LOOK_EVERY_S
            if stop.is_set():
                raise ScoringStopped(f"{what} was stopped.")
            if waited_s > limit_s:
                raise UsageProblem(f"{what} took longer than {limit_s:.0f} seconds.", "Try again later or elsewhere.")
    finally:
        is_given_up.set()
