"""A run gives way to whatever else the machine does, also where the scheduler thinks in sessions."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from local_training.runs.priority import yield_session

ROOT = Path(__file__).parents[3]
AUTOGROUP = Path("/proc/self/autogroup")


def in_own_session(code: str) -> str:
    """What `code` prints in a Python of its own, in a session of its own."""
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, start_new_session=True
    )
    return result.stdout.strip()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has classes of priority instead of niceness.")
def test_asked_twice_it_is_as_nice_as_asked():
    start = os.nice(0)
    code = (
        "import os; from local_training.runs.priority import yield_to_others; "
        "yield_to_others(19); yield_to_others(19); print(os.nice(0))"
    )
    assert int(in_own_session(code)) == max(start, 19)


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="This system does not schedule by sessions.")
def test_the_session_gives_way_too():
    code = (
        "from pathlib import Path; from local_training.runs.priority import yield_to_others; "
        "yield_to_others(7); print(Path('/proc/self/autogroup').read_text())"
    )
    assert in_own_session(code).endswith("nice 7")


def test_a_process_that_is_gone_is_passed_over():
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    yield_session(int(gone.stdout), 5)
