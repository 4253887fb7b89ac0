"""What became of what was imported, one result per conversation; and the eye that a long import keeps on its user.

Knows no format. The words are those that people read; scripts get the results themselves.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

from engine.errors import UsageProblem
from ui.present import display_line
from ui.strings import say, say_count

QUIET_S: Final = 2.0
"""Nothing is shown of what takes no longer."""
_PAUSE_S: Final = 0.1

Outcome = Literal["added", "extended", "known", "empty", "refused"]
"""extended: it was here, and has more turns now. known: all of it was here. empty: nothing was said in it."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one conversation, or of a file that could not be read as any."""

    file: str
    place: str
    """Line of the file, entry of the archive or number in the list; empty where the file is one conversation."""
    outcome: Outcome
    conversation_id: str = ""
    title: str = ""
    problem: str = ""
    hint: str = ""
    turns: int = 0
    """That were added."""
    differing: int = 0
    """Turns that were here with other words, and stayed as they were."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Messages that were not taken, by the reason: hidden, reasoning, tool, unknown."""
    proposed: int = 0
    """Memories that wait for the user's review because of it."""
    remembered: int = 0
    """What was proposed but is remembered already."""


class ImportStopped(Exception):
    """The user wants no more. What was imported so far is whole."""


class Watch:
    """Hears the user's stop, and tells how much was read, in bytes, of how much."""

    def __init__(self, stop: threading.Event | None = None, tell: Callable[[int, int], None] | None = None) -> None:
        self.stop = stop or threading.Event()
        self._tell = tell
        self._read = self._expected = 0
        self._next_s = time.monotonic() + QUIET_S

    def expect(self, size_bytes: int) -> None:
        self._expected += size_bytes

    def through(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The chunks. Raises: ImportStopped."""
        for chunk in chunks:
            if self.stop.is_set():
                raise ImportStopped
            yield chunk
            self._read += len(chunk)
            self.look()

    def look(self) -> None:
        """Tell, where it is time to."""
        if self._tell and time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + _PAUSE_S
            self._tell(self._read, self._expected)


def refused(path: Path, place: str, problem: UsageProblem, title: str = "") -> Imported:
    return Imported(str(path), place, "refused", title=title, problem=problem.problem, hint=problem.hint)


def counted(results: Sequence[Imported]) -> dict[str, int]:
    """How many there are of each outcome, and how many memories wait."""
    found = Counter(result.outcome for result in results)
    proposed = sum(result.proposed for result in results)
    return {**{outcome: found[outcome] for outcome in get_args(Outcome)}, "proposed": proposed}


def lines_of(result: Imported, language: str) -> Iterator[str]:
    where = display_line(f"{result.file}:{result.place}" if result.place else result.file)
    if result.problem:
        what = f"{result.title}: {result.problem}" if result.title else result.problem
    else:
        what = " ".join((result.conversation_id, result.title, _details(result, language)))
    yield f"{say(f'import.{result.outcome}', language)}  {where}  {display_line(what)}"
    if result.hint:
        yield f"    {display_line(result.hint)}"


def _details(result: Imported, language: str) -> str:
    """What was added, left as it was and left out; empty where there is nothing to say."""
    details = []
    if result.turns:
        details.append(say_count("import.turns", language, result.turns))
    if result.differing:
        details.append(say_count("import.differing", language, result.differing))
    if result.left_out and result.outcome in ("added", "extended"):
        kinds = [
            say("import.left_out.kind", language, what=say(f"import.left_out.{kind}", language), count=count)
            for kind, count in sorted(result.left_out.items())
        ]
        details.append(say("import.left_out", language, what=", ".join(kinds)))
    if result.proposed:
        details.append(say_count("import.proposed", language, result.proposed))
    return f"({'; '.join(details)})" if details else ""
