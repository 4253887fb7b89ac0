"""Settings, read once from settings.toml in the home. Unknown names are refused; every one has a default."""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Final

from engine.errors import UsageProblem
from engine.memory.weighting import rules_from
from ui.strings import LANGUAGES, detect_language

_MAX_THREADS: Final = 512
"""What ggml is made for; with more than there are cores, threads only wait for each other."""
_IN_WORDS: Final = {str: "a text in quotes", int: "a whole number", dict: "a table"}
_THEMES: Final = ("", "dark", "light")
_MAX_PORT: Final = 65535


@dataclass(frozen=True, slots=True)
class Settings:
    profile: str = "starter"
    """Name or folder of the Mixture-of-LoRA to use."""
    language: str = ""
    """"en" or "zh" for the screens; empty follows the environment."""
    threads: int = 0
    """CPU threads of the model; 0 finds out at start which number is fastest."""
    port: int = 7727
    """Loopback port of the host and its API; where another program has it, the host takes a free one and says so."""
    page_port: int = 7728
    """Loopback port of the page in the browser, likewise."""
    idle_minutes: int = 10
    """How long the host keeps the base in memory, and itself running, when nobody wants anything; 0 is for ever."""
    theme: str = ""
    """"dark" or "light"; empty is dark in the terminal and follows the system in the browser."""
    embedder: str = ""
    """GGUF file of the embedder that finds memories by their meaning, by its path or its name in the models folder of
    the home; empty is the one that comes with the program, which reads English. With another one all memories are
    embedded anew in the background."""
    hub: str = ""
    """Address of the model hub or its mirror; empty is the variable HF_ENDPOINT, or the hub itself."""
    suggestions_a_day: int = 3
    """How many suggestions are made on a day at most; 0 is none. It holds at once."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Keys of the chat by the id of what they do, such as "chat.new" = "ctrl+o"; F1 shows the ids."""
    memory: Mapping[str, float] = field(default_factory=dict)
    """Rules by which memories are ranked, such as plan_days = 30; see `engine.memory.weighting.WeightRules`."""


def parse_settings(text: str, name: str) -> Settings:
    """Raises: UsageProblem naming `name` and the setting."""
    known = {
        setting.name: dict if setting.default is MISSING else type(setting.default) for setting in fields(Settings)
    }
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
    if wrong := [key for key, value in values.get("keys", {}).items() if type(value) is not str]:
        raise UsageProblem(f"{name}: the key of {wrong[0]} must be a text in quotes.", 'Such as "ctrl+o".')
    if wrong := [rule for rule, value in values.get("memory", {}).items() if type(value) not in (int, float)]:
        raise UsageProblem(f"{name}: the rule {wrong[0]} of memory must be a number.", "Such as plan_days = 30.")
    try:
        rules_from(values.get("memory", {}))
    except UsageProblem as problem:
        raise UsageProblem(f"{name}: {problem.problem}", problem.hint) from problem
    settings = Settings(**values)
    if settings.language not in ("", *LANGUAGES):
        raise UsageProblem(f"{name}: language is {settings.language!r}.", 'Use "en" or "zh".')
    if not 0 <= settings.threads <= _MAX_THREADS:
        raise UsageProblem(
            f"{name}: threads is {settings.threads}.", f"Use 0 for automatic, or a number from 1 to {_MAX_THREADS}."
        )
    if settings.theme not in _THEMES:
        raise UsageProblem(f"{name}: theme is {settings.theme!r}.", 'Use "dark" or "light", or leave it out.')
    for port in ("port", "page_port"):
        if not 0 <= getattr(settings, port) <= _MAX_PORT:
            raise UsageProblem(f"{name}: {port} is {getattr(settings, port)}.", f"Use a number from 0 to {_MAX_PORT}.")
    if settings.suggestions_a_day < 0:
        raise UsageProblem(f"{name}: suggestions_a_day is {settings.suggestions_a_day}.", "Use 0 for none, or more.")
    if settings.idle_minutes < 0:
        raise UsageProblem(f"{name}: idle_minutes is {settings.idle_minutes}.", "Use 0 for never, or more.")
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


def language_of(file: Path, environment: Mapping[str, str]) -> str:
    """`screen_language` under the settings in this file. Raises: UsageProblem."""
    return screen_language(load_settings(file), environment)
