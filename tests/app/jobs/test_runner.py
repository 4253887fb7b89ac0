"""Jobs run when they are due, one at a time; what came of them is written down, and the user told of it once."""

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.jobs.kinds import Finished, JobKinds
from app.jobs.runner import Runner
from app.jobs.shelf import HostedJobs
from engine.errors import AgentError, DiskFull, RuntimeFailed, UsageProblem
from engine.jobs.keeping import KeptJobs
from engine.jobs.reading import every
from engine.jobs.values import Job, Missed, NewJob
from engine.store import Store
from tests.app.jobs.driving import START, Bench, Gate, NotedWakings, at, soon
from tests.app.running import wait_until


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "macaron.db") as store:
        yield store


@pytest.fixture
def bench(store: Store) -> Bench:
    return Bench(store)


def failing(job: Job) -> Finished:
    raise RuntimeFailed("The model is out of memory.", "Close other programs.")


def test_a_reminder_says_its_text_at_its_time(bench: Bench) -> None:
    job = bench.add("茶泡好了")
    bench.go(at(8, 59, 59))
    assert bench.told == []
    bench.go(at(9))
    assert [(notice.job_id, notice.title, notice.text) for notice in bench.told] == [
        (job.job_id, "茶泡好了", "茶泡好了")
    ]
    (run,) = bench.shelf.job_runs(job.job_id)
    assert (run.outcome, run.text) == ("done", "茶泡好了")


@pytest.mark.parametrize(
    ("language", "expected"),
    [("en", "Tea. (this was due 2026-06-01 09:00)"), ("zh", "Tea.（原定时间：2026-06-01 09:00）")],
)
def test_a_reminder_that_comes_late_says_when_it_was_due(store: Store, language: str, expected: str) -> None:
    bench = Bench(store, language=language)
    bench.add()
    bench.restart(at(15))
    assert [notice.text for notice in bench.told] == [expected]


def test_I1_a_machine_that_slept_through_the_time_does_what_the_policy_says(bench: Bench) -> None:
    jobs = {kind: bench.add(kind, kind="command", missed=Missed(kind, 2)) for kind in ("skip", "once", "all")}
    bench.go(at(12, day=4))
    assert sorted(bench.command.ran) == ["all", "all", "once"]
    assert bench.history(jobs["skip"]) == [("04T09:00", "missed")]
    assert bench.history(jobs["once"]) == [("03T09:00", "missed"), ("04T09:00", "done")]
    assert bench.history(jobs["all"]) == [("02T09:00", "missed"), ("03T09:00", "done"), ("04T09:00", "done")]


@pytest.mark.parametrize("restarted", [at(8, 59, 59), at(9, 0, 1)], ids=["a second before", "a second after"])
def test_I1_a_restart_a_second_from_the_time_runs_it_once(bench: Bench, restarted: datetime) -> None:
    job = bench.add(missed=Missed("skip"))
    bench.restart(restarted)
    bench.go(restarted + timedelta(seconds=2))
    assert bench.history(job) == [("01T09:00", "done")]


def test_I1_a_clock_that_goes_back_and_forth_repeats_nothing(bench: Bench) -> None:
    job = bench.add()
    for now in (at(9, 1), at(8, 20), at(9, 0), at(9, 1), at(8, 59), at(9, 2)):
        bench.go(now)
    assert bench.history(job) == [("01T09:00", "done")]


def test_I1_a_list_right_after_the_time_shows_what_really_happened(bench: Bench) -> None:
    job = bench.add()
    bench.clock.now = at(9, 0, 1)
    for _ in range(3):  # listing looks, and changes nothing
        (listed,) = bench.shelf.jobs()
        assert (listed.next_due_at, listed.last) == (job.next_due_at, None)
    bench.runner.look()
    (listed,) = bench.shelf.jobs()
    assert listed.last is not None and listed.last.is_waiting
    bench.runner.run_waiting()
    (listed,) = bench.shelf.jobs()
    assert listed.last is not None and (listed.last.planned_at, listed.last.outcome) == (job.next_due_at, "done")
    assert len(bench.told) == 1


