"""A finished run to report on, with as much in it as a test asks for."""

import json
from collections.abc import Sequence
from pathlib import Path

from local_training.runs.evaluations import EvaluatedItem, evaluation_path, write_items
from local_training.runs.folder import Frozen, RunFolder, RunState
from local_training.runs.metrics import EvaluationMetrics, Metrics, Note, StepMetrics, append_metrics

STEPS = 12
RECIPES = {
    "rl": 'kind = "rl"\ndata = "sums.jsonl"\nsteps = 20\n[stop]\nkl_general_nats = 0.05\n',
    "sft": 'kind = "sft"\ndata = "letters.jsonl"\nsteps = 20\n',
    "dpo": 'kind = "dpo"\ndata = "pairs.jsonl"\nsteps = 20\n',
}


def frozen(kind: str = "rl", title: str = "sums as JSON") -> Frozen:
    return Frozen(
        kind=kind,
        title=title,
        expert="L1",
        profile="starter",
        base="/home/somebody/models/starter-135m.gguf",
        base_hash="a1" * 32,
        expert_adapter="",
        expert_adapter_hash="",
        recipe_hash="c3" * 32,
        data_hash="b2" * 32,
        created_at=1_780_000_000.0,
        versions={"macaron-tall": "0.1.0", "torch": "2.9.0", "peft": ""},
    )


def state(**changed: object) -> RunState:
    values: dict[str, object] = {
        "state": "finished",
        "step": STEPS,
        "reason": "The KL on general texts reached its limit.",
        "worked_seconds": 1234.5,
    }
    return RunState(**{**values, **changed})  # type: ignore[arg-type]


def step_of_rl(step: int) -> StepMetrics:
    return StepMetrics(
        step=step,
        seconds=60.0,
        loss=0.02 - 0.001 * (step % 5),
        grad_norm=0.4 + 0.02 * step,
        rate=1e-4 * min(1.0, step / 2),
        reward=None if step == 5 else 0.2 + 0.05 * step,
        accuracy=0.15 + 0.05 * step,
        length_tokens=120 - 4 * step,
        unfinished_share=0.02,
        groups_kept=5,
        groups_drawn=6 + step % 3,
        kl_target_nats=0.004 * step,
        kl_general_nats=0.002 * step,
        entropy_nats=0.8 - 0.02 * step,
        mismatch_nats=0.004,
        mismatch_kl_nats=0.0002,
        above_cap_share=0.001,
        masked_share=0.0005 * step,
        rollout_seconds=32.0,
        train_seconds=25.0,
        idle_share=0.05,
        rollout_tokens=6000,
        trained_tokens=5200,
        memory_bytes=3 << 30,
    )


def step_of_examples(step: int) -> StepMetrics:
    return StepMetrics(
        step=step, seconds=9.0, loss=2.0 / step, grad_norm=1.5, rate=1e-4, train_seconds=8.0, trained_tokens=900
    )


def evaluation(step: int, items: Sequence[EvaluatedItem]) -> EvaluationMetrics:
    """What a trainer says of these items."""

    def mean(values: list[float]) -> float | None:
        return sum(values) / len(values) if values else None

    return EvaluationMetrics(
        step=step,
        seconds=20.0,
        items=len(items),
        accuracy=mean([float(item.correct) for item in items if item.correct is not None]),
        reward=mean([item.reward for item in items if item.reward is not None]),
        length_tokens=mean([float(item.tokens) for item in items if item.tokens is not None]),
        loss=mean([item.loss for item in items if item.loss is not None]),
    )


def answers(right: str, text: str = '{"sum": 12}') -> list[EvaluatedItem]:
    """An answer for each letter of `right`: "+" is right, "-" wrong."""
    return [
        EvaluatedItem(f"sum-{place}", text, 9 + place % 4, "eos", float(sign == "+"), sign == "+")
        for place, sign in enumerate(right)
    ]


def losses(values: Sequence[float]) -> list[EvaluatedItem]:
    return [EvaluatedItem(f"letter-{place}", loss=value) for place, value in enumerate(values)]


def write_run(
    path: Path,
    before: Sequence[EvaluatedItem],
    after: Sequence[EvaluatedItem],
    kind: str = "rl",
    question: str = "What is 5 + 7? Answer as JSON.",
    note: str = "Memory ran short; the graphs are half as large from here on.",
) -> RunFolder:
    """A run of `STEPS` steps; an evaluation without items is not written."""
    folder = RunFolder(path)
    folder.inputs.mkdir(parents=True)
    folder.write_frozen(frozen(kind))
    folder.write_state(state())
    folder.recipe.write_text(RECIPES[kind], encoding="utf-8")
    lines = [json.dumps({"id": item.item_id, "prompt": question}) for item in before]
    folder.data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    metrics: list[Metrics] = [(step_of_rl if kind == "rl" else step_of_examples)(step + 1) for step in range(STEPS)]
    metrics.append(Note(4, note))
    for step, items in ((0, before), (STEPS, after)):
        if items:
            write_items(evaluation_path(folder.evaluations, step), items)
            metrics.append(evaluation(step, items))
    for one in metrics:
        append_metrics(folder.metrics, one)
    return folder
