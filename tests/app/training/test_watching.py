"""A run as its user watches it, in real processes: progress, Ctrl+C, kills and crashes, for people and for scripts."""

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from local_training.runs.folder import RunFolder, RunState
from tests.app.running import TIMEOUT_S, Done, complaint, wait_until
from tests.app.training.samples import make_run, watch
from tests.app.training.scripted_trainer import ENDLESS

FINISHED, FAILED, STOPPED = 0, 1, 130


@pytest.fixture
def run(home: Path) -> RunFolder:
    return make_run(home)


def to_end(process: subprocess.Popen[bytes]) -> Done:
    out, err = process.communicate(timeout=TIMEOUT_S)
    return Done(process.returncode, out.decode("utf-8"), err.decode("utf-8"))


def watched(run: RunFolder, scenario: str, *options: str, **changes: str | None) -> Done:
    with watch(run, scenario, *options, **changes) as process:
        return to_end(process)


def objects(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.out.splitlines()]


def read_until(process: subprocess.Popen[bytes], text: bytes) -> bytes:
    assert process.stdout is not None
    seen, deadline = b"", time.monotonic() + TIMEOUT_S
    while text not in seen:
        assert time.monotonic() < deadline and process.poll() is None, seen
        if select.select([process.stdout], [], [], 0.05)[0]:
            seen += os.read(process.stdout.fileno(), 65536)
    return seen


def is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_pipe_gets_a_line_for_each_step_and_evaluation_and_what_came_of_it_all(run: RunFolder):
    done = watched(run, "steps-3")
    assert (done.code, done.err) == (FINISHED, "")
    lines = done.out.splitlines()
    assert lines[0] == f"The run is in {run.path}"
    assert lines[1] == "held-out after step 0 (items: 200): accuracy 40.0 % · reward 0.500 · length 150 tokens"
    assert [line.split(":")[0] for line in lines[2:5]] == ["step 1/3", "step 2/3", "step 3/3"]
    assert lines[6:9] == [
        "Finished after step 3. All steps are done.",
        "Held-out, before → after (items: 200): accuracy 40.0 % → 43.0 % · length 150 → 147 tokens",
        f"The adapter is {run.adapter_gguf}",
    ]
    assert lines[9] == f"The report is {run.report}" and run.report.is_file()


def test_everything_is_said_in_chinese_too(run: RunFolder):
    done = watched(run, "steps-1", LC_ALL="zh_CN.UTF-8")
    assert done.code == FINISHED
    assert "第 1/1 步：奖励 0.250 · 正确率 50.0 %" in done.out
    assert "留出评测，训练前 → 训练后，200 项：正确率 40.0 % → 41.0 %" in done.out
    assert "已完成，共 1 步" in done.out


def test_scripts_get_the_events_of_the_trainer_and_the_result_last(run: RunFolder):
    done = watched(run, "steps-2", "--json", LC_ALL="zh_CN.UTF-8")
    assert (done.code, done.err) == (FINISHED, "")
    first, *events, result = objects(done)
    assert first == {"kind": "run", "folder": str(run.path)}
    assert [one["kind"] for one in events] == ["evaluation", *["progress", "step"] * 2, "evaluation"]
    assert (result["kind"], result["state"], result["step"]) == ("result", "finished", 2)
    assert (result["before"]["accuracy"], result["after"]["accuracy"]) == (0.4, 0.42)
    assert result["adapter"] == str(run.adapter_gguf) and result["report"] == str(run.report)
    assert "error" not in result


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl+c", "terminate"])
def test_a_signal_ends_the_run_and_says_how_to_go_on(run: RunFolder, number: signal.Signals):
    with watch(run, f"steps-{ENDLESS}") as process:
        read_until(process, b"step 2/")
        process.send_signal(number)
        done = to_end(process)
    assert (done.code, done.err) == (STOPPED, "")
    assert "macaron train resume first" in done.out
    state = run.read_state()
    assert state.state == "stopped" and state.step >= 2
    assert f"Stopped after step {state.step}." in done.out
    again = watched(run, f"steps-{state.step + 1}")
    assert again.code == FINISHED and f"step {state.step + 1}/" in again.out
    assert f"step {state.step}/" not in again.out


def test_ctrl_c_counts_also_before_the_trainer_listens(run: RunFolder):
    with watch(run, "loading", "--json") as process:
        read_until(process, b"loading")
        process.send_signal(signal.SIGINT)
        assert to_end(process).code == STOPPED
    assert run.read_state().state == "stopped"


