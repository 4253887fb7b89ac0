"""One run from its folder to an adapter: load, learn step by step, keep a checkpoint after each, test, hand the result.

Killed at any point it goes on from the last checkpoint and ends where it would have ended. Talks through `emit` and the
folder alone; who started it, and how it is shown, is not its business.
"""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import torch

from engine.errors import RuntimeFailed
from local_training.policy import Policy, load_policy
from local_training.runs.anchoring import Anchoring
from local_training.runs.checkpoints import Position, checkpoints, restore_checkpoint, save_checkpoint
from local_training.runs.creating import check_frozen
from local_training.runs.evaluating import evaluate_examples, evaluate_tasks, summary
from local_training.runs.evaluations import evaluation_path, write_items
from local_training.runs.events import Activity, Event, Progress
from local_training.runs.example_learner import ExampleLearner
from local_training.runs.folder import RunFolder, RunState, State, now
from local_training.runs.gaps import GeneralTexts, measure_parity, require_numbers
from local_training.runs.inputs import Inputs, load_inputs
from local_training.runs.learning import Learned, Learner, MemoryGuard
from local_training.runs.metrics import Note, StepMetrics, append_metrics, cut_metrics, read_history
from local_training.runs.optimizing import apply_gradients, make_optimizer, rate_at
from local_training.runs.policy_learner import PolicyLearner
from local_training.runs.priority import yield_to_others
from local_training.runs.recipe import SAMPLING_KINDS, Recipe, read_recipe
from local_training.runs.results import expert_folder, put_result
from local_training.runs.sampler import EngineSettings, Sampler
from local_training.runs.signals import Interrupted, Signals
from local_training.runs.stopping import barren_rule, broken_rule
from local_training.runs.trust_region import largest_scale
from local_training.runs.worktime import WorkTime

Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Result:
    """How a start of a run ended, when it did not fail."""

    state: State
    step: int
    reason: str


def train(folder: RunFolder, emit: Emit, *, watch_parent: bool = False) -> Result:
    """Begin the run in `folder` or go on with it, until it is done or asked to end.

    Raises: AgentError with the reason of a failure; the folder's checkpoints and results are as they were.
    """
    with ExitStack() as stack:
        stack.enter_context(folder.held())
        check_frozen(folder)
        recipe = read_recipe(folder.recipe)
        yield_to_others(recipe.limits.nice)
        work = WorkTime()
        run = _Run(folder, recipe, emit, work)
        signals = stack.enter_context(Signals(folder, run.show_pause))
        if watch_parent:
            signals.watch_parent()
        run.signals = signals
        try:
            run.open(stack)
            reason = run.learn()
            if not run.has_learned:
                reason += " Nothing was learned: with this adapter all answers stay as they were."
            run.finish()
        except Interrupted as ending:
            run.write_state("stopped", reason=str(ending))
            return Result("stopped", run.position.step, str(ending))
        run.write_state("finished", reason=reason)
        return Result("finished", run.position.step, reason)


