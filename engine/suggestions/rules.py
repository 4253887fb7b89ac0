"""What else may be suggested: what is due soon, a memory that was not confirmed for long, a break. Pure."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Final

from engine.harness.builtin.dates.occurrences import Occurrence
from engine.memory.values import Memory
from engine.suggestions.values import About, Candidate

REMINDED_AT: Final = time(8)
"""Of a day without a time."""
BEFORE: Final = timedelta(hours=1)
"""So long before it begins one is reminded of what has a time; nothing is suggested for what begins sooner."""
AHEAD: Final = timedelta(hours=24)
STALE_DAYS: Final = 365
"""A memory that was said or confirmed longer ago may not hold any more."""
ASKED_ABOUT: Final = ("home", "employer", "job", "partner", "marriage", "diet")
"""Slots of what changes in a life."""
STRETCH: Final = timedelta(minutes=120)
"""After so long without a pause a break is suggested."""
PAUSE: Final = timedelta(minutes=15)
"""What counts as a pause between two messages."""


def due_memories(memories: Iterable[Memory], now: datetime) -> list[Candidate]:
    """Of plans whose day is today or tomorrow. `now` is by the user's clocks."""
    found = list[Candidate]()
    for memory in memories:
        day = date.fromisoformat(memory.due_on)
        moment = max(datetime.combine(day, REMINDED_AT, now.tzinfo), now + BEFORE)
        if day - now.date() in (timedelta(0), timedelta(days=1)) and moment.date() == day:
            facts = {"day": memory.due_on, "said_on": memory.created_at[:10], "remind_at": moment.isoformat()}
            found.append(Candidate("due", f"due:memory:{memory.memory_id}:{day}", About(memory.memory_id), facts))
    return found


def due_events(occurrences: Iterable[Occurrence], now: datetime) -> list[Candidate]:
    """Of what begins within a day and reminds of itself in no other way. `now` is by the user's clocks."""
    found = list[Candidate]()
    for one in occurrences:
        if one.event.remind_minutes is not None or not now + BEFORE < one.starts <= now + AHEAD:
            continue
        day = one.starts.date().isoformat()
        moment, at = one.starts - BEFORE, one.starts.strftime("%H:%M")
        if one.event.is_all_day:
            moment, at = max(datetime.combine(one.starts.date(), REMINDED_AT, now.tzinfo), now + BEFORE), ""
        facts = {"day": day, "time": at, "remind_at": moment.isoformat()}
        key = f"due:event:{one.event.event_id}:{one.wall.isoformat()}"
        found.append(Candidate("due", key, About(event_id=one.event.event_id), facts))
    return found


def stale_memories(memories: Iterable[Memory], now: datetime) -> list[Candidate]:
    """Of what can change in a life and was not said or confirmed for long."""
    found = list[Candidate]()
    for memory in memories:
        since = memory.validated_at or memory.created_at
        is_old = now - datetime.fromisoformat(since) >= timedelta(days=STALE_DAYS)
        if is_old and memory.slot in ASKED_ABOUT:
            about, facts = About(memory.memory_id), {"said_on": since[:10]}
            found.append(Candidate("stale", f"stale:{memory.memory_id}:{since[:10]}", about, facts))
    return found


def long_stretch(moments: Sequence[datetime], now: datetime) -> list[Candidate]:
    """A break, where the user has been writing without a pause until now. `moments` of their messages, the newest
    first, by their clocks."""
    began = now
    for moment in moments:
        if began - moment > PAUSE:
            break
        began = moment
    if now - began < STRETCH:
        return []
    minutes = int((now - began).total_seconds() // 60)
    facts = {"since": f"{began:%H:%M}", "minutes": str(minutes)}
    return [Candidate("break", f"break:{began.isoformat()}", facts=facts)]
