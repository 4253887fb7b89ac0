"""How far apart two computations of the same answers are: policy and anchor, trainer and engine. Changes nothing."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

import torch

from engine.errors import RuntimeFailed
from local_training.mismatch import Mismatch, measure_mismatch
from local_training.policy import Example, Policy
from local_training.rollouts import RolloutSettings, TaskPrompt
from local_training.runs.metrics import ParityMetrics, StepMetrics
from local_training.runs.sampler import Sampler

_PARITY_SEED: Final = 30_000
_PARITY_TOKENS: Final = 32
_SCORED_TOGETHER: Final = 8


class GeneralTexts:
    """The anchor's answers to general requests, and how likely it finds them itself."""

    def __init__(self, policy: Policy, answers: Sequence[Example]) -> None:
        self._policy, self._answers = policy, answers
        with policy.using("anchor"), torch.no_grad():
            self._anchor = policy.logprobs(answers)

    def kl_nats(self) -> float:
        """KL(anchor || policy) on them, a token: estimate k3 from the anchor's side."""
        with torch.no_grad():
            logprobs = self._policy.logprobs(self._answers)
        gap_N = torch.cat([mine_T - anchor_T for mine_T, anchor_T in zip(logprobs, self._anchor, strict=True)])
        return float((gap_N.expm1() - gap_N).mean())


def measure_parity(
    policy: Policy, sampler: Sampler, asked: Sequence[Example], step: int, *, together: int
) -> ParityMetrics:
    """How far trainer and engine are apart on what the engine answers with the adapter that it was handed last.

    Beside it how far they are apart with the anchor on the very same tokens: a base in four bits differs by itself.

    Raises: Interrupted, and whatever `Sampler.roll_out` and the engine raise.
    """
    prompts = [TaskPrompt(str(number), example.prompt, sampler.adapters) for number, example in enumerate(asked)]
    settings = RolloutSettings(1, _PARITY_TOKENS, together=together)
    groups = list(sampler.roll_out(prompts, settings, seed=_PARITY_SEED, step=0))
    segments = [group.rollouts[0].segment for group in groups]
    answers = [Example(one.prompt, one.completion) for one in segments]
    with_adapter = _gap(policy, answers, [one.logprobs for one in segments])
    with policy.using("anchor"):
        without = _gap(policy, answers, [sampler.anchor_logprobs(one.prompt, one.completion) for one in segments])
    return ParityMetrics(
        step, len(asked), with_adapter.tokens, with_adapter.mean_absolute_gap_nats, without.mean_absolute_gap_nats
    )


def _gap(policy: Policy, answers: Sequence[Example], engine: Sequence[Sequence[float]]) -> Mismatch:
    with torch.no_grad():
        trainer = [
            logprobs_T.tolist()
            for start in range(0, len(answers), _SCORED_TOGETHER)
            for logprobs_T in policy.logprobs(answers[start : start + _SCORED_TOGETHER])
        ]
    return measure_mismatch(trainer, engine)


def require_numbers(metrics: StepMetrics) -> None:
    """Raises: RuntimeFailed when a figure of the step is none."""
    for name, value in asdict(metrics).items():
        if isinstance(value, float) and not math.isfinite(value):
            raise RuntimeFailed(
                f"After step {metrics.step} {name} is no longer a number: the run has diverged.",
                "Lower `optimizer.rate` or `optimizer.clip_norm` and begin a new run; the last checkpoint is whole.",
            )
