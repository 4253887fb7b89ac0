"""What to remind the user of now, and that it was done. For whoever looks every minute or so."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from engine.harness.builtin.dates.occurrences import Occurrence, due
from engine.store.dates import DateStore

LONGEST_AGO: Final = timedelta(hours=12)
"""What was missed for longer, as the computer slept, is not told any more."""
_FARTHEST_AHEAD: Final = timedelta(days=30)
"""No reminder is longer before its event."""


def due_now(
    store: DateStore, now: datetime, user_zone: ZoneInfo, longest_ago: timedelta = LONGEST_AGO
) -> Sequence[Occurrence]:
    """In order of their starts. `now` has a zone. Each is told with `tell`, and is not due again."""
    here = now.astimezone(user_zone).replace(tzinfo=None)
    events = [
        event for event in store.near(here - longest_ago, here + _FARTHEST_AHEAD) if event.remind_minutes is not None
    ]
    told = {event.event_id: store.told(event.event_id) for event in events}
    return due(events, told, now, longest_ago, user_zone)


def tell(store: DateStore, occurrence: Occurrence) -> bool:
    """Record that the user is told of it; False when another did already."""
    return store.tell(occurrence.event.event_id, occurrence.wall)