class _Run:
    """The parts of one start of a run."""

    def __init__(self, folder: RunFolder, recipe: Recipe, emit: Emit, work: WorkTime) -> None:
        self.folder, self.recipe, self.emit, self.work = folder, recipe, emit, work
        self.signals: Signals
        self.position = Position()
        self._policy: Policy
        self._optimizer: torch.optim.Optimizer
        self._sampler: Sampler
        self._inputs: Inputs
        self._learner: Learner
        self._general: GeneralTexts
        self._anchoring: Anchoring
        self._threads = recipe.limits.threads or _core_count()
        self._began = time.monotonic()
        """When it would have begun if all work so far had been done without a break."""

    # Opening

    def open(self, stack: ExitStack) -> None:
        """Load everything and go to where the run was left. Raises: Interrupted, AgentError."""
        frozen, recipe = self.folder.read_frozen(), self.recipe
        # What is known until the checkpoint is read, should the run end before that.
        before = self.folder.read_state()
        self.position = Position(before.step, worked_seconds=before.worked_seconds)
        self._began -= before.worked_seconds
        self.write_state("running")
        self.tell("loading", 0, 0)
        torch.set_num_threads(self._threads)
        expert = Path(frozen.expert_adapter) if frozen.expert_adapter else None
        rollouts, limits = recipe.rollouts, recipe.limits
        engine = EngineSettings(rollouts.context_tokens, rollouts.together, self._threads, limits.nice)
        base = Path(frozen.base)
        self._sampler = Sampler(base, expert, self.folder.work, engine, signals=self.signals, work=self.work)
        stack.callback(self._sampler.close)
        self._inputs = load_inputs(self.folder, recipe, self._sampler, Path(frozen.profile))
        if recipe.kind not in SAMPLING_KINDS:
            self._sampler.release()  # not needed until the last adapter is tried in it
        self.check()
        self._policy = load_policy(
            base,
            expert=expert_folder(self.folder, frozen),
            rank=recipe.adapter.rank,
            alpha=recipe.adapter.alpha,
            seed=recipe.seed,
            checkpointing=recipe.batch.checkpointing,
        )
        self._optimizer = make_optimizer(self._policy, recipe.optimizer)
        if checkpoints(self.folder.checkpoints):
            self.position = restore_checkpoint(self.folder.checkpoints, self._policy, self._optimizer)
            # The state was written after the checkpoint, but may be lost.
            self._began -= max(0.0, self.position.worked_seconds - before.worked_seconds)
        else:  # a rule may send the first step back to where it began
            self.position = Position(worked_seconds=self.worked_seconds)
            save_checkpoint(self.folder.checkpoints, self._policy, self._optimizer, self.position)
        cut_metrics(self.folder.metrics, self.position.step)
        self._learner = self._make_learner()
        self._general = GeneralTexts(self._policy, self._inputs.general)
        self._anchoring = Anchoring(self._policy, self._inputs.anchor, self.recipe.anchor, self.recipe.seed)

    def _make_learner(self) -> Learner:
        guard = MemoryGuard(self._policy, self.recipe.batch, self.recipe.limits.memory_gib, self.note)
        if self.recipe.kind in SAMPLING_KINDS:
            return PolicyLearner(
                self._policy,
                self._inputs,
                self._sampler,
                self.recipe,
                guard=guard,
                work=self.work,
                check=self.check,
                tell=self.tell,
            )
        return ExampleLearner(
            self._policy,
            self._inputs.training,
            self.recipe,
            guard=guard,
            work=self.work,
            check=self.check,
            tell=self.tell,
        )

    # Learning

    def learn(self) -> str:
        """All steps that are left; gives the reason why there are no more. Raises: Interrupted, AgentError."""
        self._evaluate_if_due()
        self.work.lap()
        last_step_s = 0.0
        while self.position.step < self.recipe.steps:
            if reason := barren_rule(self.position.barren, self.recipe.stop):
                return reason
            self.check()
            if self.worked_seconds + last_step_s > 60.0 * self.recipe.limits.minutes:
                return f"Its {self.recipe.limits.minutes:g} minutes are used up (limits.minutes)."
            began = self.worked_seconds
            if reason := self._step(self.position.step + 1):
                return reason
            last_step_s = self.worked_seconds - began
            self._evaluate_if_due()
        return barren_rule(self.position.barren, self.recipe.stop) or "All steps are done."

    @property
    def has_learned(self) -> bool:
        """Whether any step that was kept changed the adapter."""
        return any(self._optimizer.state.values())

    def _step(self, step: int) -> str:
        """One optimizer step, kept unless it breaks a rule, whose reason is then given."""
        learned = self._learner.learn(step, self.position.drawn)
        table = self.recipe.optimizer
        rate = rate_at(step, self.recipe.steps, table)
        with self.work.working("training"):
            norm, anchor = 0.0, None
            if not learned.is_barren:
                anchor = self._anchoring.accumulate(step, self.check)
                norm = apply_gradients(self._policy, self._optimizer, rate, table.clip_norm)
            general = self._general.kl_nats()
        metrics = replace(self._metrics(step, learned, norm, rate, general), kl_anchor_nats=anchor)
        first = self.position.first_entropy_nats or metrics.entropy_nats
        barren = self.position.barren + 1 if learned.is_barren else 0
        if reason := broken_rule(metrics, self.recipe.stop, first):
            self.position = restore_checkpoint(self.folder.checkpoints, self._policy, self._optimizer)
            return f"{reason} The adapter is the one before step {step}."
        require_numbers(metrics)
        self.tell("saving", 0, 1)
        append_metrics(self.folder.metrics, metrics)
        self.position = Position(step, self.position.drawn + learned.taken, barren, first, self.worked_seconds)
        save_checkpoint(self.folder.checkpoints, self._policy, self._optimizer, self.position)
        self.write_state("running")
        self.emit(metrics)
        return ""

    def _metrics(self, step: int, learned: Learned, norm: float, rate: float, general: float) -> StepMetrics:
        spent = self.work.lap()
        blank = StepMetrics(step, spent.seconds, learned.loss, norm, rate)
        return replace(
            blank,
            **learned.figures,
            kl_general_nats=general,
            rollout_seconds=spent.sampling,
            train_seconds=spent.training,
            idle_share=spent.idle_share,
            trained_tokens=learned.trained_tokens,
            memory_bytes=psutil.Process().memory_info().rss + self._sampler.memory_bytes,
        )

    # Testing and finishing

    def _evaluate_if_due(self, *, is_last: bool = False) -> None:
        """Held-out items, where they are to be tested after this step and were not yet."""
        step, table = self.position.step, self.recipe.evaluation
        is_due = is_last or step == 0 or (table.every > 0 and step % table.every == 0)
        if not table.items or not is_due:
            return
        if step in {one.step for one in read_history(self.folder.metrics).evaluations}:
            return
        began = time.monotonic()
        if self.recipe.kind in SAMPLING_KINDS:
            self._sampler.hand_over(self._policy, step)
            items = evaluate_tasks(self._inputs, self._sampler, self.recipe, self.tell)
        else:
            assert isinstance(self._learner, ExampleLearner)
            items = evaluate_examples(self._inputs.held_out, self._learner, self.check, self.tell)
        write_items(evaluation_path(self.folder.evaluations, step), items)
        metrics = summary(step, time.monotonic() - began, items)
        append_metrics(self.folder.metrics, metrics)
        self.emit(metrics)
        self.work.lap()

    def finish(self) -> None:
        """Test the last adapter, in the engine too, and put it where it is found. Raises: Interrupted, AgentError."""
        self._stay_near()
        self._evaluate_if_due(is_last=True)
        self.tell("saving", 0, 1)
        self._sampler.hand_over(self._policy, self.position.step)
        self._check_parity()
        put_result(self.folder, self.folder.read_frozen(), self._policy)

    def _stay_near(self) -> None:
        """Give up as much of the adapter as the recipe's trust region asks for. The checkpoint keeps all of it."""
        bound, kept = self.recipe.anchor.within_nats, 1.0
        if bound is None:
            return

        def distance(scale: float) -> float:
            nonlocal kept
            self._policy.scale(scale / kept)
            kept = scale
            return self._anchoring.distance(self.check)

        with self.work.working("training"):
            region = largest_scale(distance, bound)
        self._policy.scale(region.scale / kept)
        self.note(
            f"The adapter is {region.after:.4f} nats a token from its anchor on everyday requests, scaled by "
            f"{region.scale:.2f}; whole it was {region.before:.4f}."
        )

    def _check_parity(self) -> None:
        """That the engine computes with the adapter what the trainer does. Raises: RuntimeFailed."""
        together = self.recipe.rollouts.together
        asked = (*self._inputs.general, *self._inputs.anchor)[: self.recipe.evaluation.parity]
        found = measure_parity(self._policy, self._sampler, asked, self.position.step, together=together)
        append_metrics(self.folder.metrics, found)
        bound = self.recipe.stop.mismatch_nats
        self.note(
            f"Engine and trainer differ by {found.gap_nats:.4f} nats a token with this adapter, "
            f"by {found.anchor_gap_nats:.4f} without it, over {found.tokens} tokens."
        )
        if bound is not None and found.gap_nats > bound:
            raise RuntimeFailed(
                f"With this adapter engine and trainer differ by {found.gap_nats:.3f} nats a token.",
                "It was not put in place. Begin a new run; if that happens again, this base cannot be trained here.",
            )

    # Telling

    @property
    def worked_seconds(self) -> float:
        return time.monotonic() - self._began - self.signals.paused_seconds

    def check(self) -> None:
        """Between two small pieces of work. Raises: Interrupted."""
        self.work.wait(self.signals.check())

    def tell(self, activity: Activity, done: int, total: int) -> None:
        step = min(self.position.step + 1, self.recipe.steps)
        self.emit(Progress(step, self.recipe.steps, activity, done, total))

    def note(self, text: str) -> None:
        note = Note(self.position.step, text)
        append_metrics(self.folder.metrics, note)
        self.emit(note)

    def show_pause(self, is_paused: bool) -> None:
        self.write_state("paused" if is_paused else "running")

    def write_state(self, state: State, reason: str = "") -> None:
        self.folder.write_state(
            RunState(
                state,
                self.position.step,
                reason=reason,
                pid=os.getpid() if state in ("running", "paused") else 0,
                worked_seconds=self.worked_seconds,
                updated_at=now(),
            )
        )


def _core_count() -> int:
    """Those that this process may use."""
    return len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else os.cpu_count() or 1
