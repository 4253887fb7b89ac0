"""Folders that the user has granted, and what a path from a model means among them.

Takes paths apart by their text alone; that nothing leads out on the way is seen to by `opening`.
"""

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from engine.errors import UnknownName, UsageProblem
from engine.harness.builtin.files.secrets import is_history, is_secret

Access = Literal["read", "write"]
"""`write` includes reading."""

MOST_PATH_CHARACTERS: Final = 4096
MOST_NAME_BYTES: Final = 255
"""What file systems take for one name."""
_NOT_IN_NAMES: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
"""Unicode categories: control and format characters, those that turn text around among them."""
_JOINERS: Final = "\u200c\u200d"
"""Format characters that words of several languages and emoji are spelt with."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One folder with all below it."""

    folder: Path
    access: Access = "read"


@dataclass(frozen=True, slots=True)
class Place:
    """A path within a granted folder; nothing says yet that it exists."""

    root: Path
    """The granted folder, with every link resolved when it was granted."""
    parts: tuple[str, ...]
    """Names from the granted folder down; none for the folder itself."""
    access: Access
    shown: str
    """How it is written to people and models, beginning with the folder's name."""

    @property
    def path(self) -> Path:
        return self.root.joinpath(*self.parts)

    def beside(self, *names: str) -> "Place":
        """What lies below this folder."""
        return Place(self.root, (*self.parts, *names), self.access, "/".join([self.shown, *names]))


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    given: Path
    root: Path
    access: Access


class GrantedFolders:
    """Which folders there are, by name, and the place that a path means."""

    def __init__(self, grants: Sequence[Grant], protected: Sequence[Path] = ()) -> None:
        """`protected` is never reached, even within a granted folder: the home of this program.

        Raises: UsageProblem for a folder that cannot be granted.
        """
        self.protected = tuple(Path(os.path.realpath(folder)) for folder in protected)
        self._named: list[_Named] = []
        for grant in grants:
            root = self._checked(grant.folder)
            given = Path(os.path.abspath(grant.folder))
            self._named.append(_Named(self._free_name(root.name), given, root, grant.access))

    def places(self) -> Sequence[Place]:
        """The granted folders themselves."""
        return [Place(named.root, (), named.access, named.name) for named in self._named]

    def place(self, path: str) -> Place:
        """Raises: UsageProblem for a path that is none or is not to be used; UnknownName outside of all folders."""
        _check_text(path)
        is_absolute = path.startswith("/")
        parts = tuple(part for part in path.split("/") if part not in ("", "."))
        if ".." in parts:
            raise UsageProblem(
                f"{path:.200} goes up with `..`.", "Write the whole path, beginning with a granted folder."
            )
        for part in parts:
            _check_name(part)
        named, rest = self._by_folder(parts) if is_absolute else self._by_name(parts)
        if named is None:
            raise UnknownName(f"{path:.200} is not in a granted folder.", self.hint())
        if is_secret(rest):
            raise UsageProblem(
                f"{path:.200} has the name of a key, a password or a history, which are kept from tools.",
                "Leave it to the user.",
            )
        return Place(named.root, rest, named.access, "/".join([named.name, *rest]))

    def place_to_write(self, path: str) -> Place:
        """Raises: as `place`; UsageProblem also where writing was not granted."""
        place = self.place(path)
        if place.access != "write":
            raise UsageProblem(f"{place.shown} may be read but not written.", "Ask the user to grant writing there.")
        if not place.parts:
            raise UsageProblem(f"{place.shown} is a folder.", "Name a file in it.")
        if is_history(place.parts):
            raise UsageProblem(f"{place.shown} belongs to a version control.", "Leave that to its own program.")
        return place

    def hint(self) -> str:
        """What may be used, as a sentence."""
        if not self._named:
            return "No folder is granted yet; ask the user to grant one."
        listed = [f"{named.name}/ ({'read and write' if named.access == 'write' else 'read'})" for named in self._named]
        return f"Begin the path with one of: {', '.join(listed)}."

    def _by_name(self, parts: tuple[str, ...]) -> tuple[_Named | None, tuple[str, ...]]:
        for named in self._named:
            if parts and unicodedata.normalize("NFC", parts[0]) == unicodedata.normalize("NFC", named.name):
                return named, parts[1:]
        # With one folder there is no doubt, and small models leave its name out.
        return (self._named[0], parts) if len(self._named) == 1 else (None, parts)

    def _by_folder(self, parts: tuple[str, ...]) -> tuple[_Named | None, tuple[str, ...]]:
        found = [
            (named, top)
            for named in self._named
            for top in (named.root.parts[1:], named.given.parts[1:])
            if parts[: len(top)] == top
        ]
        if not found:
            return None, parts
        named, top = max(found, key=lambda each: len(each[1]))
        return named, parts[len(top) :]

    def _checked(self, folder: Path) -> Path:
        root = Path(os.path.realpath(folder))
        if not root.is_dir():
            raise UsageProblem(f"{folder} is not a folder.", "Grant a folder that exists.")
        if len(root.parts) < 2:
            raise UsageProblem("The whole disk cannot be granted.", "Grant the folder that the work is in.")
        if is_secret(root.parts[1:]):
            raise UsageProblem(f"{folder} holds keys or passwords.", "Grant another folder.")
        if any(root.is_relative_to(own) for own in self.protected):
            raise UsageProblem(f"{folder} is where this program keeps its own data.", "Grant another folder.")
        return root

    def _free_name(self, name: str) -> str:
        taken = {named.name for named in self._named}
        candidates = [name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))]
        return next(candidate for candidate in candidates if candidate not in taken)


def _check_text(path: str) -> None:
    if not path.strip():
        raise UsageProblem("The path is empty.", "Write a path that begins with a granted folder.")
    if len(path) > MOST_PATH_CHARACTERS:
        raise UsageProblem(f"The path has more than {MOST_PATH_CHARACTERS} characters.", "Write a shorter one.")
    if "\\" in path:
        raise UsageProblem("The path holds a backslash.", "Separate folders by `/`.")


def _check_name(name: str) -> None:
    if any(unicodedata.category(character) in _NOT_IN_NAMES and character not in _JOINERS for character in name):
        raise UsageProblem("The path holds a control character or half a character.", "Write the name without it.")
    if len(name.encode()) > MOST_NAME_BYTES:
        raise UsageProblem(f"The name {name:.40}… is longer than {MOST_NAME_BYTES} bytes.", "Choose a shorter name.")
