"""Whether a place in Markdown quotes what stands there: code fences, code within a line, quoted lines. Pure."""

from typing import Final

_LEAST_RUN: Final = 3
_MOST_INDENT: Final = 3


class Quoting:
    """Follows a text one character after another."""

    def __init__(self) -> None:
        self._fence = ("", 0)
        """Its character and how often that stood there; an empty one outside of fences."""
        self._begin_line()

    def _begin_line(self) -> None:
        self._is_blank = True
        self._indent = 0
        self._run, self._run_length, self._is_in_run = "", 0, False
        self._is_run_alone = True
        self._has_tick_after_run = False
        self._code_ticks = self._ticks = 0
        """Of the code within the line that is open, and of the run of backticks under way."""
        self._is_quote = False

    @property
    def is_line_start(self) -> bool:
        return self._is_blank and self._indent <= _MOST_INDENT

    @property
    def is_fenced(self) -> bool:
        return self._fence[1] > 0

    @property
    def is_quoted(self) -> bool:
        return self.is_fenced or self._is_quote or self._run_length >= _LEAST_RUN or self._open_ticks() > 0

    def take(self, character: str) -> None:
        if character == "\n":
            self._end_line()
            self._begin_line()
            return
        if self._is_blank and character in " \t":
            self._indent += 1
            return
        if self._is_blank and character in "`~":
            self._run, self._is_in_run = character, True
        self._is_quote = self._is_quote or (self._is_blank and character == ">")
        self._is_blank = False
        if self._is_in_run and character == self._run:
            self._run_length += 1
        else:
            self._is_in_run = False
            self._is_run_alone = self._is_run_alone and character in " \t\r"
            self._has_tick_after_run = self._has_tick_after_run or character == "`"
        if character == "`":
            self._ticks += 1
        else:
            self._code_ticks, self._ticks = self._open_ticks(), 0

    def _open_ticks(self) -> int:
        """Backticks that opened code within the line, 0 for none; only as many close it."""
        if not self._ticks or self._code_ticks not in (0, self._ticks):
            return self._code_ticks
        return 0 if self._code_ticks else self._ticks

    def _end_line(self) -> None:
        character, length = self._fence
        if length:
            if self._run == character and self._run_length >= length and self._is_run_alone:
                self._fence = ("", 0)
        elif self._run_length >= _LEAST_RUN and not (self._run == "`" and self._has_tick_after_run):
            self._fence = (self._run, self._run_length)
