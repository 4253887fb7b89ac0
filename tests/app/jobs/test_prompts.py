"""Jobs that ask an expert, in the host's own service: answered between the turns of people, and trusted no more."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.host.service import Service
from app.jobs.desktop import Desktop
from app.jobs.hosting import hosted_jobs
from app.jobs.shelf import HostedJobs
from app.opening import open_store
from app.paths import Paths
from app.settings import Settings
from engine.jobs.values import NewJob, Run
from tests.app.jobs.driving import soon
from tests.app.jobs.noting import NotingProgram
from tests.app.running import wait_until


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NotingProgram:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    monkeypatch.setattr("app.jobs.hosting.Desktop", lambda: Desktop("linux"))
    return NotingProgram(tmp_path / "programs", "notify-send")


@contextmanager
def hosted(home: Path, profile: str) -> Iterator[tuple[Service, HostedJobs]]:
    with open_store(Paths(home)) as store:
        service = Service(Paths(home), store, Settings(profile=profile))
        try:
            with hosted_jobs(service) as jobs:
                yield service, jobs
        finally:
            service.close()


def asked(jobs: HostedJobs, text: str, expert: str = "", *, kind: str = "prompt") -> int:
    far = datetime.now(UTC) + timedelta(days=30)
    return jobs.add_job(NewJob("Capital", kind, text, soon(far), expert=expert), f"{text} {expert}").job_id


def run_of(jobs: HostedJobs, job_id: int) -> Run:
    jobs.run_job(job_id)
    wait_until(lambda: jobs.job_runs(job_id)[0].outcome not in ("waiting", "running"), "the run is over")
    return jobs.job_runs(job_id)[0]


@pytest.mark.model
def test_a_prompt_is_answered_in_a_conversation_of_its_own_and_taints_it(
    home: Path, starter_base: Path, brief_profile: Path, desktop: NotingProgram
) -> None:
    with hosted(home, str(brief_profile)) as (service, jobs):
        run = run_of(jobs, asked(jobs, "What is the capital of France?", "L0"))
        assert run.outcome == "done" and run.text
        (turn,) = service.path(run.conversation_id)
        assert (turn.state, turn.answer_text, turn.provenance) == ("answered", run.text, "tool")
        assert desktop.arguments[0][-2] == "Capital"
        run = run_of(jobs, asked(jobs, "What is the capital of France?", "L9"))
        assert run.outcome == "blocked" and run.text.startswith("There is no expert L9. Experts: L0, ")
        assert len(service.conversations()) == 1
        wait_until(lambda: len(desktop.arguments) == 2, "that was told too")


def test_I3_a_prompt_whose_base_is_not_there_is_blocked_and_says_how_to_get_it(
    home: Path, desktop: NotingProgram
) -> None:
    with hosted(home, "tall") as (service, jobs):
        number = asked(jobs, "What is the capital of France?")
        run = run_of(jobs, number)
        assert run.outcome == "blocked" and "is not on this machine" in run.text and "macaron models pull" in run.text
        assert jobs.job(number).blocked_by == run.text
        wait_until(lambda: len(desktop.arguments) == 1, "it was told")
        assert service.conversations() == ()


def test_a_notice_is_on_the_feed_too(home: Path, desktop: NotingProgram) -> None:
    with hosted(home, "tall") as (service, jobs):
        before = service.feed.newest
        assert run_of(jobs, asked(jobs, "Tea.", kind="reminder")).outcome == "done"
        assert service.feed.newest == before + 1
        assert len(desktop.arguments) == 1


def test_a_host_with_something_to_come_is_needed(home: Path) -> None:
    with hosted(home, "tall") as (_, jobs):
        assert jobs.pending() == 0
        number = asked(jobs, "Tea.", kind="reminder")
        assert jobs.pending() == 1
        jobs.disable_job(number)
        assert jobs.pending() == 0
