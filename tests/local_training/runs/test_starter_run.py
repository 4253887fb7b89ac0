"""The recipe that comes with the program, made short, on the base that comes with it."""

from pathlib import Path

import pytest

from engine.assets import asset_path
from local_training.runs.creating import create_run
from local_training.runs.events import Ended
from local_training.runs.metrics import read_history
from local_training.runs.report import write_report
from tests.support import requirements

requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from tests.local_training.runs.whole import trainer_of  # noqa: E402 - needs what is required above

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(600)]

SHORT = (
    ("\nsteps = 20\n", "\nsteps = 1\n"),
    ("prompts = 6\n", "prompts = 2\n"),
    ("branches = 8\n", "branches = 4\n"),
    ("together = 48\n", "together = 8\n"),
    ("items = 240\nmax_tokens = 256\n", "items = 4\nmax_tokens = 48\n"),
    ("threads = 0\n", "threads = 1\n"),
)


def test_a_step_of_the_shipped_recipe_teaches_the_starter_what_the_engine_serves(tmp_path: Path, starter_base: Path):
    recipe = tmp_path / "recipes" / "short-answers.toml"
    recipe.parent.mkdir()
    text = asset_path("recipes", "short-answers.toml").read_text("utf-8")
    for old, new in SHORT:
        assert old in text, f"{old!r} is not in the recipe"
        text = text.replace(old, new)
    recipe.write_text(text, encoding="utf-8")
    tasks = tmp_path / "tasks" / "short-answers.jsonl"
    tasks.parent.mkdir()
    tasks.write_bytes(asset_path("tasks", "short-answers.jsonl").read_bytes())
    run = create_run(
        tmp_path / "run",
        recipe,
        profile=asset_path("profiles", "starter"),
        base=starter_base,
        expert_adapter=None,
    )
    with trainer_of(run) as trainer:
        trainer.process.wait(500)
        ended = trainer.ended()
    assert isinstance(ended, Ended) and (ended.state, ended.step) == ("finished", 1), ended
    history = read_history(run.metrics)
    (step,) = history.steps
    assert step.groups_kept and step.grad_norm > 0
    assert step.mismatch_nats is not None and step.mismatch_nats < 0.05
    assert step.kl_general_nats is not None and 0 <= step.kl_general_nats < 0.5
    assert [one.step for one in history.evaluations] == [0, 1]
    assert "Engine and trainer differ by 0.0" in history.notes[-1].text
    assert run.adapter_gguf.is_file()
    assert write_report(run, "en").is_file()
