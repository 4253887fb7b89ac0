"""How large a file is, in words. Pure."""

from typing import Final

_UNITS: Final = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def size_text(size_bytes: float) -> str:
    """Such as "2.5 GB"; decimal, as the hub and the shops count."""
    for unit, factor in _UNITS:
        if size_bytes >= factor:
            return f"{size_bytes / factor:.1f} {unit}"
    return f"{size_bytes:.0f} B"
