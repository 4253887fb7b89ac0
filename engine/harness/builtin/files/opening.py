"""Open, replace and remove files by the handles of their folders, so that no link or swap leads out of a grant.

Every step from the top of the disk refuses links and is taken relative to the handle of the step before. What was
checked is what is used: a folder that is exchanged in between is another folder, and the handle still names the old
one. Needs handles of folders, which Linux and macOS have and Windows has not.
"""

import errno
import os
import secrets as random_bytes
import stat
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import DiskFull, UnknownName, UsageProblem
from engine.harness.builtin.files.grants import Place
from engine.harness.builtin.files.secrets import holds_private_key

IS_SUPPORTED: Final = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
MOST_BYTES: Final = 10 << 20
"""Of a file that is read or written."""
_STEP: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_LIST: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# Opening a pipe without O_NONBLOCK would wait for its writer.
_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)

Identity = tuple[int, int]
"""Device and number: what a folder is, whatever it is called."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What must not be reached, even within a grant."""

    protected: tuple[Path, ...] = ()

    def identities(self) -> frozenset[Identity]:
        found = set()
        for folder in self.protected:
            with suppress(OSError):
                info = os.stat(folder)
                found.add((info.st_dev, info.st_ino))
        return frozenset(found)


@contextmanager
def folder_handle(place: Place, guard: Guard, parts: Sequence[str] | None = None) -> Iterator[int]:
    """A handle that can be listed, of the folder that `parts` of the place lead to: all of them unless given.

    Raises: UnknownName, UsageProblem.
    """
    forbidden = guard.identities()
    handle = os.open(place.root.anchor, _STEP)
    try:
        for name in place.root.parts[1:]:
            handle = _step(handle, name, place, ())
        _refuse_protected(handle, place, forbidden)
        for name in place.parts if parts is None else parts:
            handle = _step(handle, name, place, forbidden)
        with attributed(place.shown):
            listed = os.open(".", _LIST, dir_fd=handle)
    finally:
        os.close(handle)
    try:
        yield listed
    finally:
        os.close(listed)


def read(place: Place, guard: Guard) -> bytes:
    """Raises: UnknownName when there is no such file; UsageProblem for one that is not to be read."""
    with _beside(place, guard) as (folder, name):
        return read_in(folder, _on_disk(folder, name), place.shown)


def read_if_there(place: Place, guard: Guard) -> bytes | None:
    """None where a new file could be made; the folders above it may be missing too. Raises: UsageProblem."""
    try:
        return read(place, guard)
    except UnknownName:
        return None


def read_in(folder: int, name: str, shown: str, most_bytes: int = MOST_BYTES) -> bytes:
    """The content of a regular file with one name. Raises: UnknownName, UsageProblem."""
    with attributed(shown):
        _check_kind(os.stat(name, dir_fd=folder, follow_symlinks=False), shown, most_bytes)
        handle = os.open(name, _READ, dir_fd=folder)
        with open(handle, "rb") as file:
            _check_kind(os.fstat(handle), shown, most_bytes)
            data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise UsageProblem(f"{shown} is larger than {most_bytes >> 20} MiB.", "Use a smaller file.")
    if holds_private_key(data):
        raise UsageProblem(f"{shown} is a private key, which is kept from tools.", "Leave it to the user.")
    return data


def replace(place: Place, guard: Guard, before: bytes | None, data: bytes) -> None:
    """Put `data` in place of what is there, which must still be `before`; missing folders are made.

    The file is whole at every moment, and keeps its mode. Raises: UsageProblem, DiskFull.
    """
    _make_folders(place, guard)
    with _beside(place, guard) as (folder, wanted), attributed(place.shown):
        name = _on_disk(folder, wanted)
        mode = _mode_of(folder, name)
        partial = f".{random_bytes.token_hex(8)}.part"
        handle = os.open(partial, _CREATE, 0o666 if mode is None else mode, dir_fd=folder)
        try:
            with open(handle, "wb") as file:
                if mode is not None:
                    os.fchmod(handle, mode)
                file.write(data)
                file.flush()
                os.fsync(handle)
            _refuse_changed(folder, name, place.shown, before)
            # Renaming replaces a link, should one have been put there, and never follows it.
            os.rename(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial, dir_fd=folder)
            raise


