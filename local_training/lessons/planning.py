"""Which prompts a lesson is trained on, and which it is tested with. Pure and seeded; asks no model.

Held out are the newest corrections and about half of the practice prompts. No prompt is on both sides, nor a near copy.
"""

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.signals.values import Correction
from local_training.lessons.corrections import usable_corrections
from local_training.lessons.lesson import Lesson
from local_training.lessons.practice import PracticePrompt, choose_practice, practice_prompts
from local_training.lessons.similarity import is_near_any, word_set

_HELD_OUT_SHARE: Final = 0.2
_IMITATION_HELD_OUT_SHARE: Final = 1 / 3
_HELD_OUT_CORRECTIONS: Final = 2
"""At least so many corrections are held out."""
_FEWEST_TESTED: Final = 40
_FEWEST_LEARNED: Final = 20


@dataclass(frozen=True, slots=True)
class LessonSizes:
    """How much is made of a lesson; what one trains on and tests with costs the minutes of the user."""

    training_practice: int = 96
    """Practice prompts to learn from, at most; some are lost where no answer of the model can be used."""
    held_out_practice: int = 48
    """Practice prompts to test with."""
    off_target: int = 24
    """Prompts on which nothing shall change."""
    contrast: int = 24
    """Others of that sort, to learn that from."""


DEFAULT_SIZES: Final = LessonSizes()
BRIEF_SIZES: Final = LessonSizes(training_practice=48, contrast=12)
"""For a lesson that has time for a few steps only, which would not see more."""


@dataclass(frozen=True, slots=True)
class LessonPlan:
    lesson: Lesson
    training_corrections: tuple[Correction, ...]
    held_out_corrections: tuple[Correction, ...]
    """The newest."""
    training_practice: tuple[PracticePrompt, ...]
    held_out_practice: tuple[PracticePrompt, ...]
    off_target: tuple[PracticePrompt, ...]
    """Practice prompts outside the lesson's scope."""
    contrast: tuple[PracticePrompt, ...] = ()
    """Others outside its scope, whose answers are learned as they are."""


def plan_lesson(
    lesson: Lesson,
    corrections: Sequence[Correction],
    seed: int,
    *,
    practice: Sequence[PracticePrompt] | None = None,
    sizes: LessonSizes = DEFAULT_SIZES,
) -> LessonPlan:
    """The two sides of a lesson. The same seed gives the same plan. An imitation has no practice prompts.

    practice: those that come with the program, unless given. Raises: PracticeProblem, when their files are damaged.
    """
    everything = practice_prompts() if practice is None else practice
    usable = usable_corrections(corrections).corrections
    training, held_out = _split_by_age(usable, lesson)
    in_scope = list(choose_practice(lesson, usable, everything))
    outside = _outside(everything, in_scope, seed)
    off_target, others = outside[: sizes.off_target], outside[sizes.off_target :]
    if lesson.is_imitation:
        return LessonPlan(lesson, training, held_out, (), (), off_target)
    random.Random(f"practice {seed}").shuffle(in_scope)
    count = _tested_count(len(in_scope), sizes.held_out_practice)
    tested, rest = in_scope[:count], in_scope[count:]
    learned = _apart_from([one.prompt for one in tested], rest)
    contrast = _apart_from([one.prompt for one in (*tested, *off_target)], others)[: sizes.contrast]
    return LessonPlan(
        lesson,
        training,
        held_out,
        tuple(learned[: sizes.training_practice]),
        tuple(tested),
        off_target,
        tuple(contrast),
    )


def _tested_count(available: int, wanted: int) -> int:
    """Half, where there are few; but tests come first, as long as enough is left to learn from."""
    few = max(math.ceil(available / 2), min(_FEWEST_TESTED, available - _FEWEST_LEARNED))
    return min(wanted, few)


def _split_by_age(
    corrections: Sequence[Correction], lesson: Lesson
) -> tuple[tuple[Correction, ...], tuple[Correction, ...]]:
    """Older and newest; an older one that nearly repeats a newest question is on neither side."""
    share = _IMITATION_HELD_OUT_SHARE if lesson.is_imitation else _HELD_OUT_SHARE
    count = min(len(corrections) - 1, max(_HELD_OUT_CORRECTIONS, math.ceil(share * len(corrections))))
    older, newest = corrections[: len(corrections) - count], corrections[len(corrections) - count :]
    tested = [word_set(correction.prompt) for correction in newest]
    apart = [one for one in older if not is_near_any(one.prompt, tested)]
    # All may be forms of one question: then there is something to learn, and practice prompts to test with.
    return tuple(apart or older), tuple(newest if apart else ())


def _apart_from(tested: Iterable[str], candidates: Iterable[PracticePrompt]) -> list[PracticePrompt]:
    sets = [word_set(prompt) for prompt in tested]
    return [one for one in candidates if not is_near_any(one.prompt, sets)]


def _outside(
    everything: Sequence[PracticePrompt], in_scope: Sequence[PracticePrompt], seed: int
) -> tuple[PracticePrompt, ...]:
    """Of other topics or another language than the lesson's, in an order by lot; perhaps none."""
    scope = {(one.topic, one.language) for one in in_scope}
    outside = [one for one in everything if (one.topic, one.language) not in scope]
    return tuple(random.Random(f"off target {seed}").sample(outside, len(outside)))
