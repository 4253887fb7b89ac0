"""From a lesson to what a run learns and the gate tests: examples, held-out prompts, and prompts it must not change."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.adapters.gate.inputs import ItemResult, SuiteResult
from engine.errors import UsageProblem
from engine.signals.values import Correction
from local_training.examples import AnswerExample
from local_training.lessons.lesson import Lesson
from local_training.lessons.planning import DEFAULT_SIZES, LessonPlan, LessonSizes, plan_lesson
from local_training.lessons.practice import PracticePrompt
from local_training.lessons.sampling import chosen
from local_training.tasks import TaskMessage

TARGET_SUITE: Final = "lesson"
CONTRAST: Final = "contrast"
"""Tag of examples to which the lesson does not apply."""
MOST_EXAMPLES: Final = 128
_OWN_SHARE: Final = 0.25
_MOST_REPEATS: Final = 3
"""The user's own answers are the lesson; but one that is seen too often is learned by heart."""


@dataclass(frozen=True, slots=True)
class HeldOutItem:
    """A prompt to test with."""

    item_id: str
    prompt: str
    wanted: str
    """The user's own answer; empty for a practice prompt."""


@dataclass(frozen=True, slots=True)
class LessonData:
    lesson: Lesson
    examples: tuple[AnswerExample, ...]
    held_out: tuple[HeldOutItem, ...]
    off_target: tuple[str, ...]
    """Prompts on which nothing shall change."""

    @property
    def own_examples(self) -> int:
        """How many examples are the user's own answers, repeats included."""
        return sum("correction" in example.tags for example in self.examples)


def build(
    lesson: Lesson,
    corrections: Sequence[Correction],
    base_answers: Mapping[str, Sequence[str]],
    seed: int,
    *,
    expert: str = "L0",
    practice: Sequence[PracticePrompt] | None = None,
    sizes: LessonSizes = DEFAULT_SIZES,
) -> LessonData:
    """The data of a lesson. The same arguments give the same data.

    base_answers: the model's answers to `sampling_requests` of the same plan, by the id of the practice prompt.
    Raises: UsageProblem when nothing is left to learn from or to test with.
    """
    plan = plan_lesson(lesson, corrections, seed, practice=practice, sizes=sizes)
    return build_planned(plan, base_answers, expert=expert)


def build_planned(plan: LessonPlan, base_answers: Mapping[str, Sequence[str]], *, expert: str = "L0") -> LessonData:
    """As `build`, of a plan that is there already."""
    practised = _practice_examples(plan, chosen(plan, base_answers), expert)
    own = _own_examples(plan, len(practised), expert)
    held_out = _held_out(plan)
    if not own or not held_out:
        raise UsageProblem(
            "The corrections leave nothing to learn from or nothing to test with.",
            "Correct answers to different questions.",
        )
    kept = _contrast_examples(plan, base_answers, expert)
    room = MOST_EXAMPLES - len(own) - len(kept)
    return LessonData(
        plan.lesson, (*own, *practised[: max(0, room)], *kept), held_out, tuple(one.prompt for one in plan.off_target)
    )


def _practice_examples(plan: LessonPlan, answers: Mapping[str, str], expert: str) -> tuple[AnswerExample, ...]:
    return tuple(
        AnswerExample(
            one.practice_id,
            (TaskMessage("user", one.prompt),),
            expert,
            answers[one.practice_id],
            group=one.practice_id,
            tags=("practice", one.topic),
            # Of the model's own answer only the beginning was taken, and that is no place to end.
            ends=plan.lesson.changes_end or bool(one.answer),
        )
        for one in plan.training_practice
        if one.practice_id in answers
    )


def _contrast_examples(
    plan: LessonPlan, answers: Mapping[str, Sequence[str]], expert: str
) -> tuple[AnswerExample, ...]:
    """How answers begin to which the lesson does not apply: as they did, and a run keeps what is familiar."""
    return tuple(
        AnswerExample(
            one.practice_id,
            (TaskMessage("user", one.prompt),),
            expert,
            answers[one.practice_id][0],
            group=one.practice_id,
            tags=(CONTRAST, one.topic),
            ends=False,
        )
        for one in plan.contrast
        if any(answer.strip() for answer in answers.get(one.practice_id, ())[:1])
    )


def _own_examples(plan: LessonPlan, practised: int, expert: str) -> tuple[AnswerExample, ...]:
    """Repeated until they make up a quarter of all, or three times.

    That they are short, where this is not the lesson, is not learned: people who correct do not write on.
    """
    corrections = plan.training_corrections
    ends = plan.lesson.changes_end or all(trait.kind != "shorter" for trait in plan.lesson.incidental)
    if not corrections:
        return ()
    wanted = practised * _OWN_SHARE / (1 - _OWN_SHARE)
    fitting = max(1, MOST_EXAMPLES // len(corrections))
    repeats = min(fitting, _MOST_REPEATS, max(1, round(wanted / len(corrections))))
    kept = corrections[-MOST_EXAMPLES:]
    return tuple(
        AnswerExample(
            f"correction-{correction.signal_id}-{repeat}",
            (TaskMessage("user", correction.prompt),),
            expert,
            correction.after,
            group=f"correction-{correction.signal_id}",
            tags=("correction",),
            sources=(correction.turn_id,),
            ends=ends,
        )
        for repeat in range(1, repeats + 1)
        for correction in kept
    )


def _held_out(plan: LessonPlan) -> tuple[HeldOutItem, ...]:
    own = (HeldOutItem(f"correction-{one.signal_id}", one.prompt, one.after) for one in plan.held_out_corrections)
    practice = (HeldOutItem(one.practice_id, one.prompt, "") for one in plan.held_out_practice)
    return (*own, *practice)


def suite_hash(data: LessonData) -> str:
    """Of the held-out items and of what counts as right: 64 hex digits of SHA-256."""
    rules = [[trait.kind, dict(trait.values)] for trait in data.lesson.traits]
    items = [[item.item_id, item.prompt, item.wanted] for item in data.held_out]
    content = json.dumps([rules, items], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def adherence(data: LessonData, answers: Mapping[str, str]) -> Mapping[str, bool]:
    """Whether the answer to each held-out item follows the lesson, by its id. Raises: KeyError where one is missing."""
    return {item.item_id: data.lesson.adheres(item.prompt, answers[item.item_id]) for item in data.held_out}


def target_suite(data: LessonData, answers: Mapping[str, str]) -> SuiteResult:
    """The gate's target suite of a lesson with traits, for one adapter's answers. Raises: KeyError, likewise."""
    items = tuple(ItemResult(item_id, is_right) for item_id, is_right in adherence(data, answers).items())
    return SuiteResult(TARGET_SUITE, "target", suite_hash(data), items)


def imitation_suite(data: LessonData, nats_per_token: Mapping[str, float]) -> SuiteResult:
    """The same of an imitation: how unlikely one adapter finds the user's held-out answers. Raises: KeyError."""
    items = tuple(
        ItemResult(item.item_id, nats_per_token=nats_per_token[item.item_id]) for item in data.held_out if item.wanted
    )
    return SuiteResult(TARGET_SUITE, "target", suite_hash(data), items)
