"""sft, dpo and kto: learning from answers that are given, a batch of examples per optimizer step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from engine.runtime.protocol import Tokens
from local_training.losses import (
    apo_zero_loss,
    dpo_loss,
    kto_loss,
    kto_reference_point,
    new_tokens,
    novelty_loss,
)
from local_training.policy import Policy
from local_training.replay import accumulate, score
from local_training.runs.inputs import TokenExample
from local_training.runs.learning import Learned, MemoryGuard, Tell, everything, guarded
from local_training.runs.order import take, take_in_order
from local_training.runs.packing import Pack, by_head, runs_of
from local_training.runs.recipe import Recipe
from local_training.runs.worktime import WorkTime


@dataclass(frozen=True, slots=True)
class Judged:
    """One held-out example: its loss, and for preferences whether the policy is on the right side."""

    loss: float
    is_right: bool | None


class ExampleLearner:
    """See `local_training.runs.learning.Learner`."""

    def __init__(
        self,
        policy: Policy,
        training: Sequence[TokenExample],
        recipe: Recipe,
        *,
        guard: MemoryGuard,
        work: WorkTime,
        check: Callable[[], None],
        tell: Tell,
    ) -> None:
        """`check` is called between small pieces of work, `tell` with what is being done."""
        self._policy, self._recipe = policy, recipe
        self._packs = runs_of(training, recipe.batch.pack if recipe.kind == "sft" else 1)
        self._guard, self._work, self._check, self._tell = guard, work, check, tell

    def learn(self, step: int, start: int) -> Learned:
        table = self._recipe.batch
        count = max(1, table.examples // table.pack)
        in_order = self._recipe.kind == "sft" and table.order == "file"
        drawn = (
            take_in_order(self._packs, start, count) if in_order else take(self._packs, start, count, self._recipe.seed)
        )
        batch = [example for pack in drawn for example in pack]
        with self._work.working("training"):
            return replace(self._guard.gathered(lambda: self._gather(batch)), taken=len(drawn))

    def judge(self, example: TokenExample) -> Judged:
        """Without gradient. The reference point of kto is 0 here, as one example has none."""
        with torch.no_grad():
            logprobs = self._score(example.prompt, _answers(example))
            if self._recipe.kind == "sft":
                return Judged(float(-logprobs[0].mean()), None)
            ratios = [
                float(one.sum() - other.sum()) for one, other in zip(logprobs, self._anchor(example), strict=True)
            ]
            if self._recipe.kind == "dpo":
                chosen, rejected = (torch.tensor([ratio]) for ratio in ratios)
                return Judged(float(dpo_loss(chosen, rejected, beta=self._recipe.loss.beta)), ratios[0] > ratios[1])
            ratio, is_good = torch.tensor(ratios), torch.tensor([example.is_good])
            loss = float(apo_zero_loss(ratio, is_good, beta=self._recipe.loss.beta))
            return Judged(loss, (ratios[0] > 0) == example.is_good)

    def _gather(self, batch: Sequence[TokenExample]) -> Learned:
        tokens = sum(len(answer) for example in batch for answer in _answers(example))
        if self._recipe.kind == "sft":
            return Learned(self._imitate_all(batch), len(batch), tokens)
        reference = self._reference(batch)
        loss, right = 0.0, 0
        for number, example in enumerate(batch):
            self._tell("training", number, len(batch))
            part, is_right = self._prefer(example, len(batch), reference)
            loss, right = loss + part, right + is_right
        return Learned(loss, len(batch), tokens, {"accuracy": right / len(batch)})

    def _imitate_all(self, batch: Sequence[TokenExample]) -> float:
        packs = by_head(batch)
        # Before anything is learned: the loss is a mean over what is new in the whole batch.
        anchors = [self._anchor_of(pack) for pack in packs]
        new = sum(self._new(anchor_T) for anchor in anchors for anchor_T in anchor)
        loss, done = 0.0, 0
        for pack, anchor in zip(packs, anchors, strict=True):
            self._tell("training", done, len(batch))
            loss += self._imitate(pack, anchor, new)
            done += len(pack.examples)
        return loss

    def _imitate(self, pack: Pack, anchor: Sequence[torch.Tensor], new: int) -> float:
        """The examples of a pack as branches of their head; of a branch only the answer is learned."""
        branches = _branches(pack)
        familiar = self._recipe.loss.familiar

        def loss(number: int, logprobs_T: torch.Tensor) -> torch.Tensor:
            answer_1T = logprobs_T[None, len(pack.rests[number]) :]
            return novelty_loss(answer_1T, anchor[number][None], everything(answer_1T), familiar, new)

        checked = guarded(loss, self._check, self._guard.check)
        plan = self._guard.plan(pack.head, branches)
        return accumulate(self._policy, pack.head, branches, checked, plan=plan).loss

    def _new(self, anchor_T: torch.Tensor) -> int:
        anchor_1T = anchor_T[None]
        return int(new_tokens(anchor_1T, everything(anchor_1T), self._recipe.loss.familiar).sum())

    def _anchor_of(self, pack: Pack) -> list[torch.Tensor]:
        """How likely the anchor finds the tokens of each answer, where that matters.

        Not remembered: read in other company they would differ by a rounding, and a run that was killed by bits.
        """
        if self._recipe.loss.familiar >= 1:
            return [torch.zeros(len(one.answer), device=self._policy.device) for one in pack.examples]
        branches = _branches(pack)
        self._check()
        with self._policy.using("anchor"), torch.no_grad():
            scored = score(self._policy, pack.head, branches, plan=self._guard.plan(pack.head, branches))
        return [logprobs_T[len(rest) :] for rest, logprobs_T in zip(pack.rests, scored, strict=True)]

    def _prefer(self, example: TokenExample, examples: int, reference: float) -> tuple[float, bool]:
        """Loss of one preference, and whether the policy is on its right side.

        A preference joins two answers, which may not fit into one graph: the loss's slope in each answer's log-ratio
        is taken first, without a graph, and then sent through one answer after the other.
        """
        anchor = self._anchor(example)
        with torch.no_grad():
            now = self._score(example.prompt, _answers(example))
        ratio_A = torch.stack([mine_T.sum() - anchor_T.sum() for mine_T, anchor_T in zip(now, anchor, strict=True)])
        ratio_A = ratio_A.detach().requires_grad_()
        loss = self._preference_loss(ratio_A, example.is_good, examples, reference)
        (slope_A,) = torch.autograd.grad(loss, ratio_A)
        self._accumulated(example, lambda number, logprobs_T: slope_A[number] * logprobs_T.sum())
        ratios = ratio_A.tolist()
        is_right = ratios[0] > ratios[1] if len(ratios) == 2 else (ratios[0] > 0) == example.is_good
        return float(loss.detach()), is_right

    def _preference_loss(self, ratio_A: torch.Tensor, is_good: bool, examples: int, reference: float) -> torch.Tensor:
        beta = self._recipe.loss.beta
        if self._recipe.kind == "dpo":
            return dpo_loss(ratio_A[:1], ratio_A[1:], beta=beta, pair_count=examples)
        is_good_B = torch.tensor([is_good], device=ratio_A.device)
        if self._recipe.loss.reference == "zero":
            return apo_zero_loss(ratio_A, is_good_B, beta=beta, example_count=examples)
        point = torch.tensor(reference, device=ratio_A.device)
        return kto_loss(ratio_A, is_good_B, point, beta=beta, example_count=examples)

    def _reference(self, batch: Sequence[TokenExample]) -> float:
        """kto's reference point of this batch: log-ratios of answers to other prompts than their own."""
        if self._recipe.kind != "kto" or self._recipe.loss.reference == "zero":
            return 0.0
        ratios: list[float] = []
        for example, other in zip(batch, (*batch[1:], *batch[:1]), strict=True):
            if other.example_id == example.example_id:  # its own answer, in a batch of one or from the next pass
                continue
            self._check()
            mismatched = [other.answer]
            with self._policy.using("anchor"):
                anchor = self._score(example.prompt, mismatched)
            ratios.append(float(self._score(example.prompt, mismatched)[0].sum() - anchor[0].sum()))
        return float(kto_reference_point(torch.tensor(ratios)))

    def _anchor(self, example: TokenExample) -> tuple[torch.Tensor, ...]:
        with self._policy.using("anchor"):
            return self._score(example.prompt, _answers(example))

    def _score(self, prompt: Tokens, answers: Sequence[Tokens]) -> tuple[torch.Tensor, ...]:
        return score(self._policy, prompt, answers, plan=self._guard.plan(prompt, answers))

    def _accumulated(self, example: TokenExample, loss: Callable[[int, torch.Tensor], torch.Tensor]) -> float:
        answers = _answers(example)
        checked = guarded(loss, self._check, self._guard.check)
        return accumulate(
            self._policy, example.prompt, answers, checked, plan=self._guard.plan(example.prompt, answers)
        ).loss


def _answers(example: TokenExample) -> list[Tokens]:
    return [example.answer, example.rejected] if example.rejected else [example.answer]


def _branches(pack: Pack) -> list[Tokens]:
    return [(*rest, *one.answer) for rest, one in zip(pack.rests, pack.examples, strict=True)]
