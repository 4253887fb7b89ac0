"""The phrases that requests are made of, as they lie in `assets/routing`: read, and filled in by chance.

A phrase is one line; `{name}` stands for a phrase of that slot, which may have slots too. Knows no expert and no label.
"""

import random
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from engine.assets import asset_path

Language = Literal["english", "chinese"]
LANGUAGES: Final[tuple[Language, ...]] = ("english", "chinese")

Phrases = tuple[str, ...]

_SLOT: Final = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Bank:
    """All phrases of one language."""

    slots: Mapping[str, Phrases]
    requests: Mapping[str, Phrases]
    """By what is wanted: chat, agent, coding, surface."""
    frames: Mapping[str, Phrases]
    """What people say around a request: before, after, context, follow_up."""


@dataclass(frozen=True, slots=True)
class Invented:
    """An expert that no profile has."""

    wordings: Phrases
    requests: Mapping[Language, Phrases]
    claims: re.Pattern[str]
    """Requests for chat that it could answer as well."""


@dataclass(frozen=True, slots=True)
class Sections:
    """What the router may be shown besides the starter's own texts."""

    routes: Phrases
    """Other wordings of route.md, with its placeholders."""
    own: Mapping[str, Phrases]
    """Other wordings of the starter's experts."""
    invented: Mapping[str, Invented]


def read_bank(language: Language) -> Bank:
    """Raises: ModelMissing when the installation is incomplete."""
    tables = _read(language)
    return Bank(
        *({name: _lines(text) for name, text in tables[part].items()} for part in ("slots", "requests", "frames"))
    )


def read_sections() -> Sections:
    """Raises: ModelMissing when the installation is incomplete."""
    tables = _read("sections")
    return Sections(
        tuple(tables["routes"]),
        {name: _lines(table["wordings"]) for name, table in tables["own"].items()},
        {name: _invented(table) for name, table in tables["invented"].items()},
    )


def filled(phrase: str, slots: Mapping[str, Phrases], chance: random.Random) -> str:
    """The phrase with every slot filled in. Raises: KeyError when there is no such slot."""
    return _SLOT.sub(lambda match: filled(chance.choice(slots[match[1]]), slots, chance), phrase)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(asset_path("routing", f"{name}.toml").read_text(encoding="utf-8"))


def _invented(table: Mapping[str, str]) -> Invented:
    requests: dict[Language, Phrases] = {language: _lines(table[language]) for language in LANGUAGES}
    return Invented(_lines(table["wordings"]), requests, re.compile(table["words"], re.IGNORECASE))


def _lines(text: str) -> Phrases:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
