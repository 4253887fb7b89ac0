"""The configuration files of one place, as bytes read at one moment, and the hash a person trusts them by. Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.harness.config.complaints import Complaint

TABLE_FILE: Final = "harness.toml"
INSTRUCTIONS_FILE: Final = "AGENTS.md"
SKILL_FILE: Final = "SKILL.md"
SKILLS_FOLDER: Final = "skills"
HOOKS_FOLDER: Final = "hooks"
COVERED: Final = (TABLE_FILE, INSTRUCTIONS_FILE, SKILLS_FOLDER, HOOKS_FOLDER)
"""What of a place is configuration: two files and two folders with all that is in them."""
_MOST_NAME_CHARACTERS: Final = 100


@dataclass(frozen=True, slots=True)
class Source:
    """One place's configuration files. Whether it may be used is decided before it comes here."""

    place: str
    """Absolute path of the folder."""
    files: Mapping[str, bytes]
    """By path from `place`, with slashes. Programs are run from a copy of exactly these."""
    is_home: bool = False
    complaints: tuple[Complaint, ...] = ()
    """Of files that could not be read."""
    run_from: str = ""
    """Where these very files lie for running them: the home itself, or a copy that no one else changes."""

    @property
    def name(self) -> str:
        """What a model is told of where a text comes from, in one line; empty for the home."""
        if self.is_home:
            return ""
        last = self.place.replace("\\", "/").rstrip("/").rpartition("/")[2] or self.place
        shown = "".join(character if character.isprintable() else " " for character in last)
        return " ".join(shown.split())[:_MOST_NAME_CHARACTERS] or "unnamed"

    @property
    def content_hash(self) -> str:
        """SHA-256 over every path and every byte: what a person trusts."""
        digest = hashlib.sha256()
        for path in sorted(self.files):
            name = path.encode("utf-8", "surrogateescape")
            digest.update(len(name).to_bytes(8, "big") + name)
            digest.update(hashlib.sha256(self.files[path]).digest())
        return digest.hexdigest()

    def shown(self, path: str) -> str:
        """`path` as a person would look for it."""
        return path if self.is_home else f"{self.place.rstrip('/')}/{path}"
