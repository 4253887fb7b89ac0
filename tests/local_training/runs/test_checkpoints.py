"""Checkpoints: a run that goes on from one is the run that was never interrupted, bit by bit."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import StoreProblem
from local_training.runs.recipe import OptimizerTable
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training.policy import Example  # noqa: E402
from local_training.runs.checkpoints import (  # noqa: E402
    Position,
    checkpoints,
    restore_checkpoint,
    save_checkpoint,
)
from local_training.runs.optimizing import apply_gradients, make_optimizer  # noqa: E402
from tests.support.tiny_policy import tiny_policy  # noqa: E402

torch.set_num_threads(1)

ROOT = Path(__file__).parents[3]
EXAMPLES = [Example((5, 6, 7), (1, 2, 3)), Example((9,), (8, 7))]
NEW = Position()


def started(*, stir: bool = True):
    """A policy and its optimizer; another `stir` gives other weights."""
    policy = tiny_policy(stir=stir)
    return policy, make_optimizer(policy, OptimizerTable(weight_decay=0.01))


def make_step(policy, optimizer) -> None:
    (-torch.cat(policy.logprobs(EXAMPLES)).mean()).backward()
    apply_gradients(policy, optimizer, 0.01, 1.0)


def weights(policy) -> list:
    return [weight.detach().clone() for weight in policy.trainable]


def moments(policy, optimizer) -> list[dict]:
    return [{name: value.clone() for name, value in optimizer.state[weight].items()} for weight in policy.trainable]


def are_same(left: list, right: list) -> bool:
    return len(left) == len(right) and all(torch.equal(one, other) for one, other in zip(left, right, strict=True))


def are_same_moments(left: list[dict], right: list[dict]) -> bool:
    return [one.keys() for one in left] == [one.keys() for one in right] and all(
        torch.equal(one[name], other[name]) for one, other in zip(left, right, strict=True) for name in one
    )


def at(step: int) -> Position:
    return Position(step, drawn=7 * step, barren=1, first_entropy_nats=1.25, worked_seconds=3.5 * step)


def saved(folder: Path, *steps: int):
    """A policy that made a step before each of the checkpoints it left in `folder`."""
    policy, optimizer = started()
    for step in steps:
        make_step(policy, optimizer)
        save_checkpoint(folder, policy, optimizer, at(step))
    return policy, optimizer


def test_adapter_moments_and_position_come_back_bit_by_bit(tmp_path: Path):
    policy, optimizer = saved(tmp_path, 1, 2, 3)
    fresh, its_optimizer = started(stir=False)
    assert restore_checkpoint(tmp_path, fresh, its_optimizer) == at(3)
    assert are_same(weights(fresh), weights(policy))
    kept = moments(policy, optimizer)
    assert {name for one in kept for name in one} == {"step", "exp_avg", "exp_avg_sq"}
    assert are_same_moments(moments(fresh, its_optimizer), kept)


def test_a_step_after_going_on_is_the_step_that_would_have_come(tmp_path: Path):
    policy, optimizer = saved(tmp_path, 1, 2)
    fresh, its_optimizer = started(stir=False)
    restore_checkpoint(tmp_path, fresh, its_optimizer)
    for _ in range(2):
        make_step(policy, optimizer)
        make_step(fresh, its_optimizer)
    assert are_same(weights(fresh), weights(policy))
    assert are_same_moments(moments(fresh, its_optimizer), moments(policy, optimizer))


def test_going_back_forgets_what_was_learned_since(tmp_path: Path):
    policy, optimizer = saved(tmp_path, 1)
    then, its_moments = weights(policy), moments(policy, optimizer)
    make_step(policy, optimizer)
    restore_checkpoint(tmp_path, policy, optimizer)
    assert are_same(weights(policy), then)
    assert are_same_moments(moments(policy, optimizer), its_moments)


def test_a_checkpoint_from_before_the_first_step_has_an_optimizer_that_knows_nothing(tmp_path: Path):
    policy, optimizer = started()
    then = weights(policy)
    save_checkpoint(tmp_path, policy, optimizer, NEW)
    make_step(policy, optimizer)
    assert restore_checkpoint(tmp_path, policy, optimizer) == NEW
    assert are_same(weights(policy), then)
    assert not optimizer.state


def test_where_there_is_none_a_run_begins_at_its_beginning(tmp_path: Path):
    policy, optimizer = started()
    before = weights(policy)
    assert restore_checkpoint(tmp_path / "not there", policy, optimizer) == NEW
    assert are_same(weights(policy), before)


def test_the_last_two_are_kept_and_nothing_else(tmp_path: Path):
    saved(tmp_path, 9, 10, 11, 12)
    assert [path.name for path in checkpoints(tmp_path)] == ["000011", "000012"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000011", "000012"]


def test_steps_are_sorted_as_numbers_beyond_six_digits_of_them(tmp_path: Path):
    saved(tmp_path, 99_999, 100_000)
    assert [int(path.name) for path in checkpoints(tmp_path)] == [99_999, 100_000]


def test_what_a_kill_left_half_written_is_no_checkpoint(tmp_path: Path):
    saved(tmp_path, 1, 2)
    shutil.copytree(tmp_path / "000002", tmp_path / ".part-000003")
    shutil.copytree(tmp_path / "000002", tmp_path / "000003")
    (tmp_path / "000003" / "checkpoint.json").unlink()
    assert [path.name for path in checkpoints(tmp_path)] == ["000001", "000002"]
    policy, optimizer = started(stir=False)
    assert restore_checkpoint(tmp_path, policy, optimizer) == at(2)
    save_checkpoint(tmp_path, policy, optimizer, at(3))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000002", "000003"]


def test_saving_a_step_again_takes_the_place_of_what_was_there(tmp_path: Path):
    policy, optimizer = saved(tmp_path, 1)
    make_step(policy, optimizer)
    save_checkpoint(tmp_path, policy, optimizer, at(1))
    fresh, its_optimizer = started(stir=False)
    restore_checkpoint(tmp_path, fresh, its_optimizer)
    assert are_same(weights(fresh), weights(policy))


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def no_numbers(path: Path) -> None:
    path.write_text('{"step": "two", "drawn": 1}')


def of_another_adapter(path: Path) -> None:
    policy = tiny_policy(rank=2)
    optimizer = make_optimizer(policy, OptimizerTable())
    make_step(policy, optimizer)
    save_checkpoint(path.parents[1] / "other", policy, optimizer, at(1))
    shutil.copy(path.parents[1] / "other" / "000001" / path.name, path)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("checkpoint.json", cut_short),
        ("checkpoint.json", no_numbers),
        ("optimizer.safetensors", cut_short),
        ("optimizer.safetensors", Path.unlink),
        ("optimizer.safetensors", of_another_adapter),
        ("adapter_model.safetensors", cut_short),
        ("adapter_model.safetensors", of_another_adapter),
        ("adapter_config.json", Path.unlink),
    ],
)
def test_a_damaged_one_is_named_with_what_to_do_and_changes_nothing(tmp_path: Path, name: str, damage):
    saved(tmp_path, 1, 2)
    damage(tmp_path / "000002" / name)
    policy, optimizer = started()
    make_step(policy, optimizer)
    before, its_moments = weights(policy), moments(policy, optimizer)
    with pytest.raises(StoreProblem, match="The checkpoint of step 2 cannot be read: ") as caught:
        restore_checkpoint(tmp_path, policy, optimizer)
    assert not caught.value.problem.endswith("..")
    assert caught.value.hint == f"Delete {tmp_path / '000002'} to go on from step 1, or begin a new run."
    assert are_same(weights(policy), before)
    assert are_same_moments(moments(policy, optimizer), its_moments)


def test_after_deleting_a_damaged_one_the_run_goes_on_from_the_one_before(tmp_path: Path):
    saved(tmp_path, 1, 2)
    shutil.rmtree(tmp_path / "000002")
    assert restore_checkpoint(tmp_path, *started(stir=False)) == at(1)


def test_of_the_only_one_the_hint_names_the_beginning(tmp_path: Path):
    saved(tmp_path, 4)
    (tmp_path / "000004" / "optimizer.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(StoreProblem) as caught:
        restore_checkpoint(tmp_path, *started())
    assert "to go on from the beginning" in caught.value.hint


FILLS_THE_DISK = """
import shutil
from pathlib import Path

