"""`macaron jobs`: what is to happen and what did, for people and for scripts. Runs nothing itself."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from app.jobs.opening import open_jobs, open_jobs_of_host
from app.jobs.runner import system_clock
from app.jobs.wording import (
    facts,
    history_heads,
    history_row,
    list_heads,
    list_row,
    local_text,
)
from app.models.wording import table
from app.output import print_json, print_text
from app.paths import Paths
from app.settings import language_of
from engine.jobs.values import Job, NewJob, Run
from ui.inert import display_text
from ui.strings import say

_LAST_RUNS = 5
"""How many `show` shows."""


def run_list(paths: Paths, environment: Mapping[str, str], *, as_json: bool) -> int:
    """Raises: HomeBusy, StoreProblem."""
    with open_jobs(paths) as shelf:
        jobs = shelf.jobs()
    if as_json:
        print_json({"jobs": [asdict(job) for job in jobs]})
        return 0
    language = language_of(paths.settings, environment)
    if not jobs:
        print_text(say("jobs.none", language))
        return 0
    now = system_clock()
    _print_table([list_heads(language), *(list_row(job, now, language) for job in jobs)])
    return 0


def run_show(paths: Paths, environment: Mapping[str, str], job_id: int, *, as_json: bool) -> int:
    """Raises: UnknownName, HomeBusy, StoreProblem."""
    with open_jobs(paths) as shelf:
        job, runs = shelf.job(job_id), shelf.job_runs(job_id, limit=_LAST_RUNS)
    if as_json:
        print_json({**asdict(job), "runs": [asdict(run) for run in runs]})
        return 0
    language = language_of(paths.settings, environment)
    _print_table(facts(job, system_clock(), language))
    if job.text:
        print_text(f"\n{say('jobs.show.text', language)}:\n{display_text(job.text)}")
    if runs:
        print_text()
        _print_table([history_heads(language), *(history_row(run, job.schedule.zone, language) for run in runs)])
    return 0


def run_history(
    paths: Paths,
    environment: Mapping[str, str],
    job_id: int | None,
    *,
    limit: int,
    before: int | None,
    as_json: bool,
) -> int:
    """Raises: UnknownName, HomeBusy, StoreProblem."""
    with open_jobs(paths) as shelf:
        # One more than is shown tells whether there is a next page.
        found = shelf.job_runs(job_id, limit=limit + 1, before=before)
        zones = {job.job_id: job.schedule.zone for job in shelf.jobs()}
    shown, more = found[:limit], len(found) > limit
    if as_json:
        print_json({"runs": [asdict(run) for run in shown], "next": shown[-1].run_id if more else None})
        return 0
    language = language_of(paths.settings, environment)
    if not shown:
        print_text(say("jobs.history.none", language))
        return 0
    _print_table([history_heads(language), *(_row(run, zones, language) for run in shown)])
    if more:
        print_text(say("jobs.history.more", language, number=shown[-1].run_id))
    return 0


def run_add(paths: Paths, environment: Mapping[str, str], new: NewJob, *, as_json: bool) -> int:
    """A host is started where none runs, so that the job is run. Raises: AgentError."""
    with open_jobs_of_host(paths) as shelf:
        job = shelf.add_job(new, secrets.token_hex(16))
    return _tell(paths, environment, "jobs.added", job, as_json=as_json)


def run_enable(paths: Paths, environment: Mapping[str, str], job_id: int, *, as_json: bool) -> int:
    """Raises: UnknownName, UsageProblem where its time is over, AgentError."""
    with open_jobs_of_host(paths) as shelf:
        job = shelf.enable_job(job_id)
    return _tell(paths, environment, "jobs.enabled", job, as_json=as_json)


def run_disable(paths: Paths, environment: Mapping[str, str], job_id: int, *, as_json: bool) -> int:
    """Raises: UnknownName, HomeBusy, StoreProblem."""
    with open_jobs(paths) as shelf:
        job = shelf.disable_job(job_id)
    return _tell(paths, environment, "jobs.disabled", job, as_json=as_json)


def run_now(paths: Paths, environment: Mapping[str, str], job_id: int, *, as_json: bool) -> int:
    """Raises: UnknownName, AgentError."""
    with open_jobs_of_host(paths) as shelf:
        run = shelf.run_job(job_id)
    if as_json:
        print_json(asdict(run))
    else:
        print_text(say("jobs.asked", language_of(paths.settings, environment), number=run.job_id))
    return 0


def run_remove(paths: Paths, environment: Mapping[str, str], job_ids: Sequence[int], *, as_json: bool) -> int:
    """Either all of them or none. Raises: UnknownName, HomeBusy, StoreProblem."""
    with open_jobs(paths) as shelf:
        for job_id in job_ids:
            shelf.job(job_id)
        for job_id in dict.fromkeys(job_ids):
            shelf.remove_job(job_id)
    if as_json:
        print_json({"removed": list(dict.fromkeys(job_ids))})
    else:
        print_text(say("jobs.removed", language_of(paths.settings, environment)))
    return 0


def _tell(paths: Paths, environment: Mapping[str, str], key: str, job: Job, *, as_json: bool) -> int:
    if as_json:
        print_json(asdict(job))
        return 0
    when = local_text(job.next_due_at, job.schedule.zone)
    print_text(say(key, language_of(paths.settings, environment), number=job.job_id, when=when))
    return 0


def _row(run: Run, zones: Mapping[int, str], language: str) -> list[str]:
    return history_row(run, zones.get(run.job_id, "UTC"), language)


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    for line in table(rows):
        print_text(line.rstrip())
