"""Pull from the hub of the tests, quickly and without patience."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.models.catalogue import CatalogueBase
from app.models.download import Step
from app.models.fit import Machine
from app.models.hub import Repo, RepoFile
from app.models.pulling import Limits, Pulled
from app.models.pulling import pull as pull_model
from app.models.transfer import Pace
from app.paths import Paths
from app.settings import Settings

REPO = "owner/tiny-GGUF"
FILE = "tiny-f32.gguf"
CHUNK = 128 << 10
HASTY = Pace(connect_s=5, stall_s=0.5, tries=4, first_wait_s=0.01, longest_wait_s=0.05, longest_asked_wait_s=2)
LIMITS = Limits(pace=HASTY, chunk_bytes=CHUNK, margin_bytes=0)


@dataclass
class Listener:
    """Keeps what a pull tells."""

    steps: list[Step] = field(default_factory=list)
    plans: list[tuple[Repo, tuple[RepoFile, ...]]] = field(default_factory=list)

    def plan(self, repo: Repo, files: tuple[RepoFile, ...], known: CatalogueBase | None) -> None:
        self.plans.append((repo, files))

    def step(self, file: str, step: Step) -> None:
        self.steps.append(step)

    @property
    def stages(self) -> list[str]:
        """In their order, each as often as it began."""
        stages = [step.stage for step in self.steps]
        return [stage for at, stage in enumerate(stages) if at == 0 or stages[at - 1] != stage]


class Puller:
    """Call it to pull; look at `said` and at the home afterwards."""

    def __init__(self, paths: Paths, endpoint: str, machine: Machine) -> None:
        self.paths = paths
        self.endpoint = endpoint
        self.machine = machine
        self.said = Listener()

    def __call__(self, target: str = REPO, *, limits: Limits = LIMITS, **options: Any) -> Pulled:
        environment = options.pop("environment", {})
        settings = Settings(hub=self.endpoint)
        self.said = Listener()
        return pull_model(self.paths, settings, environment, self.machine, target, self.said, limits=limits, **options)

    @property
    def final(self) -> Path:
        return self.paths.models / FILE

    @property
    def parts(self) -> list[str]:
        """What lies in the folder of downloads, by the ends of the names, locks left out."""
        return sorted(path.suffix for path in self.paths.downloads.glob("*") if path.suffix != ".lock")

    @property
    def model_files(self) -> list[str]:
        """Every model file that has a name it could be used by."""
        return sorted(path.name for path in self.paths.models.glob("*.gguf"))


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
