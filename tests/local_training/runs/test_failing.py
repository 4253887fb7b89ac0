"""What a run says and keeps when something is wrong with the machine, its files, or the numbers."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import HomeBusy, ModelProblem, OutOfMemory, RuntimeFailed, StoreProblem
from local_training.runs.checkpoints import checkpoints
from local_training.runs.events import Event, Progress
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import read_history
from local_training.runs.report import write_report
from tests.app.running import ROOT
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training import replay  # noqa: E402 - needs what is required above
from local_training.runs import policy_learner  # noqa: E402
from tests.local_training.runs.whole import (  # noqa: E402
    Workshop,
    assert_same_result,
    steps_of,
    train_here,
)

pytestmark = pytest.mark.model


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop.open(tmp_path)


FILLS_THE_DISK = """
import sys
from pathlib import Path
from local_training.runs.folder import RunFolder
from tests.app.running import wait_until
from tests.local_training.runs.whole import trainer_of

run = RunFolder(Path(sys.argv[1]))
filler = Path("/mnt/filler")
with trainer_of(run) as trainer:
    trainer.wait_for_activity("training", 3)
    run.pause.touch()
    wait_until(lambda: run.read_state().state == "paused", "the run waits", timeout_s=60)
    room = Path("/mnt/room")
    room.write_bytes(bytes(int(sys.argv[2])))
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    room.unlink()
    run.pause.unlink()
    ended = trainer.ended()