def test_a_second_ctrl_c_ends_a_trainer_that_does_not_listen_and_its_children_at_once(run: RunFolder):
    with watch(run, "deaf") as process:
        read_until(process, b"step 1")
        trainer, grandchild = run.read_state().pid, int((run.path / "grandchild").read_text())
        process.send_signal(signal.SIGINT)
        read_until(process, b"Ctrl+C again")
        process.send_signal(signal.SIGINT)
        done = to_end(process)
    assert (done.code, done.err) == (STOPPED, "")
    assert is_gone(trainer)
    wait_until(lambda: is_gone(grandchild), "the trainer's child is gone")
    assert (run.read_state().state, run.read_state().step) == ("stopped", 1)


def test_a_trainer_whose_watcher_is_killed_ends_in_order(run: RunFolder):
    with watch(run, f"steps-{ENDLESS}") as process:
        read_until(process, b"step 1/")
        process.kill()
        process.communicate()
    wait_until(lambda: run.read_state().state == "stopped", "the trainer has ended")


def test_a_reader_that_goes_away_ends_the_run(run: RunFolder):
    with watch(run, f"steps-{ENDLESS}") as process:
        read_until(process, b"step 1/")
        assert process.stdout is not None
        process.stdout.close()
        process.wait(TIMEOUT_S)
    assert run.read_state().state == "stopped"


def test_where_no_file_can_be_written_a_closed_pipe_asks_the_trainer_to_end(run: RunFolder):
    with watch(run, f"steps-{ENDLESS}") as process:
        read_until(process, b"step 1/")
        run.stop.symlink_to(run.path / "nowhere" / "stop")
        process.send_signal(signal.SIGINT)
        assert to_end(process).code == STOPPED
    assert run.read_state().state == "stopped"


def test_a_killed_trainer_is_told_from_a_crashed_one_and_the_folder_says_so(run: RunFolder):
    said = complaint(watched(run, "killed"), FAILED)
    assert "signal 9 (SIGKILL): most likely memory ran out" in said
    assert "macaron train resume first" in said
    state = run.read_state()
    assert (state.state, state.step) == ("failed", 1)
    assert state.problem in said and state.hint in said


def test_a_crash_names_the_signal_and_the_last_words(run: RunFolder):
    run.log.write_text("what an earlier start said\n")
    said = complaint(watched(run, "crashed"), FAILED)
    assert "signal 11 (SIGSEGV): a native library saw something" in said
    assert "macaron train resume first" in said


def test_a_trainer_that_ends_without_a_last_word_is_a_failure(run: RunFolder):
    said = complaint(watched(run, "silent"), FAILED)
    assert "exit code 3 and did not say why: ImportError: it was this" in said
    assert "训练进程以退出码 3 结束" in watched(run, "silent", LC_ALL="zh_CN.UTF-8").err


def test_a_run_that_fails_says_why_in_the_form_that_was_asked_for(run: RunFolder):
    assert complaint(watched(run, "diverged"), FAILED) == ("error: The loss is no number.\nhint: Lower optimizer.rate.")
    done = watched(run, "diverged", "--json")
    result = objects(done)[-1]
    assert (done.code, done.err, result["state"]) == (FAILED, "", "failed")
    assert result["error"] == {"problem": "The loss is no number.", "hint": "Lower optimizer.rate."}


def test_what_libraries_print_is_passed_over_and_what_is_shown_is_harmless(run: RunFolder):
    done = watched(run, "noisy")
    assert done.code == FINISHED
    assert "note: memory ran short 内存不足" in done.out
    assert not set("\x1b\u202e\x07") & set(done.out)


def test_scripts_get_what_was_told_whole_but_escaped(home: Path):
    done = watched(make_run(home), "noisy", "--json")
    assert not set("\x1b\u202e\x07") & set(done.out)
    (note,) = [one for one in objects(done) if one["kind"] == "note"]
    assert note["text"] == "memory \x1b[31mran short\u202e 内存不足"


def test_a_report_that_cannot_be_written_takes_nothing_from_the_run(run: RunFolder):
    run.report.mkdir()
    done = watched(run, "steps-1")
    assert done.code == FINISHED and "Finished after step 1." in done.out
    assert done.err.startswith("note: ") and "report.html" in done.err
    run.write_state(RunState("stopped", 1))
    scripts = watched(run, "steps-2", "--json")
    assert (scripts.code, scripts.err, objects(scripts)[-1]["report"]) == (FINISHED, "", None)


def test_a_log_that_cannot_be_written_starts_nothing(run: RunFolder):
    run.log.mkdir()
    with watch(run, "steps-1") as process:
        done = to_end(process)
    assert done.code == FAILED and "log.txt cannot be written" in done.err
    assert not run.metrics.exists()
