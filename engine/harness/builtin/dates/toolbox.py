"""The tools for the calendar: add, list, move, cancel, bring back; and reminders.

What the user is shown and what is then done are worked out by the same functions from the same arguments.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from engine.errors import UnknownName, UsageProblem
from engine.harness.builtin.dates.arguments import (
    AddEvent,
    AddReminder,
    CancelEvent,
    ListEvents,
    MoveEvent,
    RestoreEvent,
    ShowEvent,
)
from engine.harness.builtin.dates.moments import line, moment_of, span, when, zone_named
from engine.harness.builtin.dates.occurrences import occurrence_at, occurrences, zone_of
from engine.harness.builtin.dates.rules import checked_rule
from engine.harness.builtin.entries import EntryToolbox, ShownStates, entry, shortened
from engine.harness.tools.values import Invocation, Preview, ToolResult
from engine.store.dates import TITLE_CHARACTERS, DateStore, Event

MOST_LISTED: Final = 100


class DateToolbox(EntryToolbox):
    def __init__(self, store: DateStore, zone: ZoneInfo, now: Callable[[], datetime]) -> None:
        """`zone` is the user's, `now` gives the time with a zone."""
        self._store, self._zone, self._now = store, zone, now
        self._shown = ShownStates()
        super().__init__(
            [
                entry(AddEvent, "add_event", "own_data", True, self._preview_add, self._add),
                entry(AddReminder, "add_reminder", "own_data", True, self._preview_add, self._add),
                entry(ListEvents, "list_events", "own_data", False, self._preview_list, self._list),
                entry(ShowEvent, "show_event", "own_data", False, self._preview_show, self._show),
                entry(MoveEvent, "move_event", "own_data", True, self._preview_move, self._move),
                entry(CancelEvent, "cancel_event", "own_data", True, self._preview_cancel, self._cancel),
                entry(RestoreEvent, "restore_event", "own_data", True, self._preview_restore, self._restore),
            ]
        )

    def _preview_add(self, asked: AddEvent | AddReminder, invocation: Invocation) -> Preview:
        event = self._asked_for(asked)
        return Preview(f"Add {_named(event)}: {when(event)}", _details(event))

    def _add(self, asked: AddEvent | AddReminder, invocation: Invocation) -> ToolResult:
        event = self._store.add(self._asked_for(asked))
        return _done(
            f"Added {_named(event)} as number {event.event_id}: {when(event)}", f"cancel_event {event.event_id}"
        )

    def _preview_list(self, asked: ListEvents, invocation: Invocation) -> Preview:
        first, last = self._days(asked)
        return Preview("List the calendar", f"{first:%Y-%m-%d} to {last - timedelta(days=1):%Y-%m-%d}")

    def _list(self, asked: ListEvents, invocation: Invocation) -> ToolResult:
        first, last = self._days(asked)
        near = self._store.near(first.replace(tzinfo=None), last.replace(tzinfo=None))
        found = occurrences(near, first, last, self._zone)
        now = self._now().astimezone(self._zone)
        head = f"It is {now:%a %Y-%m-%d %H:%M} ({self._zone.key}). {first:%Y-%m-%d}, {asked.days} days:"
        lines = [line(one, self._zone) for one in found[:MOST_LISTED]] or ["(nothing)"]
        more = [f"({len(found) - MOST_LISTED} more; list fewer days.)"] if len(found) > MOST_LISTED else []
        is_tainted = any(one.event.source != "user" for one in found[:MOST_LISTED])
        return ToolResult("\n".join([head, *lines, *more]), is_tainted=is_tainted)

    def _preview_show(self, asked: ShowEvent, invocation: Invocation) -> Preview:
        event = self._store.get(asked.event)
        return Preview(f"Show {_named(event)}", when(event))

    def _show(self, asked: ShowEvent, invocation: Invocation) -> ToolResult:
        event = self._store.get(asked.event)
        state = "\n(cancelled)" if event.is_cancelled else ""
        text = f"[{event.event_id}] {when(event)}\n{_details(event)}{state}"
        return ToolResult(text, is_tainted=event.source != "user")

    def _preview_move(self, asked: MoveEvent, invocation: Invocation) -> Preview:
        before, _, moved = self._moved(asked)
        self._shown.remember(invocation, before)
        old = f"the time on {asked.occurrence}" if asked.occurrence.strip() else when(before)
        return Preview(f"Move {_named(before)}", f"from {old}\nto   {when(moved)}\n\n{_details(moved)}")

    def _move(self, asked: MoveEvent, invocation: Invocation) -> ToolResult:
        before, without, moved = self._moved(asked)
        self._shown.check(invocation, before, f"Event {before.event_id}")
        if without is None:
            after = self._store.change(before, moved)
            back = f"move_event {after.event_id} with starts {_written(before.starts, before.is_all_day)}"
            return _done(f"Moved event {after.event_id} to {when(after)}", back)
        after_one = self._store.take_out(before, without, moved)
        assert after_one is not None
        at = _written(without.left_out[-1], before.is_all_day)
        back = f"cancel_event {after_one.event_id}, then restore_event {before.event_id} with occurrence {at}"
        return _done(f"Moved this time to {when(moved)}, as event {after_one.event_id}", back)

    def _preview_cancel(self, asked: CancelEvent, invocation: Invocation) -> Preview:
        before, _ = self._cancelled(asked)
        self._shown.remember(invocation, before)
        which = f", only {asked.occurrence}" if asked.occurrence else ", all its times" if before.rule else ""
        return Preview(f"Cancel {_named(before)}{which}", f"{when(before)}\n{_details(before)}")

    def _cancel(self, asked: CancelEvent, invocation: Invocation) -> ToolResult:
        before, after = self._cancelled(asked)
        self._shown.check(invocation, before, f"Event {before.event_id}")
        self._store.change(before, after)
        if not asked.occurrence.strip():
            return _done(f"Cancelled event {before.event_id}", f"restore_event {before.event_id}")
        at = _written(after.left_out[-1], before.is_all_day)
        back = f"restore_event {before.event_id} with occurrence {at}"
        return _done(f"Cancelled event {before.event_id} on {at}", back)

    def _preview_restore(self, asked: RestoreEvent, invocation: Invocation) -> Preview:
        before, after = self._restored(asked)
        self._shown.remember(invocation, before)
        return Preview(f"Bring back {_named(before)}", f"{when(after)}\n{_details(after)}")

    def _restore(self, asked: RestoreEvent, invocation: Invocation) -> ToolResult:
        before, after = self._restored(asked)
        self._shown.check(invocation, before, f"Event {before.event_id}")
        self._store.change(before, after)
        return _done(f"Brought back event {after.event_id}", f"cancel_event {after.event_id}")

    def _asked_for(self, asked: AddEvent | AddReminder) -> Event:
        """Raises: UsageProblem."""
        if isinstance(asked, AddReminder):
            moment = moment_of(asked.at, self._zone)
            at = moment.wall.replace(hour=9) if moment.is_day else moment.wall
            reminder = Event(
                title=shortened(asked.text, TITLE_CHARACTERS),
                starts=at,
                ends=at,
                zone=self._zone.key,
                kind="reminder",
                rule=checked_rule(asked.repeat, at, self._zone),
                remind_minutes=0,
            )
            self._refuse_past(reminder)
            return _with_title(reminder)
        zone = zone_named(asked.zone) if asked.zone.strip() else self._zone
        starts, ends, is_all_day = span(asked.starts, asked.ends, zone)
        return _with_title(
            Event(
                title=shortened(asked.title, TITLE_CHARACTERS),
                starts=starts,
                ends=ends,
                zone="" if is_all_day else zone.key,
                is_all_day=is_all_day,
                place=shortened(asked.place, TITLE_CHARACTERS),
                notes=asked.notes.strip(),
                rule=checked_rule(asked.repeat, starts, zone),
                remind_minutes=None if asked.remind_minutes < 0 else asked.remind_minutes,
            )
        )

    def _refuse_past(self, reminder: Event) -> None:
        now = self._now()
        if not reminder.rule and reminder.starts.replace(tzinfo=self._zone) < now:
            shown = now.astimezone(self._zone)
            raise UsageProblem(
                f"{when(reminder)} is over; it is {shown:%a %Y-%m-%d %H:%M} now.", "Give a time that is to come."
            )

    def _days(self, asked: ListEvents) -> tuple[datetime, datetime]:
        if asked.first_day.strip():
            day = moment_of(asked.first_day, self._zone).wall
        else:
            day = self._now().astimezone(self._zone).replace(tzinfo=None)
        first = day.replace(hour=0, minute=0, second=0, microsecond=0)
        last = first + timedelta(days=asked.days)
        return first.replace(tzinfo=self._zone), last.replace(tzinfo=self._zone)

    def _moved(self, asked: MoveEvent) -> tuple[Event, Event | None, Event]:
        """The event as it is; without one of its times, if one is moved; and what is moved. Raises: UsageProblem."""
        before = self._present(asked.event)
        zone = self._zone_of(before)
        starts, ends, is_all_day = span(asked.starts, asked.ends, zone)
        if not asked.ends.strip() and is_all_day == before.is_all_day:
            ends = starts + (before.ends - before.starts)
        if before.kind == "reminder":
            starts, is_all_day = (starts.replace(hour=9), False) if is_all_day else (starts, False)
            ends = starts
        moved = replace(before, starts=starts, ends=ends, is_all_day=is_all_day)
        if is_all_day != before.is_all_day:
            moved = replace(moved, zone="" if is_all_day else self._zone.key)
        if not asked.occurrence.strip():
            rule = checked_rule(before.rule, starts, zone)
            by = starts - before.starts
            return before, None, replace(moved, rule=rule, left_out=tuple(day + by for day in before.left_out))
        wall = self._occurrence(before, asked.occurrence)
        without = replace(before, left_out=(*before.left_out, wall))
        instance = wall.isoformat(timespec="seconds")
        return before, without, replace(moved, rule="", left_out=(), instance=instance, event_id=0)

    def _cancelled(self, asked: CancelEvent) -> tuple[Event, Event]:
        before = self._present(asked.event)
        if not asked.occurrence.strip():
            return before, replace(before, is_cancelled=True)
        wall = self._occurrence(before, asked.occurrence)
        return before, replace(before, left_out=(*before.left_out, wall))

    def _restored(self, asked: RestoreEvent) -> tuple[Event, Event]:
        before = self._store.get(asked.event)
        if not asked.occurrence.strip():
            if not before.is_cancelled:
                raise UsageProblem(f"Event {asked.event} is not cancelled.", "List the events.")
            return before, replace(before, is_cancelled=False)
        wall = self._wall(before, asked.occurrence)
        if wall not in before.left_out:
            raise UsageProblem(f"Event {asked.event} is not cancelled on {asked.occurrence:.40}.", "List the events.")
        instance = wall.isoformat(timespec="seconds")
        for other in self._store.all():
            if (other.uid, other.instance) == (before.uid, instance):
                raise UsageProblem(
                    f"This time was moved and is number {other.event_id} now.", f"cancel_event {other.event_id} first."
                )
        return before, replace(before, left_out=tuple(day for day in before.left_out if day != wall))

    def _present(self, event_id: int) -> Event:
        event = self._store.get(event_id)
        if event.is_cancelled:
            raise UsageProblem(f"Event {event_id} is cancelled.", f"Bring it back with restore_event {event_id}.")
        return event

    def _occurrence(self, event: Event, text: str) -> datetime:
        """Raises: UsageProblem, UnknownName."""
        if not event.rule:
            raise UsageProblem(f"Event {event.event_id} takes place once.", "Leave the occurrence out.")
        wall = self._wall(event, text)
        if occurrence_at(event, wall, self._zone) is None:
            raise UnknownName(f"Event {event.event_id} does not start at {text:.40}.", "List the events of that day.")
        return wall

    def _wall(self, event: Event, text: str) -> datetime:
        """The start of one time of an event, for which its day is enough."""
        moment = moment_of(text, self._zone_of(event))
        is_day_enough = moment.is_day and not event.is_all_day
        return datetime.combine(moment.wall.date(), event.starts.time()) if is_day_enough else moment.wall

    def _zone_of(self, event: Event) -> ZoneInfo:
        return zone_of(event, self._zone)


def _done(what: str, back: str) -> ToolResult:
    """Says numbers and times, and no title that may be of others."""
    return ToolResult(f"{what}. To undo: {back}.", is_tainted=False)


def _named(event: Event) -> str:
    return f"the {event.kind} {event.title!r}"


def _details(event: Event) -> str:
    """All of it that a person would want to see before it is kept."""
    lines = [event.title]
    if event.place:
        lines.append(f"Place: {event.place}")
    if event.rule:
        lines.append(f"Repeats: {event.rule}")
    if event.remind_minutes is not None and event.kind == "event":
        lines.append(f"Reminder: {event.remind_minutes} minutes before")
    if event.notes:
        lines.append(event.notes)
    return "\n".join(lines)


def _written(moment: datetime, is_day: bool) -> str:
    return f"{moment:%Y-%m-%d}" if is_day else f"{moment:%Y-%m-%dT%H:%M}"


def _with_title(event: Event) -> Event:
    if not event.title:
        raise UsageProblem("The title is empty.", "Say what takes place.")
    return event
