"""`macaron jobs` where no host runs: what is kept is shown as it is, and what was asked is done or refused in words."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.cli.jobs import jobs
from app.jobs.runner import system_clock
from app.opening import open_store
from app.paths import Paths
from engine.errors import BadText, UnknownName, UsageProblem
from engine.jobs.keeping import KeptJobs
from engine.jobs.reading import cron, every, once_at
from engine.jobs.values import Job, Missed, NewJob
from tests.support.hosting import host_pid

NOW = datetime(2026, 6, 1, 8, 0, tzinfo=UTC)
FAR = timedelta(days=3000)


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TZ", "Europe/Berlin")


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]):
    """Run the verb and read what it printed; with --json the value."""

    def _printed(*arguments: str) -> Any:
        capsys.readouterr()
        assert jobs.main([*arguments], prog_name="macaron jobs", standalone_mode=False) == 0
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in arguments else out

    return _printed


@pytest.fixture
def three(home: Path) -> Sequence[Job]:
    """A daily reminder that was missed and one that failed, and a prompt whose run broke off with its process."""
    zone, created = "Asia/Shanghai", NOW
    wanted = (
        NewJob("喝茶", "reminder", "喝茶\n\x1b]0;owned\x07", cron("0 9 * * *", zone, created), Missed("skip")),
        NewJob("Ask", "prompt", "What is new?", every("90m", zone, created), Missed("all", 3), "L2"),
        NewJob("Far", "night", "", once_at("2036-01-01 09:00", zone, created + FAR)),
    )
    with open_store(Paths(home)) as store:
        kept = KeptJobs(store.database)
        made = [
            kept.add(new, provenance="typed", request=new.title, now=created if new.kind != "night" else created + FAR)
            for new in wanted
        ]
        kept.plan_due(NOW + timedelta(days=2))
        begun = kept.begin(NOW + timedelta(days=2))
        assert begun is not None and begun[0].kind == "prompt"
        return made


def test_an_empty_list_says_how_to_begin(home, printed, monkeypatch):
    assert 'macaron jobs add "Tea is ready" --in 4m' in printed("list")
    assert printed("list", "--json") == {"jobs": []}
    assert printed("history").startswith("Nothing has happened")
    assert printed("history", "--json") == {"runs": [], "next": None}
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert printed("list").startswith("还没有定时任务")


def test_a_list_shows_each_job_by_its_own_clocks_and_how_it_stands(home, three, printed):
    heads, *rows = printed("list").splitlines()
    assert heads.split() == ["number", "title", "kind", "when", "next", "state", "last"]
    tea, ask, far = (next(row for row in rows if name in row) for name in ("喝茶", "Ask", "Far"))
    assert "cron 0 9 * * *" in tea and "2026-06-03 09:00 missed, 2 times" in tea
    assert "prompt" in ask and "every 1h30m" in ask and "interrupted" in ask
    assert "night" in far and "2036-01-01 09:00" in far and "on" in far.split()
    assert host_pid(home) is None


def test_a_list_changes_nothing(home, three, printed):
    before = printed("list", "--json")
    assert [printed("list", "--json") for _ in range(3)] == [before] * 3
    with open_store(Paths(home)) as store:
        (running,) = [run for run in KeptJobs(store.database).runs() if run.is_running]
        assert running.job_id == three[1].job_id  # it is the next host that finds it


def test_one_is_shown_with_its_policy_its_text_and_its_last_runs(home, three, printed):
    shown = printed("show", str(three[0].job_id))
    assert "are let go" in shown and "Asia/Shanghai" in shown and "typed" in shown
    assert "喝茶\n" in shown and "\x1b" not in shown and "owned" not in shown.split("text:")[1].splitlines()[1]
    assert "missed, 2 times" in shown.splitlines()[-1]
    shown = printed("show", str(three[1].job_id))
    assert "L2" in shown and "the last 3 of them" in shown
    data = printed("show", str(three[1].job_id), "--json")
    assert (data["expert"], data["last"]["outcome"]) == ("L2", "interrupted")
    assert [run["outcome"] for run in data["runs"]] == ["waiting"] * 3 + ["interrupted", "missed"]


def test_the_history_is_paged(home, three, printed):
    whole = printed("history", "--json")["runs"]
    page = printed("history", "--limit", "2", "--json")
    assert page["runs"] == whole[:2] and page["next"] == whole[1]["run_id"]
    assert printed("history", "--limit", "2").splitlines()[-1] == f"More with: --before {whole[1]['run_id']}"
    rest = printed("history", "--before", str(page["next"]), "--json")
    assert rest["runs"] == whole[2:] and rest["next"] is None
    of_one = printed("history", str(three[0].job_id), "--json")["runs"]
    assert {run["job_id"] for run in of_one} == {three[0].job_id}


def test_jobs_are_switched_off_and_removed_without_a_host(home, three, printed):
    number = str(three[0].job_id)
    assert printed("disable", number) == f"Job {number} is off.\n"
    assert " off " in next(line for line in printed("list").splitlines() if "喝茶" in line)
    with pytest.raises(UnknownName, match="no job 99"):
        printed("remove", number, "99")
    assert len(printed("list", "--json")["jobs"]) == 3
    assert printed("remove", number, str(three[1].job_id), number, "--json") == {
        "removed": [three[0].job_id, three[1].job_id]
    }
    assert [job["title"] for job in printed("list", "--json")["jobs"]] == ["Far"]
    for verb in ("show", "disable", "history"):
        with pytest.raises(UnknownName, match=f"no job {number}"):
            printed(verb, number)


@pytest.mark.parametrize(
    ("arguments", "error", "problem"),
    [
        (("Tea.",), UsageProblem, "When is not said"),
        (("Tea.", "--in", "4m", "--every", "2h"), UsageProblem, "said twice"),
        (("Tea.", "--in", "soon"), UsageProblem, "no length of time"),
        (("Tea.", "--at", "2020-01-01 09:00"), UsageProblem, "is over"),
        (("Tea.", "--every", "10s"), UsageProblem, "too short"),
        (("Tea.", "--cron", "0 9 * *"), UsageProblem, "4 fields, not five"),
        (("Tea.", "--in", "4m", "--zone", "Mars/Base"), UsageProblem, "no time zone 'Mars/Base'"),
        (("Tea.", "--in", "4m", "--kind", "night", "--expert", "L2"), UsageProblem, "asks no expert"),
    ],
)
def test_a_time_that_cannot_be_meant_is_refused_before_any_host_is_started(home, printed, arguments, error, problem):
    with pytest.raises(error, match=problem):
        printed("add", *arguments)
    assert host_pid(home) is None and not home.exists()


def test_the_clocks_of_this_machine_are_meant_where_no_zone_is_named(home, monkeypatch):
    from app.jobs.shelf import StoredJobs

    made: list[NewJob] = []
    monkeypatch.setattr("app.jobs.commands.run_add", lambda paths, environment, new, *, as_json: made.append(new) or 0)
    for more in ((), ("--zone", "Asia/Tokyo"), ("--expert", "l2", "--missed", "all", "--most", "3")):
        jobs.main(["add", "Tea.", "--cron", "0 9 * * *", *more], prog_name="macaron jobs", standalone_mode=False)
    assert [new.schedule.zone for new in made] == ["Europe/Berlin", "Asia/Tokyo", "Europe/Berlin"]
    assert (made[2].kind, made[2].expert, made[2].missed) == ("prompt", "L2", Missed("all", 3))
    with open_store(Paths(home)) as store:
        shelf = StoredJobs(KeptJobs(store.database), system_clock)
        assert shelf.add_job(made[0], "r").next_due_at is not None
        with pytest.raises(BadText, match="says nothing"):
            shelf.add_job(NewJob("", "reminder", "", made[0].schedule), "s")
        with pytest.raises(UsageProblem, match="No host runs"):
            shelf.run_job(1)
        with pytest.raises(UsageProblem, match="kind 'night'"):
            shelf.add_job(NewJob("", "night", "x", made[0].schedule), "t")
