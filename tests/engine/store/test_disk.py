"""J-1: a disk that is really full, and one that cannot be written, as a process in a sandbox meets them."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.store import Store
from tests.engine.store.conftest import add_turn, bytes_below
from tests.support.requirements import require_program

ROOT = Path(__file__).parents[3]
DISK_BYTES = 4_000_000

WRITES_UNTIL_REFUSED = """
import sys
from pathlib import Path
from engine.errors import AgentError
from engine.store import Store
from engine.values import Answer

turns = []
try:
    with Store.open(Path("/mnt/macaron.db")) as store:
        for number in range(10_000):
            turn = store.open_turn(f"{number}", conversation_id=None, parent_turn_id=None, profile="starter")
            store.close_turn(Answer(turn.turn_id, "answered", "words " * 5000, None))
            turns.append(turn.turn_id)
except AgentError as error:
    print(type(error).__name__, error.problem, error.hint, sep="|")
with Store.open(Path("/mnt/macaron.db")) as store:
    print(store.integrity(), len(turns), all(store.turn(turn).answer_text == "words " * 5000 for turn in turns))
"""

OPENS = """
from pathlib import Path
from engine.errors import AgentError
from engine.store import Store

try:
    Store.open(Path("/mnt/macaron.db"))
except AgentError as error:
    print(type(error).__name__, error.problem, error.hint, sep="|")
"""


def printed_by(script: str, *mount: str) -> list[str]:
    """The lines that a process prints for which /mnt is mounted like this and everything else cannot be written."""
    sandbox = [require_program("bwrap"), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *mount]
    command = [*sandbox, "--setenv", "PYTHONPATH", str(ROOT), sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_J1_a_disk_that_is_really_full_is_told_and_costs_no_committed_turn():
    refused, after = printed_by(WRITES_UNTIL_REFUSED, "--size", str(DISK_BYTES), "--tmpfs", "/mnt")
    kind, problem, hint = refused.split("|")
    assert (kind, problem) == ("DiskFull", "The disk that holds /mnt/macaron.db is full.")
    assert "Free some space" in hint
    integrity, turns, are_whole = after.split()
    assert (integrity, are_whole) == ("ok", "True")
    assert int(turns) > 10


@pytest.mark.parametrize("has_database", [True, False], ids=["with a database", "empty"])
def test_J1_a_disk_that_cannot_be_written_is_told_and_nothing_on_it_changes(tmp_path, has_database):
    if has_database:
        with Store.open(tmp_path / "macaron.db") as store:
            add_turn(store, "Hi")
    before = bytes_below(tmp_path)
    (refused,) = printed_by(OPENS, "--ro-bind", str(tmp_path), "/mnt")
    kind, problem, hint = refused.split("|")
    assert (kind, problem.startswith("/mnt/macaron.db cannot be used")) == ("StoreProblem", True)
    assert "--home" in hint
    assert bytes_below(tmp_path) == before