def remove(place: Place, guard: Guard, before: bytes) -> None:
    """Raises: UsageProblem when the content is no longer `before`."""
    with _beside(place, guard) as (folder, wanted), attributed(place.shown):
        name = _on_disk(folder, wanted)
        _refuse_changed(folder, name, place.shown, before)
        os.unlink(name, dir_fd=folder)


@contextmanager
def attributed(shown: str) -> Iterator[None]:
    """What the file system says, as our errors."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise UnknownName(f"There is no {shown:.300}.", "List the folder to see what is there.") from error
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"The disk that holds {shown:.300} is full.", "Free some space and try again.") from error
        if error.errno == errno.ELOOP:
            raise _is_link(shown) from error
        raise UsageProblem(
            f"{shown:.300} cannot be used: {error.strerror}.", "Check the name and who may use the file."
        ) from error


def _step(handle: int, name: str, place: Place, forbidden: Collection[Identity]) -> int:
    """The handle of the folder `name`; that of the folder it is in is closed. On an error that one stays open."""
    with attributed(place.shown):
        actual = _on_disk(handle, name) if forbidden != () else name
        if stat.S_ISLNK(os.stat(actual, dir_fd=handle, follow_symlinks=False).st_mode):
            raise _is_link(place.shown)
        following = os.open(actual, _STEP, dir_fd=handle)
    try:
        _refuse_protected(following, place, forbidden)
    except BaseException:
        os.close(following)
        raise
    os.close(handle)
    return following


def _refuse_protected(handle: int, place: Place, forbidden: Collection[Identity]) -> None:
    info = os.fstat(handle)
    if (info.st_dev, info.st_ino) in forbidden:
        raise UsageProblem(f"{place.shown} is where this program keeps its own data.", "Leave it alone.")


@contextmanager
def _beside(place: Place, guard: Guard) -> Iterator[tuple[int, str]]:
    """The handle of the folder a file is in, and its name there."""
    if not place.parts:
        raise UsageProblem(f"{place.shown} is a folder.", "Name a file in it, or list the folder.")
    with folder_handle(place, guard, place.parts[:-1]) as folder:
        yield folder, place.parts[-1]


def _make_folders(place: Place, guard: Guard) -> None:
    for depth in range(1, len(place.parts)):
        with folder_handle(place, guard, place.parts[: depth - 1]) as folder, attributed(place.shown):
            name = place.parts[depth - 1]
            with suppress(FileExistsError):
                if _on_disk(folder, name) == name:
                    os.mkdir(name, dir_fd=folder)


def _on_disk(folder: int, name: str) -> str:
    """The name as the disk spells it: é and e with an accent are one letter to people and two to file systems."""
    if name.isascii():
        return name
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        return name
    except FileNotFoundError:
        for form in ("NFC", "NFD"):
            other = unicodedata.normalize(form, name)
            with suppress(FileNotFoundError):
                os.stat(other, dir_fd=folder, follow_symlinks=False)
                return other
    return name


def _check_kind(info: os.stat_result, shown: str, most_bytes: int) -> None:
    if stat.S_ISLNK(info.st_mode):
        raise _is_link(shown)
    if stat.S_ISDIR(info.st_mode):
        raise UsageProblem(f"{shown} is a folder.", "Name a file in it, or list the folder.")
    if not stat.S_ISREG(info.st_mode):
        raise UsageProblem(f"{shown} is a device, a pipe or a socket.", "Only files can be used.")
    if info.st_nlink > 1:
        # The other name may be anywhere, also where nothing is granted.
        raise UsageProblem(
            f"{shown} is known by several names (hard links), so it may be a file outside.", "Copy it to a new file."
        )
    if info.st_size > most_bytes:
        raise UsageProblem(f"{shown} is larger than {most_bytes >> 20} MiB.", "Use a smaller file.")


def _mode_of(folder: int, name: str) -> int | None:
    """Who may use the file that is there; None when there is none."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode) & 0o777
    return None


def _refuse_changed(folder: int, name: str, shown: str, before: bytes | None) -> None:
    try:
        now = read_in(folder, name, shown)
    except UnknownName:
        now = None
    if now != before:
        raise UsageProblem(f"{shown} has changed since it was looked at.", "Read it again and try once more.")


def _is_link(shown: str) -> UsageProblem:
    return UsageProblem(f"{shown:.300} is a link or leads through one.", "Name the file or folder that it points to.")
