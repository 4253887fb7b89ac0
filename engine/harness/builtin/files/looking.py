"""List a folder and search below it, within bounds, without following a link.

Gives text as a model reads it. Keys, passwords and the program's own home are left out and only counted.
"""

import fnmatch
import os
import stat
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from engine.errors import AgentError, ScoringStopped, UsageProblem
from engine.harness.builtin.files.grants import Place
from engine.harness.builtin.files.opening import Guard, attributed, folder_handle, read_in
from engine.harness.builtin.files.secrets import is_secret
from engine.harness.builtin.files.text_content import text_of

MOST_LISTED: Final = 500
MOST_MATCHES: Final = 200
MOST_ENTRIES_SEARCHED: Final = 20_000
MOST_DEPTH: Final = 20
SEARCHED_FILE_BYTES: Final = 2 << 20
LINE_CHARACTERS: Final = 240
_PASSED_OVER: Final = frozenset(("node_modules", "__pycache__", "venv"))
"""Folders of other people's files, beside those whose names begin with a dot."""


@dataclass(frozen=True, slots=True)
class _Seen:
    name: str
    info: os.stat_result

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.info.st_mode)


@dataclass(slots=True)
class _Skipped:
    """What was left out, by reason."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str) -> None:
        self.counts[reason] = self.counts.get(reason, 0) + 1

    def text(self) -> str:
        return "".join(f"\n({count} left out: {reason}.)" for reason, count in self.counts.items())


def listing(place: Place, guard: Guard) -> str:
    """One line for each entry: folders first, then files with size and date. Raises: UnknownName, UsageProblem."""
    skipped = _Skipped()
    with folder_handle(place, guard) as folder:
        seen = list(_entries(folder, place, guard, skipped))
    seen.sort(key=lambda each: (not each.is_folder, each.name.casefold()))
    lines = [_line(each) for each in seen[:MOST_LISTED]]
    more = f"\n({len(seen) - MOST_LISTED} more.)" if len(seen) > MOST_LISTED else ""
    return f"{place.shown}/\n" + ("\n".join(lines) or "(empty)") + more + skipped.text()


def search(place: Place, guard: Guard, wanted: str, names: str, is_stopped: Callable[[], bool]) -> str:
    """Lines that hold `wanted`, whatever their case, in files whose name fits the pattern `names`.

    Raises: UnknownName, UsageProblem, ScoringStopped.
    """
    needle = _folded(wanted)
    if not needle.strip():
        raise UsageProblem("There is nothing to search for.", "Give some words of the text.")
    skipped, matches, files = _Skipped(), list[str](), 0
    for within, name, data in _files_below(place, guard, names, skipped, is_stopped):
        shown = within.beside(name).shown
        found = list(_matching_lines(data, shown, needle, skipped))
        files += bool(found)
        matches.extend(found)
        if len(matches) >= MOST_MATCHES:
            skipped.add(f"more than {MOST_MATCHES} lines match, search for something rarer or in one folder")
            break
    head = f"{min(len(matches), MOST_MATCHES)} lines in {files} files below {place.shown}/ hold it."
    return "\n".join([head, *matches[:MOST_MATCHES]]) + skipped.text()


def _files_below(
    place: Place, guard: Guard, names: str, skipped: _Skipped, is_stopped: Callable[[], bool]
) -> Iterator[tuple[Place, str, bytes]]:
    """Breadth first: what lies near the top is what people mean."""
    waiting, looked_at = deque([(place, 0)]), 0
    while waiting:
        here, depth = waiting.popleft()
        try:
            with folder_handle(here, guard) as folder:
                for seen in sorted(_entries(folder, here, guard, skipped), key=lambda each: each.name):
                    if is_stopped():
                        raise ScoringStopped("The search was stopped before it was done.")
                    looked_at += 1
                    if looked_at > MOST_ENTRIES_SEARCHED:
                        skipped.add(f"there are more than {MOST_ENTRIES_SEARCHED:,} files, search in one folder")
                        return
                    if seen.is_folder:
                        if depth < MOST_DEPTH and not seen.name.startswith(".") and seen.name not in _PASSED_OVER:
                            waiting.append((here.beside(seen.name), depth + 1))
                    elif fnmatch.fnmatchcase(seen.name.casefold(), names.casefold()):
                        data = _data(folder, seen, here, skipped)
                        if data is not None:
                            yield here, seen.name, data
        except ScoringStopped:
            raise
        except AgentError:
            if here is place:
                raise
            skipped.add("folders that could not be opened")


def _data(folder: int, seen: _Seen, here: Place, skipped: _Skipped) -> bytes | None:
    try:
        return read_in(folder, seen.name, here.beside(seen.name).shown, SEARCHED_FILE_BYTES)
    except AgentError:
        skipped.add("files that are large, linked or not to be read")
        return None


def _matching_lines(data: bytes, shown: str, needle: str, skipped: _Skipped) -> Iterator[str]:
    try:
        text = text_of(data, shown).text
    except UsageProblem:
        skipped.add("files that are not text")
        return
    if needle not in _folded(text):
        return
    for number, line in enumerate(text.split("\n"), start=1):
        folded = _folded(line)
        if needle in folded:
            start = max(0, folded.find(needle) - LINE_CHARACTERS // 3)
            yield f"{shown}:{number}: {line[start : start + LINE_CHARACTERS].strip()}"


def _entries(folder: int, place: Place, guard: Guard, skipped: _Skipped) -> Iterator[_Seen]:
    forbidden = guard.identities()
    with attributed(place.shown):
        names = os.listdir(folder)
    for name in names:
        if is_secret([name]):
            skipped.add("names of keys, passwords or histories")
            continue
        if not _is_unicode(name):
            skipped.add("names that are not Unicode")
            continue
        try:
            info = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            continue  # it went away in between
        if stat.S_ISLNK(info.st_mode):
            skipped.add("links")
        elif (info.st_dev, info.st_ino) in forbidden:
            skipped.add("data of this program")
        else:
            yield _Seen(name, info)


def _line(seen: _Seen) -> str:
    if seen.is_folder:
        return f"{seen.name}/"
    changed = datetime.fromtimestamp(seen.info.st_mtime).strftime("%Y-%m-%d %H:%M")
    return f"{seen.name}  {seen.info.st_size:,} bytes, {changed}"


def folders_text(places: Sequence[Place]) -> str:
    """The granted folders, as a listing of their own."""
    lines = [f"{place.shown}/  {'read and write' if place.access == 'write' else 'read'}" for place in places]
    return "Granted folders:\n" + ("\n".join(lines) or "(none; ask the user to grant one)")


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return name.isprintable()


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
