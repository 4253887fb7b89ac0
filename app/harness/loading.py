"""The configuration in force now: read from the home and from trusted working folders, and again once a file changed.

Asked before every turn, so it looks at the files' stamps first and reads only what changed. Understands no format and
starts nothing.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from app.harness.copies import FOLDER_NAME, copy_of, remove_others
from app.harness.reading import Stamp, read_source, stamp_of
from app.harness.trusted_folders import FILE_NAME, TrustedFolders
from engine.errors import AgentError
from engine.harness.config.complaints import Complaint, as_error
from engine.harness.config.harnessed import Harnessed, WaitingFolder, put_together
from engine.harness.config.merging import home_complaints
from engine.harness.config.source import Source

_SETTLED_NS: Final = 3_000_000_000
"""Two changes this close together may bear one time: some file systems count in twos of seconds."""
_MOST_KEPT: Final = 32
"""Folders, whose files are held in memory."""

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Known:
    """What a folder held when it was last read."""

    stamp: Stamp
    source: Source
    content_hash: str
    is_settled: bool
    """Every change since would show in the stamp."""


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Everything the result is made from."""

    home: Source
    trusted: tuple[Source, ...]
    waiting: tuple[WaitingFolder, ...]
    complaints: tuple[Complaint, ...]


class HarnessFiles:
    """Thread-safe. Keeps what it read of the folders asked for last."""

    def __init__(self, home: Path, *, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._home = home.resolve()
        self._now_ns = now_ns
        self._trusted = TrustedFolders(self._home / FILE_NAME)
        self._copies = self._home / FOLDER_NAME
        self._lock = threading.Lock()
        self._known: dict[Path, _Known] = {}
        self._copied: dict[Path, tuple[Source, Source]] = {}
        self._good_home: Source | None = None
        self._made: dict[tuple[Path, ...], tuple[_Inputs, Harnessed]] = {}

    def current(self, folders: Sequence[Path] = ()) -> Harnessed:
        """What is in force for a turn that works in `folders`. The same object as before while nothing changed.

        A harness.toml of the home that was broken while this runs is left for the one before, and complained of.

        Raises: UsageProblem when it is broken from the beginning.
        """
        places = tuple(sorted({folder.resolve() for folder in folders} - {self._home}))
        with self._lock:
            inputs = self._inputs(places)
            before = self._made.get(places)
            if before is None or before[0] != inputs:
                before = (inputs, put_together(inputs.home, inputs.trusted, inputs.waiting, inputs.complaints))
            _keep(self._made, places, before)
            return before[1]

    def trust(self, folder: WaitingFolder) -> None:
        """Trust what a person was shown: exactly these bytes. Raises: UsageProblem, DiskFull, AgentError."""
        with self._lock:
            self._trusted.trust(folder.place, folder.source.content_hash)
            self._forget_copies()

    def distrust(self, place: Path) -> bool:
        """Take the trust from a folder; whether it had any. Raises: UsageProblem, DiskFull, AgentError."""
        with self._lock:
            found = self._trusted.distrust(str(place.resolve()))
            self._forget_copies()
            return found

    def trusted_places(self) -> tuple[str, ...]:
        """The folders that are trusted as they once were. Raises: UsageProblem."""
        return tuple(self._trusted.hashes())

    def _forget_copies(self) -> None:
        """A copy is kept as long as some folder is trusted for it."""
        remove_others(self._copies, set(self._trusted.hashes().values()))
        self._copied.clear()

    def _inputs(self, places: Sequence[Path]) -> _Inputs:
        home, complaints = self._usable_home()
        trusted: list[Source] = []
        waiting: list[WaitingFolder] = []
        hashes, damage = self._hashes() if places else ({}, ())
        complaints += damage
        for place in places:
            if not _is_text(str(place)):
                hint = "Rename the folder."
                complaints += (Complaint(ascii(str(place)), "Its path is not UTF-8, so it cannot be trusted.", hint),)
                continue
            known = self._read(place)
            if known.source.complaints:
                # Whoever is shown a part of a folder cannot trust the whole.
                complaints += known.source.complaints
            elif known.source.files and hashes.get(str(place)) == known.content_hash:
                runnable = self._runnable(place, known.source)
                if isinstance(runnable, Complaint):
                    complaints += (runnable,)
                else:
                    trusted.append(runnable)
            elif known.source.files:
                waiting.append(WaitingFolder(known.source, str(place) in hashes))
        return _Inputs(home, tuple(trusted), tuple(waiting), complaints)

    def _usable_home(self) -> tuple[Source, tuple[Complaint, ...]]:
        home = self._read(self._home, is_home=True).source
        if home is self._good_home:
            return home, ()
        wrong = home_complaints(home)
        if not wrong:
            self._good_home = home
            return home, ()
        if self._good_home is None:
            raise as_error(wrong)
        return self._good_home, wrong

    def _hashes(self) -> tuple[dict[str, str], tuple[Complaint, ...]]:
        try:
            return dict(self._trusted.hashes()), ()
        except AgentError as error:
            return {}, (Complaint(FILE_NAME, error.problem, error.hint),)

    def _read(self, place: Path, *, is_home: bool = False) -> _Known:
        """What `place` holds; not read again while its stamp is that of something read long enough after."""
        stamp = stamp_of(place, is_home=is_home)
        known = self._known.get(place)
        if known is not None and known.is_settled and known.stamp == stamp:
            _keep(self._known, place, known)
            return known
        # The stamp is older than the reading, so what changes in between is read again.
        is_settled = stamp.newest_ns < self._now_ns() - _SETTLED_NS
        source = read_source(place, is_home=is_home)
        if known is not None and known.source == source:
            known = _Known(stamp, known.source, known.content_hash, is_settled)
        else:
            known = _Known(stamp, source, source.content_hash, is_settled)
        _keep(self._known, place, known)
        return known

    def _runnable(self, place: Path, source: Source) -> Source | Complaint:
        """`source` with a copy to run its programs from, which is looked at once for every change of the source."""
        copied = self._copied.get(place)
        if copied is not None and copied[0] is source:
            return copied[1]
        try:
            runnable = replace(source, run_from=str(copy_of(source, self._copies)))
        except AgentError as error:
            return Complaint(source.place, error.problem, error.hint)
        _keep(self._copied, place, (source, runnable))
        return runnable


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _keep(kept: dict[Key, Value], key: Key, value: Value) -> None:
    """Keep `value` as the newest, and only so many: the oldest is made again when it is asked for."""
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > _MOST_KEPT:
        del kept[next(iter(kept))]
