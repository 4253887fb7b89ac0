"""What a turn needs of the configuration, as one value: what is in force, under which version, and what is not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.harness.config.complaints import Complaint
from engine.harness.config.identity import version_of
from engine.harness.config.merging import merge
from engine.harness.config.model import HarnessConfig
from engine.harness.config.parts import hidden_characters
from engine.harness.config.source import Source
from engine.harness.config.texts import decoded


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One file of a folder that waits for trust, for a person to read."""

    path: str
    size_bytes: int
    text: str | None
    """None where it is no text."""
    hidden_characters: int
    """Of the text: those that no screen shows, such as zero-width ones."""


@dataclass(frozen=True, slots=True)
class WaitingFolder:
    """A working folder that brings configuration nobody has trusted as it is now. None of it is in use."""

    source: Source
    """The very bytes to show to a person; trust is given to them."""
    was_trusted: bool
    """It has been changed since a person trusted it."""

    @property
    def place(self) -> str:
        return self.source.place

    def files(self) -> tuple[ListedFile, ...]:
        """All that trust would be given to, by path."""
        return tuple(_listed(path, self.source.files[path]) for path in sorted(self.source.files))


@dataclass(frozen=True, slots=True)
class FolderTrust:
    """A folder and what a person said to what it brings."""

    place: str
    state: Literal["trusted", "waiting", "changed"]
    """Changed since it was trusted, it waits like one that never was."""
    content_hash: str = ""
    """Of what waits, which is what trust is given to."""
    files: tuple[ListedFile, ...] = ()
    """All that waits."""


@dataclass(frozen=True, slots=True)
class Harnessed:
    """The configuration of one turn."""

    config: HarnessConfig
    version: str
    """Changes whenever what a model reads may change; every epoch and trace names it."""
    complaints: tuple[Complaint, ...] = ()
    """Files that are wrong and not in use."""
    waiting: tuple[WaitingFolder, ...] = ()


def put_together(
    home: Source,
    trusted: Sequence[Source] = (),
    waiting: Sequence[WaitingFolder] = (),
    complaints: Sequence[Complaint] = (),
) -> Harnessed:
    """What is in force with these sources. `complaints` are those of sources that are not among them.

    Raises: UsageProblem for a wrong harness.toml in the home.
    """
    merged = merge(home, trusted)
    return Harnessed(merged.config, version_of(merged.config), (*complaints, *merged.complaints), tuple(waiting))


def _listed(path: str, data: bytes) -> ListedFile:
    text = decoded(data, path)
    if isinstance(text, Complaint):
        return ListedFile(path, len(data), None, 0)
    return ListedFile(path, len(data), text, hidden_characters(text))
