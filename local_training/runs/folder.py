"""The folder of one run: what lies where, which state it is in, and who may write to it. Light: no torch.

run.json           what was frozen when it began: recipe, base, expert, data and versions, with their hashes
inputs/            the recipe, the data, the prompts in token ids, the general texts and those of the anchor
metrics.jsonl      one line per step, evaluation and note
checkpoints/       the last two, each whole or not there
evaluations/       every held-out answer and what it got
state.json         what the run is doing, or how it ended and why
pause, stop        files that ask it to wait, or to end with what it has
adapter/           the result, as PEFT has it; adapter.gguf beside it, as the engine has it
report.html, log.txt
work/, lock        nothing to keep
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from filelock import FileLock, Timeout

from engine.adapters.files import put, written
from engine.errors import HomeBusy, UsageProblem
from local_training.runs.stored import from_json, parsed, to_json

State = Literal["new", "running", "paused", "stopped", "finished", "failed"]
"""`stopped` can go on; `finished` is done, by its last step or a rule; `failed` can go on once its reason is gone."""
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Frozen:
    """What a run was made of.

    The hashes of base and adapter are what the engine knows weights by (`engine.runtime.identity.fingerprint`); those
    of recipe and data are 64 hex digits of SHA-256.
    """

    kind: str
    title: str
    """Name of the recipe."""
    expert: str
    profile: str
    """Folder of the profile; only read when the run begins."""
    base: str
    base_hash: str
    expert_adapter: str
    """Path of the expert's frozen GGUF adapter; empty where it has none."""
    expert_adapter_hash: str
    recipe_hash: str
    data_hash: str
    created_at: float
    """Seconds since 1970."""
    versions: dict[str, str]
    version: int = VERSION
    sources: dict[str, str] = field(default_factory=dict)
    """Ids of the turns that it trains on, each with the hash of what was made from it."""


@dataclass(frozen=True, slots=True)
class RunState:
    state: State
    step: int = 0
    """Steps that are done and kept."""
    problem: str = ""
    hint: str = ""
    reason: str = ""
    """Why it ended as it did, in a sentence; also when it finished."""
    pid: int = 0
    worked_seconds: float = 0.0
    """Of wall-clock time over all starts, without pauses."""
    updated_at: float = 0.0


class RunFolder:
    def __init__(self, path: Path) -> None:
        self.path = path = Path(os.path.abspath(path))  # the engine works in a folder of its own
        self.frozen = path / "run.json"
        self.inputs = path / "inputs"
        self.recipe = self.inputs / "recipe.toml"
        self.data = self.inputs / "data.jsonl"
        self.prompts = self.inputs / "prompts.json"
        self.general = self.inputs / "general.json"
        self.anchor = self.inputs / "anchor.json"
        self.metrics = path / "metrics.jsonl"
        self.checkpoints = path / "checkpoints"
        self.evaluations = path / "evaluations"
        self.state = path / "state.json"
        self.pause = path / "pause"
        self.stop = path / "stop"
        self.adapter = path / "adapter"
        self.adapter_gguf = path / "adapter.gguf"
        self.work = path / "work"
        """Adapters on their way to the engine; may be deleted whenever no trainer runs."""
        self.report = path / "report.html"
        self.log = path / "log.txt"

    def exists(self) -> bool:
        return self.frozen.is_file()

    def read_frozen(self) -> Frozen:
        """Raises: UsageProblem when this is no run, or one of a newer version."""
        values = _read_json(self.frozen)
        if isinstance(values, dict) and values.get("version", VERSION) != VERSION:
            raise UsageProblem(
                f"The run {self.path.name} was made by another version of the program.", "Begin a new run."
            )
        frozen = from_json(Frozen, values)
        if frozen is None:
            raise UsageProblem(
                f"{self.path} is no run.", "Name the folder that `macaron train run` made, or begin a new one."
            )
        return frozen

    def read_state(self) -> RunState:
        """`new` where nothing is known yet."""
        return from_json(RunState, _read_json(self.state)) or RunState("new")

    def write_state(self, state: RunState) -> None:
        """Raises: DiskFull, AgentError; the old state stays then."""
        put(self.state, [to_json(state).encode()])

    def write_frozen(self, frozen: Frozen) -> None:
        """Raises: DiskFull, AgentError."""
        put(self.frozen, [to_json(frozen, indent=1).encode()])

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else trains in this folder meanwhile. Raises: HomeBusy, AgentError."""
        lock = FileLock(self.path / "lock")
        with written(self.path):
            try:
                lock.acquire(timeout=0)
            except Timeout as error:
                raise HomeBusy(
                    f"The run {self.path.name} is already being trained by another process.",
                    "Wait for it, or end it with `macaron train stop`.",
                ) from error
        try:
            yield
        finally:
            lock.release()


def now() -> float:
    return time.time()


def _read_json(path: Path) -> Any:
    try:
        return parsed(path.read_bytes())
    except OSError:
        return None
