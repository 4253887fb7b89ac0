"""Fetch one file so that only the right bytes ever get its name.

Joins the part on the disk with the source on the net: resumes, tries again, compares, and gives the name last.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from filelock import FileLock, Timeout

from app.models.disk import make_folder
from app.models.parts import CHUNK_BYTES, PartFile, digest_of
from app.models.transfer import PATIENT, Chunk, DownloadFailed, Fault, Pace, Source
from engine.errors import BadModelFile, DiskFull

Stage = Literal["waiting", "checking", "fetching", "retrying", "verifying", "repairing"]

MARGIN_BYTES: Final = 512 << 20
"""Free space that a download leaves to others."""
_CHUNKS_PER_REQUEST: Final = 64
_PASSES: Final = 2
"""How often a file with a wrong hash is fetched and compared once more."""
_LOCK_POLL_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Step:
    """Where a download is: `done` of `total` bytes; `note` says why it is not simply going on."""

    stage: Stage
    done: int
    total: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One file of a hub. `sha256` is what its bytes must have."""

    url: str
    endpoint: str
    sha256: str
    size_bytes: int
    name: str


Report = Callable[[Step], None]


def download(
    wanted: Wanted,
    final: Path,
    folder: Path,
    *,
    token: str | None,
    report: Report,
    pace: Pace = PATIENT,
    chunk_bytes: int = CHUNK_BYTES,
    margin_bytes: int = MARGIN_BYTES,
    check: Callable[[Path], None] = lambda path: None,
) -> None:
    """Fetch `wanted` into `final` by way of `folder`. `check` sees the complete file before it gets its name.

    Raises: DownloadFailed, RedirectRefused, BadModelFile, DiskFull, AgentError; what `check` raises.
    """
    make_folder(folder)
    part = PartFile(folder, wanted.sha256, wanted.size_bytes, chunk_bytes)
    with _alone(folder / f"{wanted.sha256}.lock", lambda: report(Step("waiting", 0, wanted.size_bytes))):
        if final.exists() and final.stat().st_size == wanted.size_bytes:
            return  # another process fetched it while this one waited
        part.resume(lambda read: report(Step("checking", read, wanted.size_bytes)))
        check_room(folder, part.size_bytes - part.done_bytes, margin_bytes)
        source = Source(
            wanted.url,
            endpoint=wanted.endpoint,
            token=token,
            size_bytes=wanted.size_bytes,
            chunk_bytes=chunk_bytes,
            pace=pace,
        )
        try:
            _fetch(part, source, pace, report)
            _settle(part, source, pace, report, wanted.name)
        finally:
            source.close()
        try:
            check(part.path)
        except BadModelFile as error:
            part.discard()
            raise BadModelFile(error.problem.replace(part.path.name, wanted.name), error.hint) from error
        part.move_to(final)


@contextmanager
def _alone(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of one file; a second download of it waits for the first."""
    lock = FileLock(path, mode=0o600)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        on_wait()
        lock.acquire(poll_interval=_LOCK_POLL_S)
    try:
        yield
    finally:
        lock.release()


def check_room(folder: Path, missing_bytes: int, margin_bytes: int = MARGIN_BYTES) -> None:
    """Raises: DiskFull when `folder` has no room for what is missing and the margin."""
    free = shutil.disk_usage(folder).free
    if free < missing_bytes + margin_bytes:
        raise DiskFull(
            f"There are {free / 1e9:.1f} GB free at {folder}, but {(missing_bytes + margin_bytes) / 1e9:.1f} GB "
            "are needed.",
            "Free some space, choose a smaller base, or move the home with MACARON_HOME. What is here already is kept.",
        )


def _fetch(part: PartFile, source: Source, pace: Pace, report: Report) -> None:
    """Get every chunk that is missing."""

    def attempt() -> Iterator[None]:
        while missing := part.missing():
            first = last = missing[0]
            while last + 1 in missing[: last - first + 2] and last - first + 1 < _CHUNKS_PER_REQUEST:
                last += 1
            for chunk in source.chunks(first, last):
                if chunk.number not in part.entries:
                    part.store(chunk.number, chunk.data, chunk.etag)
                    report(Step("fetching", part.done_bytes, part.size_bytes))
                    yield

    report(Step("fetching", part.done_bytes, part.size_bytes))
    _patiently(attempt, pace, lambda note: report(Step("retrying", part.done_bytes, part.size_bytes, note)))


def _patiently(attempt: Callable[[], Iterator[None]], pace: Pace, on_fault: Callable[[str], None]) -> None:
    """Run `attempt` until it ends; each thing it yields is progress, after which patience begins anew.

    Raises: DownloadFailed when there was no progress for `pace.tries` tries.
    """
    failures = 0
    while True:
        try:
            for _ in attempt():
                failures = 0
            return
        except Fault as fault:
            failures += 1
            wait_s = min(pace.first_wait_s * 2 ** (failures - 1), pace.longest_wait_s)
            wait_s = wait_s if fault.wait_s is None else fault.wait_s
            if failures >= pace.tries or wait_s > pace.longest_asked_wait_s:
                raise DownloadFailed(
                    f"The download does not go on: {fault}.",
                    "Run the same command again later; it goes on where it stopped. "
                    "A mirror can be set with `hub` in settings.toml or HF_ENDPOINT.",
                ) from fault
            on_fault(str(fault))
            time.sleep(wait_s)


def _settle(part: PartFile, source: Source, pace: Pace, report: Report, name: str) -> None:
    """Return once the file has its hash. Where it has not, chunks are fetched again and compared.

    Raises: BadModelFile when the source itself gives other bytes; then nothing is kept.
    """

    def is_right() -> bool:
        return part.whole_sha256(lambda read: report(Step("verifying", read, part.size_bytes))) == part.sha256

    if is_right():
        return
    for _ in range(_PASSES):
        changed = 0
        for number in _suspects(part):
            chunk = _again(part, source, pace, report, number)
            if digest_of(chunk.data) != part.entries[number].digest:
                part.store(number, chunk.data, chunk.etag)
                changed += 1
                # A single flaw is the likely case, so it is looked at once at once, and then only at the end.
                if changed == 1 and is_right():
                    return
        if changed > 1 and is_right():
            return
        if not changed:
            break
    part.discard()
    raise BadModelFile(
        f"{name} is not what it should be: the source gives other bytes than its SHA-256 {part.sha256[:12]}… names.",
        "Nothing was kept. Use another mirror or the hub itself, or choose another file.",
    )


def _suspects(part: PartFile) -> list[int]:
    """All chunks, those first that came when the source called the file something else than most of the time."""
    etags = [entry.etag for entry in part.entries.values()]
    usual = max(etags, key=etags.count, default="")
    return sorted(part.entries, key=lambda number: (part.entries[number].etag == usual, number))


def _again(part: PartFile, source: Source, pace: Pace, report: Report, number: int) -> Chunk:
    """One chunk, fetched once more."""
    found: list[Chunk] = []

    def attempt() -> Iterator[None]:
        for chunk in source.chunks(number, number):
            if chunk.number == number:
                found.append(chunk)
                yield
                return

    report(Step("repairing", number * part.chunk_bytes, part.size_bytes))
    _patiently(attempt, pace, lambda note: report(Step("retrying", part.done_bytes, part.size_bytes, note)))
    return found[-1]
