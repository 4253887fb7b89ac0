"""What a message of the user is to its readers: the typed text, then every attached file, fenced and named.

Pure. The one place that joins the two, so that what is measured, read and trained on is the same text. Whatever reads
the result takes all of it for untrusted; the fence only keeps a model from taking the end of a file for the user.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from engine.values import Attachment

NAME_CHARACTERS: Final = 120
"""Longer names of files are cut."""
SHORTEST_FENCE: Final = 3


def user_message(text: str, attachments: Sequence[Attachment] = ()) -> str:
    """What an expert reads for `text` and the files that go with it."""
    return "\n\n".join([text, *map(attachment_block, attachments)])


def attachment_block(attachment: Attachment) -> str:
    """One file under its name, in a fence that its own text cannot close."""
    return f"Attached file {shown_name(attachment.name)}:\n{fenced(attachment.text)}"


def fenced(text: str, info: str = "") -> str:
    """In a fence that the text cannot close. `info` says what it is, on the fence's own line."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(SHORTEST_FENCE, longest + 1)
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{fence}{info}\n{text}{end}{fence}"


def router_request(text: str, attachments: Sequence[Attachment] = ()) -> str:
    """What the router is asked about: the typed text and the names of the files, never what is in them."""
    if not attachments:
        return text
    return f"{text}\nAttached: {', '.join(shown_name(attachment.name) for attachment in attachments)}"


def shown_name(name: str) -> str:
    """The name of a file on one line, without characters that steer a screen; "unnamed" when none is left."""
    visible = "".join(" " if unicodedata.category(character)[0] in "CZ" else character for character in name)
    return " ".join(visible.split())[:NAME_CHARACTERS].rstrip() or "unnamed"
