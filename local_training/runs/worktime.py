"""Who has worked for how long: the sampler, the trainer, or neither. Knows no run. Light: no torch."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

Worker = Literal["sampling", "training"]


@dataclass(frozen=True, slots=True)
class Spent:
    """Of one lap, in seconds; pauses are in none of them."""

    seconds: float
    sampling: float
    training: float

    @property
    def idle_share(self) -> float:
        """Of the lap: neither worked."""
        return min(1.0, max(0.0, 1.0 - (self.sampling + self.training) / max(self.seconds, 1e-9)))


class WorkTime:
    """A clock with laps. A pause inside of work has to be told with `wait`."""

    def __init__(self) -> None:
        self._spent: dict[Worker, float] = {"sampling": 0.0, "training": 0.0}
        self._waited = 0.0
        self._lap_began = time.monotonic()

    @contextmanager
    def working(self, worker: Worker) -> Iterator[None]:
        began, waited = time.monotonic(), self._waited
        try:
            yield
        finally:
            self._spent[worker] += time.monotonic() - began - (self._waited - waited)

    def wait(self, seconds: float) -> None:
        """So long the run was paused just now."""
        self._waited += seconds

    def seconds(self) -> float:
        """Of the lap so far."""
        return time.monotonic() - self._lap_began - self._waited

    def lap(self) -> Spent:
        """What the lap was like; the next one begins."""
        spent = Spent(self.seconds(), self._spent["sampling"], self._spent["training"])
        self._spent = {"sampling": 0.0, "training": 0.0}
        self._waited = 0.0
        self._lap_began = time.monotonic()
        return spent
