"""A real host with a real timer and a real program that shows notices, killed in the middle of a run."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from app.cli.jobs import jobs
from app.host.starting import ensure_host
from app.paths import Paths
from tests.app.jobs.noting import NotingProgram
from tests.app.running import wait_until
from tests.support.hosting import host_pid, kill_host

pytestmark = [pytest.mark.model, pytest.mark.skipif(sys.platform != "linux", reason="The stand-in is for notify-send.")]


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NotingProgram:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}{os.pathsep}{os.environ['PATH']}")
    return NotingProgram(tmp_path / "programs", "notify-send")


@pytest.fixture
def macaron_jobs(capsys: pytest.CaptureFixture[str]):
    """Run the verb with --json and read what it printed."""

    def _run(*arguments: str) -> Any:
        capsys.readouterr()
        assert jobs.main([*arguments, "--json"], prog_name="macaron jobs", standalone_mode=False) == 0
        return json.loads(capsys.readouterr().out)

    return _run


def test_I1_a_run_that_was_killed_is_on_record_and_made_up_for(home, starter_base, desktop, macaron_jobs) -> None:
    desktop.hold(True)
    job = macaron_jobs("add", "茶泡好了; touch owned", "--in", "1s")
    assert (job["created_by"], job["is_enabled"]) == ("typed", True)
    assert host_pid(home) is not None  # adding started it
    wait_until(lambda: len(desktop.arguments) == 1, "the notice was begun")
    (listed,) = macaron_jobs("list")["jobs"]
    assert (listed["next_due_at"], listed["last"]["outcome"]) == (None, "running")
    second = macaron_jobs("add", "Behind it.", "--in", "1s", "--missed", "skip")
    wait_until(lambda: macaron_jobs("show", str(second["job_id"]))["last"] is not None, "the second was due")
    assert macaron_jobs("show", str(second["job_id"]))["last"]["outcome"] == "waiting"

    kill_host(home)
    assert {entry["last"]["outcome"] for entry in macaron_jobs("list")["jobs"]} == {"interrupted", "waiting"}
    desktop.hold(False)
    ensure_host(Paths(home))
    wait_until(lambda: len(desktop.arguments) == 3, "both were told")

    texts = [arguments[-1] for arguments in desktop.arguments]
    assert texts[0] == "茶泡好了; touch owned" and sorted(texts[1:]) == ["Behind it.", "茶泡好了; touch owned"]

    def history(number: int) -> list[tuple[str, int]]:
        return [(run["outcome"], run["attempt"]) for run in macaron_jobs("history", str(number))["runs"]]

    wait_until(lambda: history(second["job_id"]) == [("done", 1)], "the second is written down")
    wait_until(lambda: history(job["job_id"]) == [("done", 2), ("interrupted", 1)], "the first is written down")
    assert not list(Path.cwd().glob("owned"))


def test_a_job_is_run_by_hand_through_the_host_and_can_be_switched_off_and_on(
    home, starter_base, desktop, macaron_jobs
) -> None:
    number = str(macaron_jobs("add", "Stand up.", "--every", "2h", "--title", "Break")["job_id"])
    assert macaron_jobs("disable", number)["next_due_at"] is None
    asked = macaron_jobs("run", number)
    assert asked["is_by_hand"]
    wait_until(lambda: macaron_jobs("show", number)["last"]["outcome"] == "done", "it ran")
    assert desktop.arguments == [["--app-name=Macaron", "--", "Break", "Stand up."]]
    assert macaron_jobs("enable", number)["next_due_at"] is not None
    assert macaron_jobs("remove", number) == {"removed": [int(number)]}
    assert macaron_jobs("list") == {"jobs": []}
