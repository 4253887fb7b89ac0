"""Names that came from outside, made safe as names of folders and files. Pure."""

import re
from typing import Final

from engine.errors import UsageProblem

_LONGEST: Final = 64
_NOT_ALLOWED: Final = re.compile(r"[^\w.+-]+")
_DEVICES: Final = frozenset(
    {"aux", "clock$", "con", "conin$", "conout$", "nul", "prn"}
    | {f"{name}{number}" for name in ("com", "lpt") for number in "0123456789¹²³"}
)
"""Names that mean a device on Windows, with any extension."""
_QUANTISATION_END: Final = re.compile(r"[-_.](gguf|instruct|it|chat|ud)$", re.IGNORECASE)


def safe_name(text: str) -> str:
    """`text` as one name: letters, digits, dots, dashes and underscores, at most 64 of them.

    The last part counts where it is a path. Raises: UsageProblem when nothing is left.
    """
    last = re.split(r"[/\\]", text.strip().rstrip("/\\"))[-1]
    name = _NOT_ALLOWED.sub("-", last).strip("-. ")[:_LONGEST].rstrip("-. ")
    if not name or not re.search(r"\w", name):
        raise UsageProblem(f"`{text[:80]}` holds nothing that can be a name.", "Use letters, digits and dashes.")
    return f"base-{name}" if name.split(".")[0].lower() in _DEVICES else name


def profile_name(file_or_model: str) -> str:
    """The name of a profile for a model file or for a name such as `llama3.2:3b`."""
    text = re.sub(r"\.gguf$", "", file_or_model.strip(), flags=re.IGNORECASE)
    text = _QUANTISATION_END.sub("", text)
    return safe_name(text.replace(":", "-")).lower()


def is_plain_name(text: str) -> bool:
    """Whether `text` names something within a folder and cannot lead out of it."""
    return bool(text) and text not in (".", "..") and not re.search(r"[/\\:\0]", text)


def title_of(text: object, instead: str) -> str:
    """A text from a model file as a title: one line of printable characters, at most 80; else `instead`."""
    words = "".join(c if c.isprintable() else " " for c in text) if isinstance(text, str) else ""
    return " ".join(words.split())[:80] or instead
