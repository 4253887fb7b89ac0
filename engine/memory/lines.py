"""A memory as one line of the memory block, and how long such lines are. Pure."""

import re
from typing import Final

from engine.memory.escaping import escaped
from engine.memory.values import Memory

_WIDE: Final = re.compile(r"[^\x00-\x7f]")
_LINE_TOKENS: Final = 3
"""The dash, the line end, and what rounding loses."""


def line(memory: Memory) -> str:
    """Such as "I prefer tea"; a plan with a known day names it."""
    due = f" (on {memory.due_on})" if memory.due_on else ""
    return f"{escaped(memory.text)}{due}"


def estimated_tokens(text: str) -> int:
    """About how many tokens a text is at most, whatever the base: three letters or one Chinese character make one."""
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide + 2) // 3 + _LINE_TOKENS
