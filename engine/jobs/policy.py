"""What is run, what is let go, and who may ask for a job. Pure: moments and provenances in, decisions out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from engine.errors import UsageProblem
from engine.jobs.values import Missed, Outcome, Schedule
from engine.values import Provenance

ON_TIME: Final = timedelta(seconds=60)
"""A time that is not longer ago is not missed: the program may just have started, or had other things to do."""
REPEATED_AFTER_SET_BACK: Final = timedelta(days=1)
"""A clock that is set back by less repeats no time of day; one that is set back by more was wrong before."""
MOST_ATTEMPTS: Final = 2
"""A run that was interrupted is begun once more at most: what brought the program down may do so again."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Times of one job, oldest first."""

    run: tuple[datetime, ...]
    let_go: tuple[datetime, ...]


def plan(missed: Missed, times: Sequence[datetime], now: datetime, interrupted: Sequence[datetime] = ()) -> Plan:
    """Which of the times up to `now` are run. `interrupted` are those whose run broke off; they count as missed."""
    on_time = sorted(time for time in times if now - time <= ON_TIME)
    late = sorted({*interrupted, *(time for time in times if now - time > ON_TIME)} - set(on_time))
    match missed.kind:
        case "skip":
            run = on_time[-1:]
        case "once":
            run = on_time[-1:] or late[-1:]
        case "all":
            run = late[len(late) - min(missed.most, len(late)) :] + on_time[-1:]
    return Plan(tuple(run), tuple(time for time in (*late, *on_time) if time not in run))


def was_set_back(schedule: Schedule, planned_from: datetime, now: datetime) -> bool:
    """Whether the clock has gone back so far that the next time must be worked out anew.

    The moment of a job that is due once stays what it is.
    """
    if schedule.kind == "once":
        return False
    return planned_from - now > (ON_TIME if schedule.kind == "every" else REPEATED_AFTER_SET_BACK)


def require_typed(provenance: Provenance) -> None:
    """Only what a person typed makes a job: no text of others does, nor another job. Raises: UsageProblem."""
    if provenance != "typed":
        raise UsageProblem(
            "Only what you type yourself can make a job.", "Type it yourself, or run: macaron jobs add --help."
        )


def is_news(outcome: Outcome, before: Outcome | None) -> bool:
    """Whether the user is told of it: of the same trouble time after time they are told once."""
    return outcome in ("failed", "blocked") and outcome != before
