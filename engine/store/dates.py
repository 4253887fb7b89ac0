"""Events and reminders: what is in the user's calendar. Lives in the store's database.

Times are wall-clock times in the zone of the event, as people mean them: nine o'clock stays nine o'clock when the
clocks change. Knows no rule of repetition; a rule is kept as it is given. Every method is one transaction or one read
and raises StoreProblem or one of its children when the disk or the file fails.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal
from uuid import uuid4

from engine.errors import BadText, UnknownName, UsageProblem
from engine.store.database import Database
from engine.store.notes import Source
from engine.store.rows import checked_text

Kind = Literal["event", "reminder"]

MOST_EVENTS: Final = 10_000
TITLE_CHARACTERS: Final = 500
TEXT_CHARACTERS: Final = 10_000
_PLAIN: Final = (
    *("title", "zone", "kind", "place", "notes", "rule", "remind_minutes", "source", "uid", "instance", "event_id"),
)
"""Columns that are fields as they are."""


@dataclass(frozen=True, slots=True)
class Event:
    title: str
    starts: datetime
    """Wall clock, without zone; midnight for a whole day."""
    ends: datetime
    """Never before `starts`; of a whole day the midnight after it."""
    zone: str = ""
    """IANA name; empty for wherever the user is."""
    is_all_day: bool = False
    kind: Kind = "event"
    place: str = ""
    notes: str = ""
    rule: str = ""
    """How it repeats, as an RRULE of iCalendar; empty for once."""
    left_out: tuple[datetime, ...] = ()
    """Starts at which the rule would have it but it is not."""
    remind_minutes: int | None = None
    """How long before each start to remind of it."""
    source: Source = "model"
    uid: str = ""
    """Its name in iCalendar files; made up where it is empty."""
    instance: str = ""
    """Where it stands for one time of a repeated event: which start of that one, as `isoformat` gives it."""
    is_cancelled: bool = False
    event_id: int = 0
    """The store's number; 0 until it is added."""


class DateStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, event: Event) -> Event:
        """Raises: BadText, UsageProblem."""
        with self._database.transaction() as connection:
            _check_room(connection, 1)
            return _insert(connection, event)

    def add_all(self, events: Sequence[Event]) -> Sequence[Event]:
        """Those that are not here yet by their names in iCalendar files, numbered one after the other.

        What is here stays as it is. Raises: BadText, UsageProblem; then none was added.
        """
        with self._database.transaction() as connection:
            here = {(uid, instance) for uid, instance in connection.execute("SELECT uid, instance FROM events")}
            new = {(event.uid, event.instance): event for event in events}
            wanted = [event for key, event in new.items() if key not in here]
            _check_room(connection, len(wanted))
            return tuple(_insert(connection, event) for event in wanted)

    def get(self, event_id: int) -> Event:
        """Also one that was cancelled. Raises: UnknownName."""
        with self._database.reading() as connection:
            return _known(connection, event_id)

    def all(self) -> Sequence[Event]:
        """Without those cancelled, in the order of their starts."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT * FROM events WHERE cancelled_at IS NULL ORDER BY starts, event_id")
            return tuple(map(_event_of, found))

    def near(self, first: datetime, last: datetime) -> Sequence[Event]:
        """Those that may take place between two wall-clock times anywhere: repeated ones, and others by a day."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT * FROM events WHERE cancelled_at IS NULL AND starts <= ? AND (rule <> '' OR ends >= ?)"
                " ORDER BY starts, event_id",
                [_text_of(last + timedelta(days=1)), _text_of(first - timedelta(days=1))],
            )
            return tuple(map(_event_of, found))

    def change(self, before: Event, after: Event) -> Event:
        """Put `after` in place of the event, which must still be `before`.

        Raises: UnknownName, BadText; UsageProblem when it was changed meanwhile.
        """
        with self._database.transaction() as connection:
            _require_same(connection, before)
            return _update(connection, after)

    def take_out(self, before: Event, without: Event, instead: Event | None) -> Event | None:
        """One time of a repeated event goes, and another event stands for it where one is given; both or neither.

        Raises: as `change` and `add`.
        """
        with self._database.transaction() as connection:
            _require_same(connection, before)
            _update(connection, without)
            if instead is None:
                return None
            _erase_cancelled(connection, instead)
            _check_room(connection, 1)
            return _insert(connection, instead)

    def erase(self, event_id: int) -> None:
        """Gone at once. Raises: UnknownName."""
        with self._database.transaction() as connection:
            _known(connection, event_id)
            _erase(connection, event_id)

    def imported(self, first: int, last: int) -> Sequence[Event]:
        """Those that came from a file, from one number to another."""
        with self._database.reading() as connection:
            return _imported(connection, first, last)

    def erase_imported(self, first: int, last: int) -> Sequence[Event]:
        """Those are gone at once, so that their file may be imported again; what they were."""
        with self._database.transaction() as connection:
            gone = _imported(connection, first, last)
            for event in gone:
                _erase(connection, event.event_id)
            return gone

    def told(self, event_id: int) -> frozenset[str]:
        """The starts that the user was reminded of, as `isoformat` gives them."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT starts FROM reminders_told WHERE event_id = ?", [event_id])
            return frozenset(starts for (starts,) in found)

    def tell(self, event_id: int, starts: datetime) -> bool:
        """Record that the user is reminded of this start; False when they were already. Raises: UnknownName."""
        with self._database.transaction() as connection:
            _known(connection, event_id)
            return (
                connection.execute(
                    "INSERT OR IGNORE INTO reminders_told (event_id, starts, told_at) VALUES (?, ?, ?)",
                    [event_id, _text_of(starts), _now()],
                ).rowcount
                > 0
            )


def _check_room(connection: sqlite3.Connection, wanted: int) -> None:
    (count,) = connection.execute("SELECT count(*) FROM events").fetchone()
    if count + wanted > MOST_EVENTS:
        raise UsageProblem(
            f"The calendar holds {count:,} events of at most {MOST_EVENTS:,}, so {wanted:,} more do not fit.",
            "Import fewer, or erase old ones.",
        )


def _erase_cancelled(connection: sqlite3.Connection, event: Event) -> None:
    """The one that stood for the same time before, as no two may."""
    stood = connection.execute(
        "SELECT event_id FROM events WHERE uid = ? AND instance = ? AND cancelled_at IS NOT NULL",
        [event.uid, event.instance],
    ).fetchall()
    for (event_id,) in stood:
        _erase(connection, event_id)


def _erase(connection: sqlite3.Connection, event_id: int) -> None:
    connection.execute("DELETE FROM reminders_told WHERE event_id = ?", [event_id])
    connection.execute("DELETE FROM events WHERE event_id = ?", [event_id])


def _insert(connection: sqlite3.Connection, event: Event) -> Event:
    _check(event)
    columns = {**_columns_of(event), "uid": event.uid or f"{uuid4()}@macaron", "created_at": _now()}
    event_id = connection.execute(
        f"INSERT INTO events ({', '.join(columns)}) VALUES ({', '.join('?' for _ in columns)})", [*columns.values()]
    ).lastrowid
    assert event_id is not None
    return _known(connection, event_id)


def _update(connection: sqlite3.Connection, event: Event) -> Event:
    _check(event)
    columns = _columns_of(event)
    settings = ", ".join(f"{name} = ?" for name in columns)
    connection.execute(f"UPDATE events SET {settings} WHERE event_id = ?", [*columns.values(), event.event_id])
    return _known(connection, event.event_id)


def _known(connection: sqlite3.Connection, event_id: int) -> Event:
    row = connection.execute("SELECT * FROM events WHERE event_id = ?", [event_id]).fetchone()
    if row is None:
        raise UnknownName(f"There is no event {event_id}.", "List the events to see their numbers.")
    return _event_of(row)


def _imported(connection: sqlite3.Connection, first: int, last: int) -> Sequence[Event]:
    found = connection.execute(
        "SELECT * FROM events WHERE source = 'imported' AND event_id BETWEEN ? AND ? ORDER BY event_id", [first, last]
    )
    return tuple(map(_event_of, found))


def _require_same(connection: sqlite3.Connection, before: Event) -> None:
    if _known(connection, before.event_id) != before:
        raise UsageProblem(f"Event {before.event_id} was changed meanwhile.", "List the events and try again.")


def _check(event: Event) -> None:
    """Raises: BadText, UsageProblem."""
    texts = (event.title, event.place, event.notes, event.uid, event.rule)
    for text in texts:
        checked_text(text)
    if not event.title.strip():
        raise BadText("The event has no title.", "Say what takes place.")
    if len(event.title) > TITLE_CHARACTERS or any(len(text) > TEXT_CHARACTERS for text in texts):
        raise BadText(f"A title takes {TITLE_CHARACTERS} characters, other texts {TEXT_CHARACTERS:,}.", "Write less.")
    if event.starts.tzinfo is not None or event.ends.tzinfo is not None:
        raise ValueError("times of events are wall-clock times, without a zone")
    if event.ends < event.starts:
        raise UsageProblem("The event ends before it starts.", "Give an end that is later.")


def _columns_of(event: Event) -> dict[str, str | int | None]:
    """Without the number and without when it was made."""
    now = _now()
    return {
        "uid": event.uid,
        "instance": event.instance,
        "kind": event.kind,
        "title": event.title,
        "place": event.place,
        "notes": event.notes,
        "starts": _text_of(event.starts),
        "ends": _text_of(event.ends),
        "zone": event.zone,
        "is_all_day": int(event.is_all_day),
        "rule": event.rule,
        "left_out": json.dumps([_text_of(moment) for moment in event.left_out]),
        "remind_minutes": event.remind_minutes,
        "source": event.source,
        "updated_at": now,
        "cancelled_at": now if event.is_cancelled else None,
    }


def _event_of(row: sqlite3.Row) -> Event:
    plain = {name: row[name] for name in _PLAIN}
    return Event(
        **{
            **plain,
            "starts": datetime.fromisoformat(row["starts"]),
            "ends": datetime.fromisoformat(row["ends"]),
            "is_all_day": bool(row["is_all_day"]),
            "left_out": tuple(map(datetime.fromisoformat, json.loads(row["left_out"]))),
            "is_cancelled": row["cancelled_at"] is not None,
        }
    )


def _text_of(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
