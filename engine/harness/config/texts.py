"""Bytes of a configuration file to text that is the same text on every system. Pure."""

import re
from typing import Final

from engine.harness.config.complaints import Complaint

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def decoded(data: bytes, file: str) -> str | Complaint:
    """The text with plain line breaks and without a byte order mark; the complaint where it is no text."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return Complaint(file, "It is not UTF-8 text.", "Save it as UTF-8.", line)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if found := _CONTROL.search(text):
        line = text.count("\n", 0, found.start()) + 1
        return Complaint(file, f"It holds the control character U+{ord(found[0]):04X}.", "Remove it.", line)
    return text
