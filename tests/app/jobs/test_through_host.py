"""What a face asks of jobs crosses the wire unchanged."""

import inspect
import json
from datetime import UTC, datetime

import pytest

from app.host.calls import ADAPTER_NAMES, JOB_NAMES, NAMES, arguments_from_plain, call_named, result_from_plain
from app.jobs.remote import RemoteJobs
from app.jobs.shelf import HostedJobs, StoredJobs
from engine.errors import UsageProblem
from engine.jobs.reading import cron
from engine.jobs.values import Job, Missed, NewJob, Run
from engine.runtime import wire
from ui.job_shelf import JobShelf

NINE = cron("0 9 * * mon-fri", "Europe/Berlin", datetime(2026, 6, 1, tzinfo=UTC))
RUN = Run(7, 3, "2026", "2026", None, "running", "", 1, 2, True, "c-1")
JOB = Job(3, "茶", "prompt", "泡茶？", "L2", NINE, Missed("all", 3), True, "typed", "2026", None, "2026", "", RUN)


def test_every_call_of_the_shelf_has_a_name_of_its_own() -> None:
    declared = {name for name, _ in inspect.getmembers(JobShelf, inspect.isfunction) if not name.startswith("_")}
    assert set(JOB_NAMES) == declared - {"close"}
    assert not set(JOB_NAMES) & {*NAMES, *ADAPTER_NAMES}


@pytest.mark.parametrize("shelf", [RemoteJobs, HostedJobs, StoredJobs])
def test_every_shelf_takes_what_is_declared(shelf: type) -> None:
    for name in JOB_NAMES:
        declared, made = (inspect.signature(getattr(one, name)) for one in (JobShelf, shelf))
        assert str(made) == str(declared)


@pytest.mark.parametrize(
    ("name", "result"),
    [("jobs", (JOB,)), ("job", JOB), ("job_runs", (RUN,)), ("run_job", RUN), ("add_job", JOB), ("remove_job", None)],
)
def test_results_come_through_unchanged(name: str, result: object) -> None:
    sent = json.loads(json.dumps(wire.to_plain(result)))
    assert result_from_plain(call_named(name), sent) == result


def test_a_new_job_arrives_as_it_was_sent_and_one_that_is_malformed_is_refused() -> None:
    new = NewJob("茶", "prompt", "泡茶？", NINE, Missed("skip"), "L2")
    call = call_named("add_job")
    sent = json.loads(json.dumps({"new": wire.to_plain(new), "request": "r", "provenance": "typed"}))
    assert arguments_from_plain(call, sent) == {"new": new, "request": "r", "provenance": "typed"}
    for wrong in ({**sent, "provenance": "god"}, {**sent, "new": {"title": "x"}}, {"request": "r"}):
        with pytest.raises(UsageProblem):
            arguments_from_plain(call, wrong)
