"""How long something takes, in words. Pure."""

from typing import Final

from ui.strings import say

_MINUTE_S: Final = 60
_HOUR_S: Final = 3600


def duration_text(seconds: float, language: str) -> str:
    """Such as "5 s", "2 min", "2.0 h"."""
    if seconds < _MINUTE_S:
        return say("time.seconds", language, count=f"{seconds:.0f}")
    if seconds < _HOUR_S:
        return say("time.minutes", language, count=f"{seconds / _MINUTE_S:.0f}")
    return say("time.hours", language, count=f"{seconds / _HOUR_S:.1f}")
