"""Patterns written as one alternative a line. Knows nothing of what they are for."""

import re


def any_of(*alternatives: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """A pattern that finds any of these."""
    return re.compile("|".join(f"(?:{one})" for one in alternatives), flags)
