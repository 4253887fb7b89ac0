"""Jobs as lines, facts and rows of a table, and their notices. Pure; prints nothing."""

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from engine.errors import AgentError
from engine.jobs.policy import ON_TIME
from engine.jobs.times import zone_named
from engine.jobs.values import MOST_COUNTED, Job, Run, Schedule
from ui.durations import duration_text
from ui.inert import display_line
from ui.strings import TEXTS, say

_LIST: Final = ("number", "title", "kind", "when", "next", "state", "last")
_HISTORY: Final = ("number", "job", "planned", "began", "took", "outcome", "text")
_TITLE_CELLS: Final = 40
_TEXT_CELLS: Final = 60
_UNITS: Final = ((604_800, "w"), (86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def list_heads(language: str) -> list[str]:
    return [say(f"jobs.list.{head}", language) for head in _LIST]


def list_row(job: Job, now: datetime, language: str) -> list[str]:
    return [
        str(job.job_id),
        display_line(job.title, _TITLE_CELLS),
        kind_text(job.kind, language),
        when_text(job.schedule, language),
        next_text(job, now, language),
        state_text(job, language),
        last_text(job, language),
    ]


def facts(job: Job, now: datetime, language: str) -> list[tuple[str, str]]:
    found = [
        ("jobs.list.number", str(job.job_id)),
        ("jobs.list.title", display_line(job.title)),
        ("jobs.list.kind", kind_text(job.kind, language)),
        ("jobs.show.expert", display_line(job.expert)),
        ("jobs.list.when", when_text(job.schedule, language)),
        ("jobs.show.zone", display_line(job.schedule.zone)),
        ("jobs.list.next", next_text(job, now, language)),
        ("jobs.show.missed", say(f"jobs.missed.{job.missed.kind}", language, most=job.missed.most)),
        ("jobs.list.state", state_text(job, language)),
        ("jobs.show.blocked_by", display_line(job.blocked_by)),
        ("jobs.list.last", last_text(job, language)),
        ("jobs.show.created", local_text(job.created_at, job.schedule.zone)),
        ("jobs.show.by", job.created_by),
    ]
    return [(say(key, language), value) for key, value in found if value]


def history_heads(language: str) -> list[str]:
    return [say(f"jobs.history.{head}", language) for head in _HISTORY]


def history_row(run: Run, zone: str, language: str) -> list[str]:
    return [
        str(run.run_id),
        str(run.job_id),
        local_text(run.planned_at, zone),
        local_text(run.started_at, zone),
        _took(run, language),
        outcome_text(run, language),
        display_line(run.text, _TEXT_CELLS),
    ]


def kind_text(kind: str, language: str) -> str:
    """Kinds that other parts brought have their name for a word."""
    key = f"jobs.kind.{kind}"
    return say(key, language) if key in TEXTS else display_line(kind)


def when_text(schedule: Schedule, language: str) -> str:
    match schedule.kind:
        case "once":
            return say("jobs.when.once", language)
        case "every":
            return say("jobs.when.every", language, step=_compact(int(schedule.text)))
        case "cron":
            return say("jobs.when.cron", language, fields=display_line(schedule.text))


def next_text(job: Job, now: datetime, language: str) -> str:
    if job.next_due_at is None:
        return ""
    if datetime.fromisoformat(job.next_due_at) <= now:
        return say("jobs.due_now", language)
    return local_text(job.next_due_at, job.schedule.zone)


def state_text(job: Job, language: str) -> str:
    return say(f"jobs.state.{_state(job)}", language)


def outcome_text(run: Run, language: str) -> str:
    text = say(f"jobs.outcome.{run.outcome}", language)
    if run.is_by_hand:
        return say("jobs.by_hand", language, outcome=text)
    if run.count == 1:
        return text
    count = f"{run.count}+" if run.outcome == "missed" and run.count >= MOST_COUNTED else run.count
    return say("jobs.times", language, outcome=text, count=count)


def last_text(job: Job, language: str) -> str:
    if job.last is None:
        return ""
    return f"{local_text(job.last.planned_at, job.schedule.zone)} {outcome_text(job.last, language)}"


def local_text(moment: str | None, zone: str) -> str:
    """By the clocks of `zone`, to the minute; in UTC where this machine does not know the zone."""
    if moment is None:
        return ""
    try:
        clocks = zone_named(zone)
    except AgentError:
        clocks = ZoneInfo("UTC")
    return datetime.fromisoformat(moment).astimezone(clocks).strftime("%Y-%m-%d %H:%M")


def reminder_text(job: Job, run: Run, now: datetime, language: str) -> str:
    """With when it was due, where that was a while ago."""
    if run.is_by_hand or now - datetime.fromisoformat(run.planned_at) <= ON_TIME:
        return job.text
    return say("jobs.notice.late", language, text=job.text, when=local_text(run.planned_at, job.schedule.zone))


def failed_text(problem: str, language: str) -> str:
    return say("jobs.notice.failed", language, problem=problem)


def blocked_text(problem: str, language: str) -> str:
    return say("jobs.notice.blocked", language, problem=problem)


def unknown_kind(kind: str) -> str:
    return f"This version of the program has no jobs of the kind {kind}."


def _state(job: Job) -> str:
    if job.last is not None and job.last.outcome in ("running", "waiting"):
        return job.last.outcome
    if not job.is_enabled:
        return "off"
    if job.next_due_at is None:
        return "over"
    return "blocked" if job.blocked_by else "on"


def _took(run: Run, language: str) -> str:
    if run.started_at is None or run.ended_at is None:
        return ""
    took = datetime.fromisoformat(run.ended_at) - datetime.fromisoformat(run.started_at)
    return duration_text(max(0.0, took.total_seconds()), language)


def _compact(seconds: int) -> str:
    """As it can be written again: 5400 is 1h30m."""
    text = ""
    for size, unit in _UNITS:
        count, seconds = divmod(seconds, size)
        text += f"{count}{unit}" if count else ""
    return text
