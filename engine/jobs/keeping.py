"""The jobs that are kept: added, planned, run, blocked, let go, and what became of each of their times.

Lives in the store's database. What is run and what is let go is decided by `policy`, when something is due by `times`;
the present is an argument. Every method is one transaction or one read and raises StoreProblem or one of its children
when the disk or the file fails.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from sqlite3 import Connection
from typing import Final, get_args

import engine.store.jobs as statements
import engine.store.rows as rows
from engine.errors import BadText, UsageProblem
from engine.jobs.policy import MOST_ATTEMPTS, is_news, plan, require_typed, was_set_back
from engine.jobs.reading import require_sound, stamp
from engine.jobs.times import next_after, times_until
from engine.jobs.values import MOST_COUNTED, Job, MissedKind, NewJob, Outcome, Run
from engine.store.database import Database
from engine.values import Provenance

MOST_JOBS: Final = 1_000
MOST_CAUGHT_UP: Final = 50
"""Missed times that a policy may have run."""
_MOST_TITLE_CHARACTERS: Final = 200
_MOST_CHARACTERS: Final = 20_000
_KIND: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")


class KeptJobs:
    def __init__(self, database: Database) -> None:
        self._database = database

    # What there is

    def jobs(self) -> Sequence[Job]:
        """The next one first; those with nothing to come last."""
        with self._database.snapshot() as connection:
            return statements.all_of_them(connection)

    def job(self, job_id: int) -> Job:
        """Raises: UnknownName."""
        with self._database.snapshot() as connection:
            return statements.known(connection, job_id)

    def runs(
        self, job_id: int | None = None, *, limit: int = statements.PAGE, before: int | None = None
    ) -> Sequence[Run]:
        """The newest first, of one job or of all, those numbered below `before`. Raises: UnknownName."""
        with self._database.snapshot() as connection:
            if job_id is not None:
                statements.known(connection, job_id)
            return statements.page(connection, job_id, limit, before)

    def next_due(self) -> datetime | None:
        """When something is due next; it may be over."""
        with self._database.reading() as connection:
            planned = statements.planned(connection)
        return _moment(planned[0].next_due_at) if planned else None

    def pending(self) -> int:
        """How many times are to come, wait or run: as long as there are any, a host is needed."""
        with self._database.reading() as connection:
            return statements.count_pending(connection)

    # What a person asks for

    def add(self, new: NewJob, *, provenance: Provenance, request: str, now: datetime) -> Job:
        """Make a job. The same `request` again gives the job that was made for it.

        Raises: UsageProblem for one that no person typed, that is never due, or that makes no sense; BadText.
        """
        require_typed(provenance)
        checked = _checked(new)
        first = require_sound(checked.schedule, now)
        with self._database.transaction() as connection:
            known = statements.of_request(connection, request)
            if known is None:
                if len(statements.all_of_them(connection)) >= MOST_JOBS:
                    raise UsageProblem(f"There are {MOST_JOBS:,} jobs already.", "Remove some: macaron jobs remove.")
                known = statements.insert(
                    connection,
                    checked,
                    request=request,
                    created_by=provenance,
                    now=stamp(now),
                    next_due_at=stamp(first),
                )
            return statements.known(connection, known)

    def enable(self, job_id: int, now: datetime) -> Job:
        """Times that passed while it was disabled do not count. Raises: UnknownName; UsageProblem when it is over."""
        with self._database.transaction() as connection:
            job = statements.known(connection, job_id)
            if not job.is_enabled:
                statements.set_enabled(connection, job_id, True)
                statements.set_next(connection, job_id, stamp(require_sound(job.schedule, now)), stamp(now))
            return statements.known(connection, job_id)

    def disable(self, job_id: int, now: datetime) -> Job:
        """What waits is taken back; what runs is not. Raises: UnknownName."""
        with self._database.transaction() as connection:
            statements.known(connection, job_id)
            statements.set_enabled(connection, job_id, False)
            statements.set_next(connection, job_id, None, stamp(now))
            for run in statements.open_runs(connection, job_id):
                if run.is_waiting:
                    statements.end_run(connection, run.run_id, "cancelled", "", stamp(now))
            return statements.known(connection, job_id)

    def remove(self, job_id: int) -> None:
        """With its history. Raises: UnknownName."""
        with self._database.transaction() as connection:
            statements.known(connection, job_id)
            statements.delete(connection, job_id)

    def ask_for(self, job_id: int, now: datetime) -> Run:
        """Let it run as soon as nothing else does, disabled or not; asked twice before it begins, it runs once.

        Raises: UnknownName.
        """
        with self._database.transaction() as connection:
            statements.known(connection, job_id)
            for run in statements.open_runs(connection, job_id):
                if run.is_by_hand and run.is_waiting:
                    return run
            statements.insert_run(connection, job_id, stamp(now), "waiting", is_by_hand=True)
            return statements.page(connection, job_id, 1, None)[0]

    # What the host does

    def recover(self, now: datetime) -> None:
        """For a host that starts: what ran has broken off, and what is overdue is planned by the policy of its job."""
        with self._database.transaction() as connection:
            broken_off: dict[int, list[datetime]] = {}
            for run in statements.open_runs(connection):
                if run.is_running:
                    statements.end_run(connection, run.run_id, "interrupted", run.text, stamp(now))
                    if not run.is_by_hand and run.attempt < MOST_ATTEMPTS:
                        broken_off.setdefault(run.job_id, []).append(_moment(run.planned_at))
                elif run.is_by_hand:
                    statements.end_run(connection, run.run_id, "cancelled", "", stamp(now))
            for job in statements.all_of_them(connection):
                if job.is_enabled:
                    self._plan(connection, job, now, broken_off.get(job.job_id, ()))

    def plan_due(self, now: datetime) -> None:
        """Write down what is to run now, what is let go, and when each job that was due is due next."""
        with self._database.transaction() as connection:
            for job in statements.planned(connection):
                if was_set_back(job.schedule, _moment(job.planned_from_at), now):
                    self._set_next(connection, job, now)
            for job_id in statements.due(connection, stamp(now)):
                self._plan(connection, statements.known(connection, job_id), now)

    def begin(self, now: datetime) -> tuple[Job, Run] | None:
        """The next run, written down as running; None when none waits."""
        with self._database.transaction() as connection:
            run = statements.next_waiting(connection)
            if run is None:
                return None
            statements.begin_run(connection, run.run_id, stamp(now))
            return statements.known(connection, run.job_id), replace(run, outcome="running", started_at=stamp(now))

    def end(self, run: Run, outcome: Outcome, text: str, now: datetime, *, conversation_id: str = "") -> bool:
        """Write down what came of a run. Whether that is trouble which the user has not been told of."""
        with self._database.transaction() as connection:
            before = statements.ended_before(connection, run)
            statements.end_run(connection, run.run_id, outcome, rows.writable(text), stamp(now), conversation_id)
            statements.set_blocked(connection, run.job_id, "")
        return is_news(outcome, before.outcome if before else None)

    def block(self, run: Run, blocked_by: str, now: datetime) -> bool:
        """A run cannot be, as something is missing. Of that there is one record, and it is told once: True then."""
        with self._database.transaction() as connection:
            before = statements.ended_before(connection, run)
            statements.set_blocked(connection, run.job_id, blocked_by)
            if before is not None and before.outcome == "blocked" and not run.is_by_hand:
                statements.count_up(connection, before.run_id, run.planned_at)
                statements.delete_run(connection, run.run_id)
            else:
                statements.end_run(connection, run.run_id, "blocked", rows.writable(blocked_by), stamp(now))
        return is_news("blocked", before.outcome if before else None)

    def _plan(self, connection: Connection, job: Job, now: datetime, broken_off: Sequence[datetime] = ()) -> None:
        waiting = {
            _moment(run.planned_at): run.run_id
            for run in statements.open_runs(connection, job.job_id)
            if run.is_waiting and not run.is_by_hand
        }
        is_due = job.next_due_at is not None and _moment(job.next_due_at) <= now
        times = times_until(job.schedule, _moment(job.next_due_at), now) if is_due else ()
        decided = plan(job.missed, (*waiting, *times), now, broken_off)
        for time in set(waiting) - set(decided.run):
            statements.delete_run(connection, waiting[time])
        if let_go := set(decided.let_go) - set(broken_off):  # those have a record of their own
            count = min(len(let_go), MOST_COUNTED)
            statements.insert_run(connection, job.job_id, stamp(max(let_go)), "missed", count=count)
        for time in decided.run:
            if time not in waiting:
                attempt = MOST_ATTEMPTS if time in broken_off else 1
                statements.insert_run(connection, job.job_id, stamp(time), "waiting", attempt=attempt)
        if is_due:
            self._set_next(connection, job, now)

    def _set_next(self, connection: Connection, job: Job, now: datetime) -> None:
        following = next_after(job.schedule, now)
        statements.set_next(connection, job.job_id, stamp(following) if following else None, stamp(now))


def require_kind(kind: str, known: Collection[str]) -> None:
    """Raises: UsageProblem."""
    if kind not in known:
        raise UsageProblem(f"There are no jobs of the kind {kind!r:.60}.", f"Kinds: {', '.join(sorted(known))}.")


def _checked(new: NewJob) -> NewJob:
    """With a title, and without spaces around its texts. Raises: BadText, UsageProblem."""
    text, title = rows.checked_text(new.text).strip(), " ".join(rows.checked_text(new.title).split())
    if not _KIND.fullmatch(new.kind):
        raise UsageProblem(f"{new.kind!r:.60} is no kind of job.", "Give reminder or prompt.")
    if not text and new.kind in ("reminder", "prompt"):
        raise BadText("The job says nothing.", "Write what to remind you of, or what to ask.")
    if len(text) > _MOST_CHARACTERS or len(title) > _MOST_TITLE_CHARACTERS:
        raise BadText(
            f"The text is longer than {_MOST_CHARACTERS:,} characters, or the title than {_MOST_TITLE_CHARACTERS}.",
            "Write it shorter.",
        )
    if new.missed.kind not in get_args(MissedKind) or not 1 <= new.missed.most <= MOST_CAUGHT_UP:
        raise UsageProblem(
            "This is no policy for missed times.", f"Give skip, once, or all with 1 to {MOST_CAUGHT_UP} of them."
        )
    return replace(new, text=text, title=title or _title_of(text) or new.kind)


def _title_of(text: str) -> str:
    first = " ".join(text.partition("\n")[0].split())
    return first if len(first) <= 60 else f"{first[:59]}…"


def _moment(text: str | None) -> datetime:
    assert text is not None
    return datetime.fromisoformat(text)