print(ended.state, ended.problem, ended.hint, ended.exit_code, sep="|")
state = run.read_state()
print(state.state, state.problem, state.hint, state.pid, state.step == ended.step >= 2, sep="|")
filler.unlink()
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("room", "refused"),
    [(32768, "checkpoints/"), pytest.param(0, "state.json", marks=pytest.mark.slow)],
    ids=["too little for a checkpoint", "none at all"],
)
def test_a_full_disk_is_said_and_costs_a_step_at_most(workshop: Workshop, room: int, refused: str):
    undisturbed = workshop.undisturbed("sft", steps=40, every=0)
    run = workshop.run("sft", steps=40, every=0)
    disk = workshop.folder / "disk"
    disk.mkdir()
    sandbox = [requirements.require_program("bwrap"), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    # The disk's content is copied out at the end: it goes with the sandbox.
    mount = ["--bind", str(workshop.folder), str(workshop.folder), "--size", str(6 << 20), "--tmpfs", "/mnt"]
    changes = ["--setenv", "TMPDIR", str(workshop.folder), "--setenv", "PYTHONPATH", str(ROOT)]
    inside = (
        f"cp -r {run.path} /mnt/full && {sys.executable} -c '{FILLS_THE_DISK}' /mnt/full {room}"
        f" && cp -r /mnt/full {disk}/full"
    )
    done = subprocess.run(
        [*sandbox, *mount, *changes, "--die-with-parent", "sh", "-c", inside],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ended, state = done.stdout.splitlines()
    assert ended.startswith(f"failed|The disk that holds /mnt/full/{refused}"), ended
    assert ended.endswith(" is full.|Free some space and try again.|1"), ended
    assert state == ended.rpartition("|")[0] + "|0|True"
    saved = RunFolder(disk / "full")
    saved.pause.unlink(missing_ok=True)
    assert train_here(saved).state == "finished"
    assert_same_result(workshop, saved, undisturbed)


@pytest.mark.parametrize("kind", ["sft", "rl"])
def test_a_run_that_diverges_says_so_and_leaves_whole_checkpoints(workshop: Workshop, kind: str):
    no_rules = "[stop]\nmismatch_nats = 1000.0\nmasked_share = 1.0\n"
    wild = [("rate = 1e-2", "rate = 1.0\nclip_norm = 1e9\nwarmup_steps = 0")]
    run = workshop.run(kind, steps=40, every=0, changes=wild, extra=no_rules)
    with pytest.raises(RuntimeFailed) as caught:
        train_here(run)
    assert "diverged" in f"{caught.value.problem} {caught.value.hint}"
    assert "optimizer.rate" in caught.value.hint
    found = checkpoints(run.checkpoints)
    assert found
    finite = read_history(run.metrics).steps
    assert len(finite) == int(found[-1].name)
    write_report(run, "en")


def test_memory_that_runs_short_makes_graphs_smaller_and_is_noted(workshop: Workshop, monkeypatch: pytest.MonkeyPatch):
    run = workshop.run("rl", steps=2)
    accumulate = replay.accumulate

    def large_graphs_fail(*args: object, **options: object) -> object:
        if options["plan"].at_once > 1:  # type: ignore[attr-defined]
            raise OutOfMemory("4 branches after 99 tokens do not fit into memory.")
        return accumulate(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(policy_learner, "accumulate", large_graphs_fail)
    assert train_here(run).state == "finished"
    notes = [one.text for one in read_history(run.metrics).notes]
    assert notes[0].startswith("4 branches after 99 tokens do not fit into memory. From now on a graph holds at most ")
    assert steps_of(run) == [1, 2]


def test_too_little_memory_for_the_smallest_graph_is_a_failure_with_its_reason(workshop: Workshop):
    run = workshop.run("sft", changes=[("nice = 0", "nice = 0\nmemory_gib = 0.01")])
    with pytest.raises(OutOfMemory) as caught:
        train_here(run)
    assert caught.value.problem == "Training takes more than limits.memory_gib (0.01 GiB)."
    assert "Raise that limit" in caught.value.hint
    notes = [one.text for one in read_history(run.metrics).notes]
    assert notes and all(note.startswith(caught.value.problem) for note in notes)
    assert steps_of(run) == []
    write_report(run, "zh")


def test_a_base_that_changed_is_refused_before_anything_is_done(workshop: Workshop):
    run = workshop.run("sft", steps=2)
    with workshop.base.open("ab") as file:
        file.write(b"more")
    before = {path: path.stat().st_mtime_ns for path in run.inputs.rglob("*")}
    with pytest.raises(ModelProblem, match=r"The base .* changed since the run run-1 began"):
        train_here(run)
    assert {path: path.stat().st_mtime_ns for path in run.inputs.rglob("*")} == before
    assert not run.metrics.exists() and not run.checkpoints.exists()


@pytest.mark.parametrize(
    "which",
    [
        "adapter_model.safetensors",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("optimizer.safetensors", "checkpoint.json")),
    ],
)
def test_a_damaged_checkpoint_is_named_and_the_one_before_is_good(workshop: Workshop, which: str):
    undisturbed = workshop.undisturbed("sft", steps=4)
    run = workshop.run("sft", steps=4)
    cut_off_after(run, 3)
    last = checkpoints(run.checkpoints)[-1]
    file = last / which
    file.write_bytes(file.read_bytes()[:10])
    with pytest.raises(StoreProblem) as caught:
        train_here(run)
    assert caught.value.problem.startswith(f"The checkpoint of step {int(last.name)} cannot be read")
    assert f"Delete {last}" in caught.value.hint
    shutil.rmtree(last)
    assert train_here(run).state == "finished"
    assert_same_result(workshop, run, undisturbed)


class Cut(BaseException):
    """The power was cut."""


def cut_off_after(run: RunFolder, steps: int) -> None:
    def cut(event: Event) -> None:
        if isinstance(event, Progress) and event.activity == "training" and event.step == steps + 1:
            raise Cut

    with pytest.raises(Cut):
        train_here(run, cut)


def test_a_reward_that_cannot_be_judged_here_is_said_before_anything_is_learned(
    workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    reward = [{"name": "program", "function": "add", "cases": [{"arguments": [1, 2], "result": 3}]}]
    run = workshop.run("rl", reward=reward)
    monkeypatch.setenv("PATH", str(tmp_path))  # where there is no sandbox
    with pytest.raises(RuntimeFailed) as caught:
        train_here(run)
    assert "there is no sandbox" in caught.value.problem and "bubblewrap" in caught.value.hint
    assert steps_of(run) == []


def test_a_run_that_another_process_trains_is_left_alone(workshop: Workshop):
    run = workshop.run("sft", steps=2)
    before = {path: path.stat().st_mtime_ns for path in run.path.rglob("*")}
    with run.held(), pytest.raises(HomeBusy, match="already being trained by another process"):
        train_here(run)
    assert run.read_state().state == "new"
    after = {path: path.stat().st_mtime_ns for path in run.path.rglob("*") if path.name != "lock"}
    assert after.items() <= before.items() and run.read_state().pid == 0
