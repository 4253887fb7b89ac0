"""Jobs are kept with what became of each of their times, whatever ends the process that runs them."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

import engine.store.jobs as statements
from engine.errors import BadText, UnknownName, UsageProblem
from engine.jobs.keeping import KeptJobs
from engine.jobs.reading import cron, every, once_at, stamp
from engine.jobs.values import MOST_TEXT_CHARACTERS, Job, Missed, NewJob, Outcome, Run, Schedule
from engine.store import Store

START = datetime(2026, 6, 1, 8, 0, tzinfo=UTC)
NINE = cron("0 9 * * *", "UTC", START)


def at(hour: int, minute: int = 0, second: int = 0, *, day: int = 1) -> datetime:
    return START.replace(day=day, hour=hour, minute=minute, second=second)


def added(kept: KeptJobs, schedule: Schedule = NINE, missed: Missed = Missed(), text: str = "Tea.") -> Job:  # noqa: B008
    new = NewJob("", "reminder", text, schedule, missed)
    return kept.add(new, provenance="typed", request=uuid.uuid4().hex, now=START)


def outcomes(kept: KeptJobs, job: Job) -> list[tuple[str, Outcome, int]]:
    """When it was planned, what came of it, and for how many times it stands; the oldest first."""
    return [(run.planned_at[8:16], run.outcome, run.count) for run in reversed(kept.runs(job.job_id))]


def run_all(kept: KeptJobs, now: datetime) -> Sequence[Run]:
    runs = []
    while (begun := kept.begin(now)) is not None:
        kept.end(begun[1], "done", "", now)
        runs.append(begun[1])
    return runs


def test_a_job_is_kept_as_it_was_asked_for(kept: KeptJobs) -> None:
    new = NewJob("  Morning\ntea ", "prompt", " 泡茶？ ", NINE, Missed("all", 3), "L2")
    job = kept.add(new, provenance="typed", request="r", now=START)
    assert (job.title, job.text, job.expert, job.missed) == ("Morning tea", "泡茶？", "L2", Missed("all", 3))
    assert (job.created_by, job.created_at, job.next_due_at) == ("typed", stamp(START), stamp(at(9)))
    assert kept.jobs() == (job,) and kept.job(job.job_id) == job


def test_the_same_request_makes_one_job(kept: KeptJobs) -> None:
    new = NewJob("", "reminder", "Tea.", NINE)
    first = kept.add(new, provenance="typed", request="lost answer", now=START)
    assert kept.add(new, provenance="typed", request="lost answer", now=at(8, 30)) == first
    assert kept.add(new, provenance="typed", request="another", now=START).job_id != first.job_id


@pytest.mark.parametrize("provenance", ["tool", "api", "pasted", "attached", "imported"])
def test_I3_no_job_is_made_by_anything_but_a_person_who_types(kept: KeptJobs, provenance) -> None:
    with pytest.raises(UsageProblem, match="Only what you type"):
        kept.add(NewJob("", "reminder", "Tea.", NINE), provenance=provenance, request="r", now=START)
    assert kept.jobs() == ()


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"text": " \n"}, BadText),
        ({"text": "x" * 20_001}, BadText),
        ({"title": "x" * 201}, BadText),
        ({"text": "half \ud800"}, BadText),
        ({"kind": "Rm -rf"}, UsageProblem),
        ({"missed": Missed("all", 0)}, UsageProblem),
        ({"schedule": Schedule("once", stamp(at(7, 58)), "UTC")}, UsageProblem),
    ],
)
def test_what_makes_no_sense_is_not_kept(kept: KeptJobs, wrong: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        kept.add(replace(NewJob("Tea", "reminder", "Tea.", NINE), **wrong), provenance="typed", request="r", now=START)
    assert kept.jobs() == ()


def test_a_job_without_a_title_is_called_by_its_first_line(kept: KeptJobs) -> None:
    assert added(kept, text="Call Ada\nabout the engine").title == "Call Ada"
    assert added(kept, text="x" * 100).title == "x" * 59 + "…"


def test_a_time_is_run_once_and_the_next_one_is_planned(kept: KeptJobs) -> None:
    job = added(kept)
    kept.plan_due(at(8, 59, 59))
    assert kept.begin(at(8, 59, 59)) is None
    kept.plan_due(at(9))
    kept.plan_due(at(9))
    (run,) = run_all(kept, at(9))
    assert (run.planned_at, run.started_at, run.attempt) == (stamp(at(9)), stamp(at(9)), 1)
    assert kept.job(job.job_id).next_due_at == stamp(at(9, day=2))
    assert outcomes(kept, job) == [("01T09:00", "done", 1)]


@pytest.mark.parametrize(
    ("missed", "expected"),
    [
        pytest.param(Missed("skip"), [("04T09:00", "missed", 4)], id="skip"),
        pytest.param(Missed("once"), [("03T09:00", "missed", 3), ("04T09:00", "done", 1)], id="once"),
        pytest.param(
            Missed("all", 2), [("02T09:00", "missed", 2), ("03T09:00", "done", 1), ("04T09:00", "done", 1)], id="all"
        ),
    ],
)
def test_I1_what_was_slept_through_goes_by_the_policy_with_a_record(
    kept: KeptJobs, missed: Missed, expected: list[tuple[str, str, int]]
) -> None:
    job = added(kept, missed=missed)
    kept.plan_due(at(12, day=4))
    run_all(kept, at(12, day=4))
    assert outcomes(kept, job) == expected
    assert kept.job(job.job_id).next_due_at == stamp(at(9, day=5))


@pytest.mark.parametrize("missed", [Missed("skip"), Missed("once"), Missed("all")])
@pytest.mark.parametrize("restarted", [at(8, 59, 59), at(9, 0, 1)], ids=["a second before", "a second after"])
def test_I1_a_restart_a_second_from_the_time_loses_and_doubles_nothing(
    kept: KeptJobs, missed: Missed, restarted: datetime
) -> None:
    job = added(kept, missed=missed)
    kept.recover(restarted)
    for second in range(3):
        kept.plan_due(restarted + timedelta(seconds=second))
        run_all(kept, restarted + timedelta(seconds=second))
    assert outcomes(kept, job) == [("01T09:00", "done", 1)]


@pytest.mark.parametrize(
    ("missed", "after_it"),
    [
        pytest.param(Missed("skip"), [], id="skip"),
        pytest.param(Missed("once"), [("01T09:00", "done", 1)], id="once"),
        pytest.param(Missed("all"), [("01T09:00", "done", 1)], id="all"),
    ],
)
def test_I1_a_run_whose_process_died_is_known_and_goes_by_the_policy(
    kept: KeptJobs, missed: Missed, after_it: list[tuple[str, str, int]]
) -> None:
    job = added(kept, missed=missed)
    kept.plan_due(at(9))
    assert kept.begin(at(9)) is not None  # and then nothing more is heard of it
    kept.recover(at(9, 0, 20))
    assert outcomes(kept, job)[0] == ("01T09:00", "interrupted", 1)
    run_all(kept, at(9, 0, 20))
    assert outcomes(kept, job)[1:] == after_it


def test_I1_a_run_that_brings_the_program_down_each_time_is_not_begun_for_ever(kept: KeptJobs) -> None:
    job = added(kept)
    kept.plan_due(at(9))
    for minute in range(5):
        kept.begin(at(9, minute))
        kept.recover(at(9, minute, 30))
    assert outcomes(kept, job) == [("01T09:00", "interrupted", 1)] * 2
    assert [run.attempt for run in kept.runs(job.job_id)] == [2, 1]


def test_I1_what_broke_off_and_what_was_missed_since_is_one_decision(kept: KeptJobs) -> None:
    job = added(kept)
    kept.plan_due(at(9))
    kept.begin(at(9))
    kept.recover(at(12, day=3))
    run_all(kept, at(12, day=3))
    assert outcomes(kept, job) == [
        ("01T09:00", "interrupted", 1),
        ("02T09:00", "missed", 1),
        ("03T09:00", "done", 1),
    ]


def test_what_waited_when_the_program_ended_is_decided_anew(kept: KeptJobs) -> None:
    skips, catches_up = added(kept, missed=Missed("skip")), added(kept)
    kept.plan_due(at(9))
    kept.recover(at(15))
    run_all(kept, at(15))
    assert outcomes(kept, skips) == [("01T09:00", "missed", 1)]
    assert outcomes(kept, catches_up) == [("01T09:00", "done", 1)]


def test_times_that_come_while_the_job_waits_do_not_pile_up(kept: KeptJobs) -> None:
    job = added(kept, every("1m", "UTC", START))
    for minute in range(1, 31):
        kept.plan_due(at(8, minute))
    assert len(run_all(kept, at(8, 31))) == 1
    assert sum(count for _, outcome, count in outcomes(kept, job) if outcome == "missed") == 29


def test_I1_a_clock_that_jumps_forward_and_back_repeats_no_time_of_day(kept: KeptJobs) -> None:
    job = added(kept)
    kept.plan_due(at(9, 30))
    run_all(kept, at(9, 30))
    kept.plan_due(at(8, 45))  # set back by three quarters of an hour
    kept.plan_due(at(9, 0))
    assert run_all(kept, at(9, 0)) == []
    assert outcomes(kept, job) == [("01T09:00", "done", 1)]
    assert kept.job(job.job_id).next_due_at == stamp(at(9, day=2))


def test_I1_a_clock_that_was_years_ahead_silences_no_job(kept: KeptJobs) -> None:
    daily, often = added(kept), added(kept, every("10m", "UTC", START))
    kept.plan_due(START.replace(year=2031))
    run_all(kept, START.replace(year=2031))
    kept.plan_due(at(8, 30))
    assert kept.job(daily.job_id).next_due_at == stamp(at(9))
    assert kept.job(often.job_id).next_due_at == stamp(at(8, 40))


def test_what_is_due_once_is_over_then(kept: KeptJobs) -> None:
    job = added(kept, once_at("2026-06-01 09:00", "UTC", START))
    assert kept.pending() == 1
    kept.plan_due(at(9))
    assert kept.pending() == 1  # it waits
    run_all(kept, at(9))
    assert (kept.job(job.job_id).next_due_at, kept.pending(), kept.next_due()) == (None, 0, None)
    kept.disable(job.job_id, at(10))
    with pytest.raises(UsageProblem, match="is over"):
        kept.enable(job.job_id, at(10))
    assert not kept.job(job.job_id).is_enabled


def test_a_job_that_is_off_is_never_due_and_makes_up_for_nothing(kept: KeptJobs) -> None:
    job = added(kept)
    kept.plan_due(at(9))
    assert not kept.disable(job.job_id, at(9)).is_enabled
    assert outcomes(kept, job) == [("01T09:00", "cancelled", 1)]
    kept.plan_due(at(12, day=3))
    kept.recover(at(12, day=3))
    assert kept.begin(at(12, day=3)) is None
    assert kept.enable(job.job_id, at(12, day=3)).next_due_at == stamp(at(9, day=4))
    assert kept.enable(job.job_id, at(13, day=3)).next_due_at == stamp(at(9, day=4))
    assert outcomes(kept, job) == [("01T09:00", "cancelled", 1)]


def test_a_job_that_is_off_can_be_run_by_hand_and_its_times_stay(kept: KeptJobs) -> None:
    job = added(kept)
    kept.disable(job.job_id, START)
    asked = kept.ask_for(job.job_id, at(8, 10))
    assert kept.ask_for(job.job_id, at(8, 11)) == asked
    (run,) = run_all(kept, at(8, 12))
    assert run.is_by_hand and run.run_id == asked.run_id
    assert kept.job(job.job_id).next_due_at is None


def test_what_is_asked_for_by_hand_comes_first_and_is_not_repeated_after_a_crash(kept: KeptJobs) -> None:
    job, asked = added(kept), added(kept)
    kept.plan_due(at(9))
    kept.ask_for(asked.job_id, at(9, 1))
    begun = kept.begin(at(9, 1))
    assert begun is not None and begun[0].job_id == asked.job_id and begun[1].is_by_hand
    kept.ask_for(job.job_id, at(9, 1))
    kept.recover(at(9, 2))
    assert ("01T09:01", "interrupted", 1) in outcomes(kept, asked)
    assert ("01T09:01", "cancelled", 1) in outcomes(kept, job)
    assert [run.is_by_hand for run in run_all(kept, at(9, 2))] == [False, False]


def test_I3_what_is_missing_makes_one_record_and_one_piece_of_news(kept: KeptJobs) -> None:
    job = added(kept)
    news = []
    for day in range(1, 5):
        kept.plan_due(at(9, day=day))
        begun = kept.begin(at(9, day=day))
        assert begun is not None
        news.append(kept.block(begun[1], "There is no expert L9.", at(9, day=day)))
    assert news == [True, False, False, False]
    assert outcomes(kept, job) == [("04T09:00", "blocked", 4)]
    assert kept.job(job.job_id).blocked_by == "There is no expert L9."
    kept.plan_due(at(9, day=5))
    run_all(kept, at(9, day=5))
    assert kept.job(job.job_id).blocked_by == ""
    assert outcomes(kept, job)[-1] == ("05T09:00", "done", 1)


def test_the_history_is_bounded(kept: KeptJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 5
    monkeypatch.setattr(statements, "MOST_RUNS_KEPT", most)
    job = added(kept)
    for number in range(most + 3):
        kept.ask_for(job.job_id, START)
        begun = kept.begin(START)
        assert begun is not None
        kept.end(begun[1], "done", f"{number} " + "x" * MOST_TEXT_CHARACTERS, START)
    runs = kept.runs(job.job_id, limit=1000)
    # The one that is written down as waiting made the last one go.
    assert [run.text.split()[0] for run in runs] == ["7", "6", "5", "4", "3"]
    assert {len(run.text) for run in runs} == {MOST_TEXT_CHARACTERS}


def test_pages_of_the_history_follow_each_other(kept: KeptJobs) -> None:
    one, other = added(kept), added(kept)
    for job in (one, other, one):
        kept.ask_for(job.job_id, START)
        run_all(kept, START)
    newest, *_ = kept.runs(limit=1)
    assert newest.job_id == one.job_id
    assert [run.job_id for run in kept.runs(before=newest.run_id)] == [other.job_id, one.job_id]
    assert len(kept.runs(one.job_id)) == 2


def test_the_next_job_is_listed_first_and_those_that_are_over_last(kept: KeptJobs) -> None:
    over = added(kept, once_at("2026-06-01 08:01", "UTC", START))
    later, sooner = added(kept), added(kept, every("2m", "UTC", START))
    kept.plan_due(at(8, 1))
    run_all(kept, at(8, 1))
    assert [job.job_id for job in kept.jobs()] == [sooner.job_id, later.job_id, over.job_id]


def test_a_list_shows_the_run_that_goes_on_before_those_that_wait(kept: KeptJobs) -> None:
    job = added(kept, every("1m", "UTC", START))
    kept.plan_due(at(8, 1))
    kept.begin(at(8, 1))
    kept.plan_due(at(8, 2))
    (listed,) = kept.jobs()
    assert listed.last is not None and listed.last.is_running
    assert kept.job(job.job_id).last == listed.last


def test_a_job_that_is_removed_while_it_runs_is_gone_with_its_history(kept: KeptJobs) -> None:
    job, other = added(kept), added(kept)
    kept.plan_due(at(9))
    begun = kept.begin(at(9))
    assert begun is not None and begun[0].job_id == job.job_id
    kept.remove(job.job_id)
    kept.end(begun[1], "done", "", at(9))
    assert {run.job_id for run in kept.runs()} == {other.job_id}
    for ask in (kept.job, kept.remove, kept.runs, lambda gone: kept.enable(gone, START)):
        with pytest.raises(UnknownName, match=f"no job {job.job_id}"):
            ask(job.job_id)
    kept.remove(other.job_id)
    assert added(kept).job_id > other.job_id  # a number is not given again


def test_jobs_are_there_after_the_store_was_closed(tmp_path) -> None:
    path = tmp_path / "macaron.db"
    with Store.open(path) as store:
        job = added(KeptJobs(store.database))
    with Store.open(path) as store:
        assert KeptJobs(store.database).jobs() == (job,)
        assert store.integrity() == "ok"
