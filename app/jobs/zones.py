"""The time zone of this machine, by name."""

from datetime import datetime
from typing import Final

from tzlocal import get_localzone_name, reload_localzone

from engine.errors import UsageProblem
from engine.jobs.times import zone_named

_FALLBACK: Final = "UTC"


def local_zone_name() -> str:
    """Raises: UsageProblem where the machine's zone has no name and is not UTC either."""
    try:
        reload_localzone()  # who travels takes a host along that was started at home
        name = get_localzone_name()
        zone_named(name)
    except (LookupError, ValueError, OSError, UsageProblem):
        name = None
    if name is not None:
        return name
    if datetime.now().astimezone().utcoffset():
        raise UsageProblem("The time zone of this machine has no name.", "Name it with --zone, such as Europe/Berlin.")
    return _FALLBACK
