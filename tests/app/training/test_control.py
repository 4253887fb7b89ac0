"""Pause, stop, report and list: said to runs from outside, with a real trainer that hears them."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.paths import Paths
from app.training.control import list_runs, pause_run, report_run, stop_run
from app.training.finding import find_run
from app.training.running import resume_run
from engine.errors import AgentError, HomeBusy, UnknownName, UsageProblem
from local_training.runs.folder import RunFolder, RunState, now
from local_training.runs.metrics import append_metrics
from tests.app.running import TIMEOUT_S, wait_until
from tests.app.training.samples import make_run, scripted, watch
from tests.app.training.scripted_trainer import ENDLESS, evaluation, step

NAME = Path("first")


@pytest.fixture(autouse=True)
def _in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


@pytest.fixture
def run(home: Path) -> RunFolder:
    return make_run(home)


@pytest.fixture
def paths(home: Path) -> Paths:
    return Paths(home)


@contextmanager
def trained(run: RunFolder) -> Iterator[Callable[[], str]]:
    """The run is trained meanwhile; yields what ends the trainer and says what its watcher printed."""
    with watch(run, f"steps-{ENDLESS}") as process:

        def rest() -> str:
            return process.communicate(timeout=TIMEOUT_S)[0].decode("utf-8")

        try:
            wait_until(lambda: run.read_state().step > 0, "a step is done")
            yield rest
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(TIMEOUT_S)


def test_a_paused_run_waits_until_it_may_go_on(run: RunFolder, paths: Paths, capsys: pytest.CaptureFixture[str]):
    with trained(run) as rest:
        assert pause_run(paths, os.environ, NAME, off=False, as_json=False) == 0
        assert "macaron train pause first --off" in capsys.readouterr().out
        step_then = run.read_state().step
        time.sleep(0.3)
        assert (run.read_state().state, run.read_state().step) == ("paused", step_then)
        assert pause_run(paths, os.environ, NAME, off=True, as_json=True) == 0
        assert json.loads(capsys.readouterr().out) == {"folder": str(run.path), "paused": False}
        wait_until(lambda: run.read_state().step > step_then, "the run goes on")
        stop_run(paths, os.environ, NAME, as_json=False)
        said = rest()
    assert said.index("It was asked to wait") < said.index("It goes on") < said.index("Stopped after")


def test_a_run_can_be_stopped_while_it_waits(run: RunFolder, paths: Paths, capsys: pytest.CaptureFixture[str]):
    with trained(run) as rest:
        pause_run(paths, os.environ, NAME, off=False, as_json=False)
        assert stop_run(paths, os.environ, NAME, as_json=False) == 0
        rest()
    assert "macaron train resume first" in capsys.readouterr().out
    assert run.read_state().state == "stopped"


def test_a_run_that_is_being_trained_is_not_resumed_a_second_time(run: RunFolder, paths: Paths):
    with trained(run):
        with pytest.raises(HomeBusy, match="already being trained") as caught:
            resume_run(paths, os.environ, NAME, as_json=False, trainer=scripted("steps-1"))
        assert "macaron train stop first" in caught.value.hint
        pause_run(paths, os.environ, NAME, off=False, as_json=False)
        with pytest.raises(HomeBusy) as caught:
            resume_run(paths, os.environ, NAME, as_json=False, trainer=scripted("steps-1"))
        assert "macaron train pause first --off" in caught.value.hint


def test_a_run_that_does_not_wait_in_time_is_said_to_do_so_later(run: RunFolder, paths: Paths):
    run.write_state(RunState("running", 1, pid=os.getpid(), updated_at=now()))
    with pytest.raises(AgentError, match="does not wait yet") as caught:
        pause_run(paths, os.environ, NAME, off=False, as_json=False, wait_s=0.1)
    assert "--off" in caught.value.hint and run.pause.exists()


@pytest.mark.parametrize("state", ["new", "stopped", "failed", "finished", "running"])
def test_nobody_is_asked_where_nobody_works(run: RunFolder, paths: Paths, state):
    run.write_state(RunState(state, 1, pid=2**22 + 1, updated_at=now()))
    for ask in (
        lambda: pause_run(paths, os.environ, NAME, off=False, as_json=False),
        lambda: stop_run(paths, os.environ, NAME, as_json=False),
    ):
        with pytest.raises(UsageProblem, match="Nobody works on the run first") as caught:
            ask()
        assert ("finished" in caught.value.hint) == (state == "finished")
    assert not run.pause.exists() and not run.stop.exists()


def test_a_process_that_came_later_to_the_number_of_a_trainer_is_not_taken_for_it(run: RunFolder, paths: Paths):
    run.write_state(RunState("running", 1, pid=os.getpid(), updated_at=1.0))
    with pytest.raises(UsageProblem, match="Nobody works"):
        stop_run(paths, os.environ, NAME, as_json=False)


def test_the_list_says_how_far_each_run_is_and_how_it_does(
    home: Path, paths: Paths, capsys: pytest.CaptureFixture[str]
):
    good, bad, cut = make_run(home, "a-good", steps=3), make_run(home, "b-bad"), make_run(home, "c-cut")
    (paths.runs / ".part-made").mkdir()
    for metrics in (evaluation(0), step(1), evaluation(3)):
        append_metrics(good.metrics, metrics)
    good.write_state(RunState("finished", 3))
    bad.write_state(RunState("failed", 1, "The \x1b[31mloss is no number."))
    cut.write_state(RunState("running", 2, pid=2**22 + 1, updated_at=now()))
    assert list_runs(paths, os.environ, as_json=False) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["run", "state", "step", "accuracy", "tokens", "problem"],
        ["a-good", "finished", "3/3", "43.0", "%", "147"],
        ["b-bad", "failed", "1/5", "-", "-", "The", "loss", "is", "no", "number."],
        ["c-cut", "cut", "off", "2/5", "-", "-"],
    ]
    assert list_runs(paths, {**os.environ, "LC_ALL": "zh_CN.UTF-8"}, as_json=False) == 0
    assert "已完成" in (out := capsys.readouterr().out) and "中断" in out


def test_scripts_get_the_list_as_one_object(run: RunFolder, paths: Paths, capsys: pytest.CaptureFixture[str]):
    append_metrics(run.metrics, step(1))
    list_runs(paths, os.environ, as_json=True)
    (one,) = json.loads(capsys.readouterr().out)["runs"]
    assert (one["name"], one["kind"], one["expert"], one["state"]) == ("first", "rl", "L0", "new")
    assert (one["step"], one["steps"], one["accuracy"], one["length_tokens"]) == (0, 5, 0.5, 120.0)


def test_a_home_without_runs_says_how_to_begin_one(paths: Paths, capsys: pytest.CaptureFixture[str]):
    list_runs(paths, os.environ, as_json=False)
    assert "macaron train run RECIPE.toml" in capsys.readouterr().out


def test_the_report_can_be_written_at_any_time_and_opened(
    run: RunFolder, paths: Paths, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or len(opened) == 1)
    append_metrics(run.metrics, step(1))
    assert report_run(paths, os.environ, NAME, opens=True, as_json=False) == 0
    assert opened == [run.report.as_uri()] and run.report.is_file()
    assert f"The report is {run.report}" in (said := capsys.readouterr().out) and "No browser" not in said
    report_run(paths, os.environ, NAME, opens=True, as_json=False)
    assert "No browser" in capsys.readouterr().out


def test_a_finished_run_is_shown_and_not_begun_again(run: RunFolder, paths: Paths, capsys: pytest.CaptureFixture[str]):
    run.write_state(RunState("finished", 5, reason="All steps are done."))
    assert resume_run(paths, os.environ, NAME, as_json=False, trainer=scripted("silent")) == 0
    assert capsys.readouterr().out == "Finished after step 5. All steps are done.\n"


def test_a_run_is_found_by_name_and_by_folder(run: RunFolder, paths: Paths, monkeypatch: pytest.MonkeyPatch):
    assert find_run(paths, NAME).path == run.path
    monkeypatch.chdir(run.path.parent)
    assert find_run(Paths(paths.home / "other"), NAME).path == run.path
    assert find_run(Paths(paths.home / "other"), run.path).path == run.path


@pytest.mark.parametrize("name", ["none", ".", "..", "/nowhere", "../first", "a\udcff"])
def test_what_is_no_run_is_refused_with_those_there_are(run: RunFolder, paths: Paths, name: str):
    with pytest.raises(UnknownName) as caught:
        find_run(paths, Path(name))
    assert "Runs of this home: first." in caught.value.hint
