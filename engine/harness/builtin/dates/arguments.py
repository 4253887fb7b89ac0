"""What the tools for the calendar take, with the words that a model reads about it."""

from typing import Final

from pydantic import Field

from engine.harness.builtin.dates.rules import WORDS
from engine.harness.builtin.entries import Arguments
from engine.store.dates import TEXT_CHARACTERS, TITLE_CHARACTERS

LONGEST_LISTED_DAYS: Final = 366
LONGEST_REMINDER_MINUTES: Final = 28 * 24 * 60

_WHEN: Final = "Day such as 2026-03-01 (all day), or time such as 2026-03-01T09:00."
_REPEAT: Final = f"One of {', '.join(WORDS)}, or an iCalendar rule; empty for once."
_OCCURRENCE: Final = "Of a repeated event: the start of the one meant, as listed; empty for all of them."
_NUMBER: Final = "Number of the event, as listed."


class AddEvent(Arguments):
    """Put an event into the user's calendar."""

    title: str = Field(max_length=TITLE_CHARACTERS)
    starts: str = Field(description=_WHEN)
    ends: str = Field(default="", description="Likewise; empty for an hour or a day.")
    zone: str = Field(default="", description="Time zone such as Asia/Shanghai; empty for the user's.")
    place: str = Field(default="", max_length=TITLE_CHARACTERS)
    notes: str = Field(default="", max_length=TEXT_CHARACTERS)
    repeat: str = Field(default="", description=_REPEAT)
    remind_minutes: int = Field(
        default=-1, ge=-1, le=LONGEST_REMINDER_MINUTES, description="Minutes before the start to remind; -1 for never."
    )


class AddReminder(Arguments):
    """Remind the user of something at a time."""

    text: str = Field(max_length=TITLE_CHARACTERS, description="What to remind of.")
    at: str = Field(description="Time such as 2026-03-01T09:00; a day alone means nine in the morning.")
    repeat: str = Field(default="", description=_REPEAT)


class ListEvents(Arguments):
    """List the user's events and reminders, with their numbers. Also says what day and time it is now."""

    first_day: str = Field(default="", description="Such as 2026-03-01; empty for today.")
    days: int = Field(default=7, ge=1, le=LONGEST_LISTED_DAYS)


class ShowEvent(Arguments):
    """Show all that is known of one event or reminder, with its notes."""

    event: int = Field(description=_NUMBER)


class MoveEvent(Arguments):
    """Move an event or reminder to another time."""

    event: int = Field(description=_NUMBER)
    starts: str = Field(description=_WHEN)
    ends: str = Field(default="", description="Likewise; empty to keep its length.")
    occurrence: str = Field(default="", description=_OCCURRENCE)


class CancelEvent(Arguments):
    """Cancel an event or reminder."""

    event: int = Field(description=_NUMBER)
    occurrence: str = Field(default="", description=_OCCURRENCE)


class RestoreEvent(Arguments):
    """Bring back a cancelled event or reminder, or one cancelled time of a repeated one."""

    event: int = Field(description="Number of the event.")
    occurrence: str = Field(default="", description=_OCCURRENCE)
