"""The statements for jobs and their runs.

Each function works on the connection it is given and leaves transactions to its caller. Decides nothing.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

from engine.errors import UnknownName
from engine.jobs.values import MOST_RUNS_KEPT, MOST_TEXT_CHARACTERS, Job, Missed, NewJob, Outcome, Run, Schedule
from engine.values import Provenance

PAGE: Final = 50
_LAST: Final = """
    SELECT * FROM job_runs
    WHERE outcome = 'running' OR run_id IN (SELECT max(run_id) FROM job_runs GROUP BY job_id)
    ORDER BY outcome = 'running', run_id
"""
"""The newest of every job, and behind them those that run."""


def insert(
    connection: sqlite3.Connection,
    new: NewJob,
    *,
    request: str,
    created_by: Provenance,
    now: str,
    next_due_at: str | None,
) -> int:
    """The number it gets."""
    schedule = new.schedule
    job_id = connection.execute(
        "INSERT INTO jobs (request, title, kind, text, expert, schedule_kind, schedule, zone, begins_at, missed,"
        " missed_most, is_enabled, created_by, created_at, next_due_at, planned_from_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)",
        [
            *(request, new.title, new.kind, new.text, new.expert),
            *(schedule.kind, schedule.text, schedule.zone, schedule.begins_at),
            *(new.missed.kind, new.missed.most),
            *(created_by, now, next_due_at, now),
        ],
    ).lastrowid
    assert job_id is not None
    return job_id


def of_request(connection: sqlite3.Connection, request: str) -> int | None:
    """The job that was made for a request already."""
    row = connection.execute("SELECT job_id FROM jobs WHERE request = ?", [request]).fetchone()
    return None if row is None else int(row[0])


def known(connection: sqlite3.Connection, job_id: int) -> Job:
    """Raises: UnknownName."""
    row = connection.execute("SELECT * FROM jobs WHERE job_id = ?", [job_id]).fetchone()
    if row is None:
        raise UnknownName(f"There is no job {job_id}.", "List what there is with `macaron jobs list`.")
    runs = [*page(connection, job_id, 1, None), *(run for run in open_runs(connection, job_id) if run.is_running)]
    return _job_of(row, runs[-1] if runs else None)


def all_of_them(connection: sqlite3.Connection) -> tuple[Job, ...]:
    """The next one first; those with nothing to come last, the newest of these first."""
    last = {run.job_id: run for run in map(_run_of, connection.execute(_LAST))}
    rows = connection.execute("SELECT * FROM jobs ORDER BY next_due_at IS NULL, next_due_at, job_id DESC")
    return tuple(_job_of(row, last.get(row["job_id"])) for row in rows)


def due(connection: sqlite3.Connection, now: str) -> list[int]:
    """The numbers of those that are due, the one that is due for longest first."""
    found = connection.execute(
        "SELECT job_id FROM jobs WHERE is_enabled AND next_due_at <= ? ORDER BY next_due_at, job_id", [now]
    )
    return [job_id for (job_id,) in found]


def planned(connection: sqlite3.Connection) -> tuple[Job, ...]:
    """Those with something to come, the next one first."""
    rows = connection.execute(
        "SELECT * FROM jobs WHERE is_enabled AND next_due_at IS NOT NULL ORDER BY next_due_at, job_id"
    )
    return tuple(_job_of(row, None) for row in rows)


def count_pending(connection: sqlite3.Connection) -> int:
    """How many jobs have something to come, and how many runs are open."""
    (count,) = connection.execute(
        "SELECT (SELECT count(*) FROM jobs WHERE is_enabled AND next_due_at IS NOT NULL)"
        " + (SELECT count(*) FROM job_runs WHERE outcome IN ('waiting', 'running'))"
    ).fetchone()
    return int(count)


def set_next(connection: sqlite3.Connection, job_id: int, next_due_at: str | None, planned_from_at: str) -> None:
    connection.execute(
        "UPDATE jobs SET next_due_at = ?, planned_from_at = ? WHERE job_id = ?", [next_due_at, planned_from_at, job_id]
    )


def set_enabled(connection: sqlite3.Connection, job_id: int, is_enabled: bool) -> None:
    connection.execute("UPDATE jobs SET is_enabled = ? WHERE job_id = ?", [is_enabled, job_id])


def set_blocked(connection: sqlite3.Connection, job_id: int, blocked_by: str) -> None:
    connection.execute("UPDATE jobs SET blocked_by = ? WHERE job_id = ?", [blocked_by, job_id])


def delete(connection: sqlite3.Connection, job_id: int) -> None:
    connection.execute("DELETE FROM job_runs WHERE job_id = ?", [job_id])
    connection.execute("DELETE FROM jobs WHERE job_id = ?", [job_id])


def insert_run(
    connection: sqlite3.Connection,
    job_id: int,
    planned_at: str,
    outcome: Outcome,
    *,
    count: int = 1,
    attempt: int = 1,
    is_by_hand: bool = False,
) -> int:
    """The number it gets. The oldest runs of the job go where there are too many; what is open stays."""
    run_id = connection.execute(
        "INSERT INTO job_runs (job_id, planned_at, outcome, count, attempt, is_by_hand) VALUES (?, ?, ?, ?, ?, ?)",
        [job_id, planned_at, outcome, count, attempt, is_by_hand],
    ).lastrowid
    assert run_id is not None
    connection.execute(
        "DELETE FROM job_runs WHERE job_id = ? AND outcome NOT IN ('waiting', 'running') AND run_id NOT IN"
        " (SELECT run_id FROM job_runs WHERE job_id = ? ORDER BY run_id DESC LIMIT ?)",
        [job_id, job_id, MOST_RUNS_KEPT],
    )
    return run_id


def begin_run(connection: sqlite3.Connection, run_id: int, now: str) -> None:
    connection.execute("UPDATE job_runs SET outcome = 'running', started_at = ? WHERE run_id = ?", [now, run_id])


def end_run(
    connection: sqlite3.Connection, run_id: int, outcome: Outcome, text: str, now: str, conversation_id: str = ""
) -> None:
    """A run whose job was removed meanwhile has no row any more; then nothing happens."""
    connection.execute(
        "UPDATE job_runs SET outcome = ?, text = ?, ended_at = ?, conversation_id = ? WHERE run_id = ?",
        [outcome, text[:MOST_TEXT_CHARACTERS], now, conversation_id, run_id],
    )


def count_up(connection: sqlite3.Connection, run_id: int, planned_at: str) -> None:
    """A run stands for one more time, the one at `planned_at`."""
    connection.execute("UPDATE job_runs SET count = count + 1, planned_at = ? WHERE run_id = ?", [planned_at, run_id])


def delete_run(connection: sqlite3.Connection, run_id: int) -> None:
    connection.execute("DELETE FROM job_runs WHERE run_id = ?", [run_id])


def next_waiting(connection: sqlite3.Connection) -> Run | None:
    """What is to run next: what was asked for by hand, then what has been due for longest."""
    row = connection.execute(
        "SELECT * FROM job_runs WHERE outcome = 'waiting' ORDER BY is_by_hand DESC, planned_at, run_id LIMIT 1"
    ).fetchone()
    return None if row is None else _run_of(row)


def open_runs(connection: sqlite3.Connection, job_id: int | None = None) -> tuple[Run, ...]:
    """Those that wait or run, of one job or of all."""
    rows = connection.execute(
        "SELECT * FROM job_runs WHERE outcome IN ('waiting', 'running') AND (?1 IS NULL OR job_id = ?1)"
        " ORDER BY planned_at, run_id",
        [job_id],
    )
    return tuple(map(_run_of, rows))


def ended_before(connection: sqlite3.Connection, run: Run) -> Run | None:
    """The run of the same job that ended or was let go before this one."""
    row = connection.execute(
        "SELECT * FROM job_runs WHERE job_id = ? AND run_id < ? AND outcome NOT IN ('waiting', 'running')"
        " ORDER BY run_id DESC LIMIT 1",
        [run.job_id, run.run_id],
    ).fetchone()
    return None if row is None else _run_of(row)


def page(connection: sqlite3.Connection, job_id: int | None, limit: int, before: int | None) -> Sequence[Run]:
    """The newest first, of one job or of all, those numbered below `before`."""
    rows = connection.execute(
        "SELECT * FROM job_runs WHERE (?1 IS NULL OR job_id = ?1) AND (?2 IS NULL OR run_id < ?2)"
        " ORDER BY run_id DESC LIMIT ?3",
        [job_id, before, limit],
    )
    return tuple(map(_run_of, rows))


def _job_of(row: sqlite3.Row, last: Run | None) -> Job:
    return Job(
        job_id=row["job_id"],
        title=row["title"],
        kind=row["kind"],
        text=row["text"],
        expert=row["expert"],
        schedule=Schedule(row["schedule_kind"], row["schedule"], row["zone"], row["begins_at"]),
        missed=Missed(row["missed"], row["missed_most"]),
        is_enabled=bool(row["is_enabled"]),
        created_by=row["created_by"],
        created_at=row["created_at"],
        next_due_at=row["next_due_at"],
        planned_from_at=row["planned_from_at"],
        blocked_by=row["blocked_by"],
        last=last,
    )


def _run_of(row: sqlite3.Row) -> Run:
    return Run(
        run_id=row["run_id"],
        job_id=row["job_id"],
        planned_at=row["planned_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        outcome=row["outcome"],
        text=row["text"],
        count=row["count"],
        attempt=row["attempt"],
        is_by_hand=bool(row["is_by_hand"]),
        conversation_id=row["conversation_id"],
    )
