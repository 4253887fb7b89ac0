"""Text of an MCP server, made safe to show to a model and to a person. Pure.

Hidden characters carry orders that a person approving a tool cannot see; markup imitates the end of a list of tools.
"""

import re
from typing import Final

_CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_TURNS: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
"""What turns the order in which text is read, and deprecated format characters."""
_TAGS: Final = "\ufff9-\ufffb\U000e0000-\U000e0fff"
"""Interlinear marks, and the invisible copy of ASCII with its further variation selectors."""
_UNSEEN: Final = (
    "\u00ad\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2028\u2029\u2060-\u2065\u3164\ufe00-\ufe0f\ufeff\uffa0"
)
"""What takes no room. Some of it joins letters or emoji, so results keep it; descriptions need none of it."""
_SURROGATES: Final = "\ud800-\udfff"

_HIDDEN: Final = re.compile(f"[{_CONTROLS}{_TURNS}{_TAGS}{_UNSEEN}{_SURROGATES}]")
_HARMFUL: Final = re.compile(f"[{_CONTROLS}{_TURNS}{_TAGS}{_SURROGATES}]")
_MARKUP: Final = re.compile(r"<(?=[|/!?A-Za-z])")
_CONTROL_TOKEN: Final = re.compile(r"<\|")


def prose(text: str, most_characters: int) -> str:
    """A description: nothing hidden, nothing that looks like a tag, cut where it is too long."""
    seen = _MARKUP.sub("‹", _HIDDEN.sub("", text.replace("\r", "\n"))).strip()
    return seen if len(seen) <= most_characters else f"{seen[: most_characters - 1].rstrip()}…"


def line(text: str, most_characters: int) -> str:
    """`prose` on one line."""
    return prose(" ".join(text.split()), most_characters)


def output(text: str, most_characters: int) -> str:
    """A result: without controls, turned text and invisible copies; the middle is left out where it is too long."""
    seen = _HARMFUL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if len(seen) <= most_characters:
        return seen
    head = most_characters * 3 // 4
    tail = most_characters - head
    return f"{seen[:head]}\n[{len(seen) - most_characters} characters left out]\n{seen[-tail:]}"


def hidden_count(text: str) -> int:
    """Characters that nobody would see."""
    return len(_HIDDEN.findall(text))


def is_plain(text: str) -> bool:
    """Whether a text that cannot be changed, such as the name of an argument, hides nothing."""
    return _HIDDEN.search(text) is None and _CONTROL_TOKEN.search(text) is None
