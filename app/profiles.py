"""The profiles on this machine: those in the home come before the shipped ones of the same name."""

from pathlib import Path

from app.paths import Paths
from engine.assets import asset_path
from engine.errors import AgentError
from engine.routing.profile import Profile, find_profile, load_profile


def profile_folders(paths: Paths) -> list[Path]:
    return [paths.profiles, asset_path("profiles")]


def load_chosen_profile(paths: Paths, name: str) -> Profile:
    """Raises: UnknownName, ModelProblem."""
    return load_profile(find_profile(name, profile_folders(paths)))


def list_profiles(paths: Paths) -> tuple[tuple[str, str], ...]:
    """(name, title) of every profile that can be read, by name."""
    found: dict[str, str] = {}
    for folder in profile_folders(paths):
        for file in sorted(folder.glob("*/lora.md")):
            name = file.parent.name
            if name not in found:
                try:
                    found[name] = load_profile(file.parent).title
                except AgentError:
                    continue  # one that is broken says so when it is chosen
    return tuple(sorted(found.items()))
