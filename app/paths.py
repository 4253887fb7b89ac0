"""Every folder and file of one home. Names them and makes the home private; opens nothing."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import AgentError, UsageProblem

HOME_VARIABLE: Final = "MACARON_HOME"


@dataclass(frozen=True, slots=True)
class Paths:
    home: Path

    @property
    def database(self) -> Path:
        return self.home / "macaron.db"

    @property
    def settings(self) -> Path:
        return self.home / "settings.toml"

    @property
    def profiles(self) -> Path:
        """Profiles the user added; they come before the shipped ones of the same name."""
        return self.home / "profiles"

    @property
    def models(self) -> Path:
        return self.home / "models"

    @property
    def quarantine(self) -> Path:
        """Model files that crashed the engine."""
        return self.home / "quarantine.json"

    @property
    def host(self) -> Path:
        """Where the host listens and which process it is; it is there while the host runs."""
        return self.home / "host.json"

    @property
    def host_log(self) -> Path:
        return self.home / "host.log"

    @property
    def face_token(self) -> Path:
        """The secret of our own faces; they may do everything."""
        return self.home / "face.token"

    @property
    def api_key(self) -> Path:
        """The secret for other programs; they may ask the model and nothing else."""
        return self.home / "api.key"

    @property
    def page(self) -> Path:
        """The working folder of the page's process, and what Gradio may write."""
        return self.home / "page"

    @property
    def downloads(self) -> Path:
        """Parts of models that are still being fetched."""
        return self.home / "downloads"

    @property
    def backups(self) -> Path:
        """Backups that were given no other place, and what was put aside by a restore."""
        return self.home / "backups"

    @property
    def restore(self) -> Path:
        """There only while files are put in the place of others."""
        return self.home / ".restore"

    @property
    def adapters(self) -> Path:
        """Adapters the user has."""
        return self.home / "adapters"

    @property
    def runs(self) -> Path:
        """Training runs, a folder each."""
        return self.home / "runs"

    @property
    def lessons(self) -> Path:
        """What `macaron teach` made of corrections, a folder each."""
        return self.home / "lessons"

    @property
    def evaluations(self) -> Path:
        """Results of measuring that need not be measured again; all of it may be deleted."""
        return self.home / "cache" / "evaluations"

    @property
    def undo(self) -> Path:
        """What files were before tools wrote to them."""
        return self.home / "undo"

    @property
    def copies(self) -> Path:
        """Where backups and exports were written to, a line each."""
        return self.home / "copies.jsonl"

    @property
    def lock(self) -> Path:
        return self.home / "home.lock"


def find_home(option: str | None, environment: Mapping[str, str]) -> Paths:
    """The home: the option, the variable MACARON_HOME, or the platform's folder for application data.

    Raises: UsageProblem for an empty option and for the home folder of a user there is not.
    """
    if option is not None and not option.strip():
        raise UsageProblem("The option --home names no folder.", "Give a folder, or leave the option out.")
    chosen = option or environment.get(HOME_VARIABLE)
    if chosen:
        try:
            return Paths(Path(chosen).expanduser().absolute())
        except RuntimeError as error:  # from expanduser
            raise UsageProblem(f"There is no home folder for {chosen}.", "Write the whole path.") from error
    import platformdirs  # after the cheap answers: most scripts name a home

    return Paths(Path(platformdirs.user_data_dir("macaron-tall", appauthor=False)))


def make_home(paths: Paths) -> None:
    """Create the home, readable by its owner only.

    Raises: AgentError when it cannot be made or written.
    """
    try:
        paths.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise AgentError(
            f"The home {paths.home} cannot be made: {error.strerror}.", "Choose another with --home or MACARON_HOME."
        ) from error
    if not os.access(paths.home, os.W_OK | os.X_OK):
        raise AgentError(
            f"The home {paths.home} cannot be written.", "Change its permissions, or choose another with --home."
        )
