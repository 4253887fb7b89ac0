"""Ctrl+C, and a polite end of the process, while items are measured: prompt, quiet, and what is complete is kept."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.paths import Paths
from tests.app.running import environment, wait_until

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("tiny_profile")]

SILENCE_S = 4.0
"""It takes a fraction of that, but the process gives way to everything else on the machine."""
STOPPED = 130


@pytest.mark.parametrize(
    ("number", "arguments"),
    [(signal.SIGINT, ()), (signal.SIGTERM, ("--json",))],
    ids=["ctrl+c", "terminate"],
)
def test_a_signal_ends_the_measuring_at_once(home: Path, number: signal.Signals, arguments: tuple[str, ...]):
    command = [sys.executable, "-m", "tests.app.evaluation.evaluating_process", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=environment()) as child:
        folder = Paths(home).evaluations
        wait_until(lambda: any(folder.glob("*.json")), "the first suite is measured", timeout_s=60)
        sent = time.monotonic()
        child.send_signal(number)
        said, errors = child.communicate(timeout=30)
        assert time.monotonic() - sent < SILENCE_S
    assert (child.returncode, errors) == (STOPPED, b"")
    if arguments:
        assert json.loads(said) == {"stopped": True}
    else:
        assert said.startswith(b"Stopped.")
    assert len(list(folder.glob("*.json"))) == 1, "the suite that is complete is remembered, and no other"