from tests.local_training.runs.test_checkpoints import at, make_step, saved, started
from engine.errors import DiskFull
from local_training.runs.checkpoints import checkpoints, restore_checkpoint, save_checkpoint

folder, filler = Path("/mnt/checkpoints"), Path("/mnt/filler")
policy, optimizer = saved(folder, 1, 2)
room = sum(path.stat().st_size for path in (folder / "000002").iterdir())
for share in (0.1, 0.6, 0.97):
    filler.write_bytes(bytes(shutil.disk_usage(folder).free - int(share * room)))
    make_step(policy, optimizer)
    try:
        save_checkpoint(folder, policy, optimizer, at(3))
        print("there was room")
    except DiskFull as error:
        fresh = started(stir=False)
        print(sorted(path.name for path in folder.iterdir()))
        print(restore_checkpoint(folder, *fresh) == at(2), bool(error.hint))
    filler.unlink()
save_checkpoint(folder, policy, optimizer, at(3))
print([path.name for path in checkpoints(folder)])
"""


def test_a_full_disk_leaves_the_old_ones_and_nothing_half_done():
    sandbox = [requirements.require_program("bwrap"), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    disk = ["--size", "1600000", "--tmpfs", "/mnt"]
    names = ["--setenv", "PYTHONPATH", str(ROOT), "--setenv", "TMPDIR", "/dev/shm"]
    ran = subprocess.run(
        [*sandbox, *disk, *names, sys.executable, "-c", FILLS_THE_DISK], capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    *tries, last = ran.stdout.splitlines()
    assert tries == ["['000001', '000002']", "True True"] * 3
    assert last == "['000002', '000003']"
