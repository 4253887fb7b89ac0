"""What the one-shot commands print: results to standard output, progress and errors to standard error, all in UTF-8.

Knows no verb. What people read is made harmless to the terminal; what scripts read keeps every character.
"""

import io
import json
import os
import re
import sys
from typing import Any, TextIO

from engine.errors import AgentError
from ui.inert import display_text

# JSON escapes the other control characters itself. These would reach the terminal: DEL, C1, and what turns the order.
_RISKY_IN_JSON = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class OutputFailed(AgentError):
    """Standard output takes no more text, so that not even an error can be written there."""


def write_utf8() -> None:
    """Make the output UTF-8 whatever the locale says; what cannot be written becomes a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def print_json(value: Any) -> None:
    """One line. Raises: OutputFailed, BrokenPipeError."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    print_text(_RISKY_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_text(text: str = "", *, end: str = "\n") -> None:
    """Raises: OutputFailed, BrokenPipeError when the reader went away."""
    try:
        print(text, end=end, flush=True)
    except OSError as error:
        _discard(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise OutputFailed(
            f"The output cannot be written: {error.strerror}.",
            "Free some space or write somewhere else; what was answered so far is in `macaron history`.",
        ) from error


def print_error(problem: str, hint: str, *, as_json: bool) -> None:
    """Scripts get an object with the key `error` on standard output; people read the same on standard error."""
    if as_json:
        print_json({"error": {"problem": problem, "hint": hint}})
        return
    _print_aside(f"error: {display_text(problem)}")
    if hint:
        _print_aside(f"hint: {display_text(hint)}")


def print_note(text: str) -> None:
    _print_aside(f"note: {display_text(text)}")


class ProgressLine:
    """One line on standard error that is overwritten; silent when that is no terminal."""

    def __init__(self) -> None:
        self._visible = is_terminal(sys.stderr)
        self._width = 0

    def show(self, text: str) -> None:
        if self._visible:
            print(f"\r{text.ljust(self._width)}", end="", file=sys.stderr, flush=True)
            self._width = len(text)

    def clear(self) -> None:
        if self._visible and self._width:
            print(f"\r{' ' * self._width}\r", end="", file=sys.stderr, flush=True)
            self._width = 0


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at the other end. A stream that was closed before the program began is None."""
    return stream is not None and stream.isatty()


def _print_aside(line: str) -> None:
    if sys.stderr is not None:  # `print` would take standard output instead
        print(line, file=sys.stderr)


def _discard(stream: TextIO) -> None:
    """Send what is left to nowhere, or the interpreter complains at exit about what it could not write."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