def test_I2_fifty_overdue_jobs_run_one_at_a_time_while_the_list_answers(store: Store) -> None:
    gate, kept = Gate(), KeptJobs(store.database)
    kinds = JobKinds({"command": gate})
    late = datetime.now(UTC)
    for number in range(50):
        new = NewJob("", "command", f"{number}", every("1m", "UTC", late - timedelta(minutes=2)))
        kept.add(new, provenance="typed", request=f"{number}", now=late - timedelta(minutes=2))
    runner = Runner(kept, kinds, lambda notice: None, language="en")
    shelf = HostedJobs(kept, kinds, runner, lambda: datetime.now(UTC))
    runner.start(NotedWakings())
    assert gate.entered.wait(20)
    answered = threading.Event()
    took_s = 0.0

    def look_and_disable() -> None:
        nonlocal took_s
        began_s = time.monotonic()
        listed = shelf.jobs()
        assert len(listed) == 50 and sum(job.last is not None and job.last.is_running for job in listed) == 1
        waiting = next(job for job in listed if job.last is not None and job.last.is_waiting)
        shelf.disable_job(waiting.job_id)
        took_s = time.monotonic() - began_s
        assert shelf.job_runs(waiting.job_id)[0].outcome == "cancelled"
        answered.set()

    asking = threading.Thread(target=look_and_disable)
    asking.start()
    asking.join(20)
    assert answered.is_set() and took_s < 1
    assert gate.now == 1  # the first of them still runs
    gate.opened.set()
    wait_until(lambda: sum(run.outcome == "done" for run in shelf.job_runs(limit=500)) >= 49, "all ran")
    runner.stop()
    assert gate.most_at_once == 1


def test_I3_a_job_of_a_kind_that_is_gone_is_blocked_with_one_notice(bench: Bench) -> None:
    job = bench.add("night", kind="command")
    del bench.kinds._kinds["command"]
    for day in range(1, 4):
        bench.go(at(9, day=day))
    assert [notice.text for notice in bench.told] == [
        "This job cannot run, and this is said once: This version of the program has no jobs of the kind command."
    ]
    (run,) = bench.shelf.job_runs(job.job_id)
    assert (run.outcome, run.count) == ("blocked", 3)
    assert "no jobs of the kind command" in bench.shelf.job(job.job_id).blocked_by


def test_I3_what_was_missing_and_is_there_again_runs(bench: Bench) -> None:
    job = bench.add(kind="command")
    bench.command.lacks = "The base is not on this machine."
    bench.go(at(9))
    bench.command.lacks = ""
    bench.go(at(9, day=2))
    assert bench.history(job) == [("01T09:00", "blocked"), ("02T09:00", "done")]
    bench.command.lacks = "The base is not on this machine."
    bench.go(at(9, day=3))
    assert len(bench.told) == 2  # gone again is news again
    assert bench.command.ran == ["Tea."]


@pytest.mark.parametrize("provenance", ["tool", "api", "pasted", "imported", "attached"])
def test_I3_no_job_makes_a_job(bench: Bench, provenance) -> None:
    new = NewJob("", "reminder", "Tea.", every("1m", "UTC", START))

    def makes_another(job: Job) -> Finished:
        bench.shelf.add_job(new, "from within", provenance)
        return Finished("made one")

    bench.command.answers = makes_another
    job = bench.add(kind="command")
    bench.go(at(9))
    (run,) = bench.shelf.job_runs(job.job_id)
    assert run.outcome == "failed" and run.text.startswith("Only what you type yourself can make a job.")
    assert [kept.job_id for kept in bench.shelf.jobs()] == [job.job_id]


def test_a_job_that_fails_says_why_and_the_user_is_told_once(bench: Bench) -> None:
    bench.command.answers = failing
    job = bench.add(kind="command")
    for day in range(1, 4):
        bench.go(at(9, day=day))
    assert [notice.text for notice in bench.told] == [
        "This job failed: The model is out of memory. Close other programs."
    ]
    assert {run.text for run in bench.shelf.job_runs(job.job_id)} == {
        "The model is out of memory. Close other programs."
    }


