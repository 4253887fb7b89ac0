"""A home, a working folder, and a clock under the test's hand."""

import time
from pathlib import Path

import pytest

from app.harness.loading import HarnessFiles
from tests.app.harness.folders import write


class Clock:
    """Late enough for every file written so far to count as settled, until it is set back."""

    def __init__(self) -> None:
        self.ahead_ns = 60_000_000_000

    def __call__(self) -> int:
        return time.time_ns() + self.ahead_ns


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return write(tmp_path / "home")


@pytest.fixture
def proj(tmp_path: Path) -> Path:
    return write(tmp_path / "proj")


@pytest.fixture
def files(home: Path, clock: Clock) -> HarnessFiles:
    return HarnessFiles(home, now_ns=clock)
