"""Settings, read once from settings.toml in the home. Unknown names are refused; every one has a default."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from engine.errors import UsageProblem
from ui.strings import LANGUAGES, detect_language

_MAX_THREADS: Final = 512
"""What ggml is made for; with more than there are cores, threads only wait for each other."""
_IN_WORDS: Final = {str: "a text in quotes", int: "a whole number"}


@dataclass(frozen=True, slots=True)
class Settings:
    profile: str = "starter"
    """Name or folder of the Mixture-of-LoRA to use."""
    language: str = ""
    """"en" or "zh" for the screens; empty follows the environment."""
    threads: int = 0
    """CPU threads of the model; 0 finds out at start which number is fastest."""


def parse_settings(text: str, name: str) -> Settings:
    """Raises: UsageProblem naming `name` and the setting."""
    known = {field.name: type(field.default) for field in fields(Settings)}
    hint = f"Known settings: {', '.join(known)}."
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageProblem(f"{name} is not valid TOML: {error}.", "Correct that line, or remove the file.") from error
    for key, value in values.items():
        if key not in known:
            raise UsageProblem(f"{name} names a setting that does not exist: {key}.", hint)
        if type(value) is not known[key]:
            raise UsageProblem(f"{name}: {key} must be {_IN_WORDS[known[key]]}, not {value!r}.", hint)
    settings = Settings(**values)
    if settings.language not in ("", *LANGUAGES):
        raise UsageProblem(f"{name}: language is {settings.language!r}.", 'Use "en" or "zh".')
    if not 0 <= settings.threads <= _MAX_THREADS:
        raise UsageProblem(
            f"{name}: threads is {settings.threads}.", f"Use 0 for automatic, or a number from 1 to {_MAX_THREADS}."
        )
    return settings


def load_settings(path: Path) -> Settings:
    """Raises: UsageProblem."""
    try:
        return parse_settings(path.read_text(encoding="utf-8-sig"), path.name)
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(f"{path} cannot be read: {error}.", "Correct or remove the file.") from error


def screen_language(settings: Settings, environment: Mapping[str, str]) -> str:
    """The language that is set, or that of the environment: "en" or "zh"."""
    return settings.language or detect_language(environment)