def test_a_mistake_in_a_command_is_a_failed_run_and_the_next_job_runs(bench: Bench) -> None:
    def mistaken(job: Job) -> Finished:
        if job.text == "bad":
            raise ZeroDivisionError("division by zero")
        return Finished("fine")

    bench.command.answers = mistaken
    bad, good = bench.add("bad", kind="command"), bench.add("good", kind="command")
    bench.go(at(9))
    assert bench.history(bad) == [("01T09:00", "failed")]
    assert "division by zero" in bench.shelf.job_runs(bad.job_id)[0].text
    assert bench.history(good) == [("01T09:00", "done")]


def test_a_reminder_that_reaches_nobody_has_failed_and_says_so(bench: Bench) -> None:
    bench.untold = AgentError("No notice could be shown: there is no program notify-send.", "Install it.")
    reminder, command = bench.add("Tea."), bench.add("report", kind="command")
    bench.command.answers = lambda job: Finished("written", notice="It is written.")
    bench.go(at(9))
    (run,) = bench.shelf.job_runs(reminder.job_id)
    assert run.outcome == "failed" and run.text.startswith("Tea.\nNo notice could be shown")
    (run,) = bench.shelf.job_runs(command.job_id)
    assert run.outcome == "done" and run.text.startswith("written\nNo notice could be shown")


def test_a_job_is_run_by_hand_whatever_its_times(bench: Bench) -> None:
    job = bench.add()
    bench.shelf.disable_job(job.job_id)
    bench.shelf.run_job(job.job_id)
    bench.runner.run_waiting()
    assert [notice.text for notice in bench.told] == ["Tea."]
    assert bench.shelf.job(job.job_id).next_due_at is None


def test_a_kind_that_no_part_brought_is_refused_with_those_there_are(bench: Bench) -> None:
    with pytest.raises(UsageProblem, match="kind 'night'") as refused:
        bench.add(kind="night")
    assert refused.value.hint == "Kinds: command, reminder."
    bench.kinds.register("night", bench.command)
    assert bench.add(kind="night").kind == "night"
    with pytest.raises(UsageProblem, match="already"):
        bench.kinds.register("reminder", bench.command)


def test_the_timetable_is_told_of_the_next_time(bench: Bench) -> None:
    timetable = NotedWakings()
    bench.runner.start(timetable)
    job = bench.add()
    assert timetable.moment == at(9)
    bench.shelf.disable_job(job.job_id)
    assert timetable.moment is None
    bench.shelf.enable_job(job.job_id)
    assert timetable.moment == at(9)
    bench.runner.stop()


@pytest.mark.parametrize("way", ["removed", "host ends"])
def test_a_run_that_goes_on_is_stopped_when_its_job_is_removed_or_the_host_ends(store: Store, way: str) -> None:
    gate, kept = Gate(), KeptJobs(store.database)
    kinds = JobKinds({"command": gate})
    runner = Runner(kept, kinds, lambda notice: None, language="en")
    shelf = HostedJobs(kept, kinds, runner, lambda: datetime.now(UTC))
    runner.start(NotedWakings())
    job = shelf.add_job(NewJob("", "command", "go on", soon(datetime.now(UTC) + timedelta(hours=1))), "r")
    shelf.run_job(job.job_id)
    assert gate.entered.wait(20)
    if way == "removed":
        shelf.remove_job(job.job_id)
        wait_until(lambda: gate.now == 0, "the run was stopped")
        assert shelf.job_runs() == ()
        runner.stop()
    else:
        runner.stop()
        assert gate.now == 0
        (run,) = shelf.job_runs(job.job_id)
        assert run.is_running  # the next host finds it
        kept.recover(datetime.now(UTC))
        assert shelf.job_runs(job.job_id)[0].outcome == "interrupted"


def test_with_a_disk_that_takes_nothing_a_host_starts_and_its_jobs_wait(
    store: Store, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bench.add()
    other = Bench(store)
    other.clock.now = at(9)

    def full(now: datetime) -> None:
        raise DiskFull("The disk is full.", "Free some space.")

    with monkeypatch.context() as patch:
        patch.setattr(other.kept, "recover", full)
        other.runner.start(NotedWakings())
        assert [listed.last for listed in other.shelf.jobs()] == [None]
    other.runner.look()
    wait_until(lambda: bench.history(job) == [("01T09:00", "done")], "it ran once the disk was better")
    other.runner.stop()
    assert [notice.text for notice in other.told] == ["Tea."]
