"""Which profile is in use: the line `profile` of settings.toml, changed without touching any other."""

import re
from dataclasses import dataclass, replace
from typing import Final

from app.bases import find_base
from app.files import write_private
from app.paths import Paths, make_home
from app.profiles import load_chosen_profile
from app.settings import Settings, load_settings, parse_settings
from engine.errors import AgentError, UsageProblem

_LINE: Final = re.compile(r"""^(\s*profile\s*=\s*)("(?:[^"\\]|\\.)*"|'[^']*')""")
_TABLE: Final = re.compile(r"^\s*\[")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The profile in use from now on. A host that runs is told by `Client.use_profile(name)`."""

    name: str
    title: str


def use_profile(paths: Paths, name: str) -> Chosen:
    """Make `name` the profile that is used when none is asked for; it and its base must be there.

    Raises: UnknownName, ModelProblem, UsageProblem, DiskFull, AgentError.
    """
    profile = load_chosen_profile(paths, name)
    find_base(profile, paths)
    make_home(paths)
    settings = load_settings(paths.settings)
    text = paths.settings.read_text(encoding="utf-8-sig") if paths.settings.exists() else ""
    write_private(paths.settings, [with_profile(text, name, settings).encode()], overwrite=True)
    return Chosen(name, profile.title)


def with_profile(text: str, name: str, settings: Settings) -> str:
    """The text of settings.toml with another profile, every other line as it was.

    `settings` are those `text` gives. Raises: UsageProblem when the line cannot be found for certain.
    """
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines()
    quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    first_table = next((at for at, line in enumerate(lines) if _TABLE.match(line)), len(lines))
    at = next((at for at, line in enumerate(lines[:first_table]) if _LINE.match(line)), None)
    if at is None:
        lines.insert(0, f"profile = {quoted}")
    else:
        lines[at] = _LINE.sub(lambda found: found[1] + quoted, lines[at])
    changed = line_end.join(lines) + line_end
    try:
        is_right = parse_settings(changed, "settings.toml") == replace(settings, profile=name)
    except AgentError:
        is_right = False
    if not is_right:
        raise UsageProblem(
            "settings.toml cannot be changed without risk to what else it says.",
            f"Write this line yourself: profile = {quoted}",
        )
    return changed
