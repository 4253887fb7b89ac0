"""rl and rft: learning from what the policy wrote itself, one optimizer step per batch of groups.

The policy is still the one that sampled, so ratios to the old policy are 1 and clipping rests; what is corrected is
the gap between the engine's log-probabilities and the trainer's.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import torch

from engine.runtime.protocol import Tokens
from local_training.losses import (
    answer_loss,
    banded,
    best_of,
    clipped_policy_loss,
    dr_grpo_advantages,
    grpo_advantages,
    importance_ratio,
    kl_to_anchor,
    segment_advantages,
    truncated,
    with_advantages,
)
from local_training.mismatch import measure_mismatch
from local_training.policy import Policy
from local_training.replay import LossOfBranch, accumulate, score
from local_training.runs.drawing import Drawn, JudgedGroup, draw_groups, judged_rollouts
from local_training.runs.inputs import Inputs
from local_training.runs.learning import Learned, MemoryGuard, Tell, everything, guarded, row
from local_training.runs.recipe import Recipe
from local_training.runs.sampler import Sampler
from local_training.runs.worktime import WorkTime
from local_training.trajectory import TrajectorySegment

_ADVANTAGES: Final = {"dr_grpo": dr_grpo_advantages, "grpo": grpo_advantages}


class PolicyLearner:
    """See `local_training.runs.learning.Learner`."""

    def __init__(
        self,
        policy: Policy,
        inputs: Inputs,
        sampler: Sampler,
        recipe: Recipe,
        *,
        guard: MemoryGuard,
        work: WorkTime,
        check: Callable[[], None],
        tell: Tell,
    ) -> None:
        """`check` is called between small pieces of work, `tell` with what is being done."""
        self._policy, self._inputs, self._sampler, self._recipe = policy, inputs, sampler, recipe
        self._guard, self._work, self._check, self._tell = guard, work, check, tell

    def learn(self, step: int, start: int) -> Learned:
        self._sampler.hand_over(self._policy, step)
        drawn = draw_groups(
            self._inputs,
            self._sampler,
            self._recipe,
            step=step,
            start=start,
            report=lambda done, total: self._tell("sampling", done, total),
        )
        figures = sampling_figures(drawn)
        batches = [batch for group in drawn.kept for batch in self._batches(group) if batch.segments]
        if not batches:
            return Learned(0.0, drawn.taken, 0, figures, is_barren=True)
        with self._work.working("training"):
            learned = self._guard.gathered(lambda: self._gather(batches))
        return Learned(
            learned.loss, drawn.taken, sum(batch.tokens for batch in batches), {**figures, **learned.figures}
        )

    def _batches(self, group: JudgedGroup) -> list["_Batch"]:
        """What the branches of a group have written that is trained on, by the prompt that it was written to, each with
        what it is credited with: all that one branch wrote shares its advantage.
        """
        trajectories = [one.rollout.trajectory(one.reward) for one in group.rollouts]
        if self._recipe.kind == "rft":
            chosen = best_of(group.rewards, self._recipe.loss.keep, self._recipe.loss.at_least)
            credited = [replace(trajectories[place], advantage=1.0) for place in chosen]
        else:
            credited = list(with_advantages(trajectories, _ADVANTAGES[self._recipe.loss.advantages]))
        segments = [segment for trajectory in credited for segment in trajectory.segments]
        by_prompt: dict[Tokens, list[tuple[TrajectorySegment, float]]] = {}
        for segment, advantage in zip(segments, segment_advantages(credited), strict=True):
            by_prompt.setdefault(segment.prompt, []).append((segment, advantage))
        return [_Batch(prompt, written) for prompt, written in by_prompt.items()]

    def _gather(self, batches: Sequence["_Batch"]) -> Learned:
        token_count = sum(batch.tokens for batch in batches)
        loss = 0.0
        trainer: list[Sequence[float]] = []
        sampler: list[Sequence[float]] = []
        anchors: list[torch.Tensor] = []
        for number, batch in enumerate(batches):
            self._tell("training", number, len(batches))
            # Without a weight of the KL it is only looked at, for which one group must do: each costs a pass.
            anchor = self._anchor(batch) if self._recipe.loss.kl or number == 0 else ()
            anchors += anchor
            found = accumulate(
                self._policy,
                batch.prompt,
                batch.tokens_of_branches,
                guarded(self._loss(batch, anchor, token_count), self._check, self._guard.check),
                plan=self._guard.plan(batch.prompt, batch.tokens_of_branches),
            )
            loss += found.loss
            trainer += found.logprobs
            sampler += [segment.logprobs for segment in batch.segments]
        table = self._recipe.loss
        gap = measure_mismatch(trainer, sampler, table.cap, (table.band_low, table.band_high))
        figures = {
            "kl_target_nats": _k3(trainer[: len(anchors)], anchors),
            "entropy_nats": -math.fsum(value for row_ in trainer for value in row_) / token_count,
            "mismatch_nats": gap.mean_absolute_gap_nats,
            "mismatch_kl_nats": gap.sampler_to_trainer_kl_nats,
            "above_cap_share": gap.share_above_cap,
            "masked_share": gap.share_outside_band,
        }
        return Learned(loss, 0, token_count, figures)

    def _anchor(self, batch: "_Batch") -> tuple[torch.Tensor, ...]:
        plan = self._guard.plan(batch.prompt, batch.tokens_of_branches)
        with self._policy.using("anchor"):
            return score(self._policy, batch.prompt, batch.tokens_of_branches, plan=plan)

    def _loss(self, batch: "_Batch", anchor: Sequence[torch.Tensor], token_count: int) -> LossOfBranch:
        table = self._recipe.loss

        def loss(number: int, logprobs_T: torch.Tensor) -> torch.Tensor:
            logprobs_BT = logprobs_T[None]
            mask_BT = everything(logprobs_BT)
            if self._recipe.kind == "rft":
                return answer_loss(logprobs_BT, mask_BT, token_count)
            old_BT = logprobs_BT.detach()
            sampler_BT = row(batch.segments[number].logprobs, logprobs_T)
            ratio_BT = importance_ratio(old_BT, sampler_BT, mask_BT)
            total = clipped_policy_loss(
                logprobs_BT,
                old_BT,
                row([batch.advantages[number]], logprobs_T),
                mask_BT,
                weights_BT=truncated(banded(ratio_BT, table.band_low, table.band_high), table.cap),
                token_count=token_count,
                clip_low=table.clip_low,
                clip_high=table.clip_high,
            )
            if table.kl:
                total = total + table.kl * kl_to_anchor(logprobs_BT, anchor[number][None], mask_BT, token_count)
            return total

        return loss


class _Batch:
    """What was written to one prompt and is trained on, with what it is credited with."""

    def __init__(self, prompt: Tokens, credited: Sequence[tuple[TrajectorySegment, float]]) -> None:
        self.prompt = prompt
        self.segments = [segment for segment, _ in credited]
        self.advantages = [advantage for _, advantage in credited]
        self.tokens_of_branches = [segment.completion for segment in self.segments]
        self.tokens = sum(map(len, self.tokens_of_branches))


def sampling_figures(drawn: Drawn) -> dict[str, Any]:
    """What the branches of one step were like, over all that were drawn."""
    rollouts = judged_rollouts(drawn.all_groups)
    count = max(1, len(rollouts))
    written = sum(len(segment.completion) for one in rollouts for segment in one.rollout.segments)
    return {
        "reward": math.fsum(one.value for one in rollouts) / count,
        "accuracy": sum(one.is_correct for one in rollouts) / count,
        "length_tokens": sum(len(one.rollout.segment.completion) for one in rollouts) / count,
        "unfinished_share": sum(one.rollout.finish == "length" for one in rollouts) / count,
        "groups_kept": len(drawn.kept),
        "groups_drawn": len(drawn.all_groups),
        "rollout_tokens": written,
    }


def _k3(policy: Sequence[Sequence[float]], anchor: Sequence[torch.Tensor]) -> float:
    """KL(policy || anchor) on the policy's own tokens, nats a token."""
    logprobs_BT = torch.cat([torch.tensor(list(row_)) for row_ in policy])[None]
    anchor_BT = torch.cat([row_T.float().cpu() for row_T in anchor])[None]
    return float(kl_to_anchor(logprobs_BT, anchor_BT, everything(logprobs_BT)))
