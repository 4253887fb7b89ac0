"""What the model is asked for a lesson, and which of its answers are learned from. Pure: the caller lets it answer.

Where a program can change an answer so that it follows the lesson, one greedy answer to the plain prompt will do.
Otherwise the model is told the rule, answers several times, and an answer that happens to follow it is learned as if it
had not been told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from local_training.lessons.json_keys import JsonKeys
from local_training.lessons.lesson import Lesson
from local_training.lessons.planning import LessonPlan
from local_training.lessons.practice import PracticePrompt
from local_training.lessons.wording import first_sentences, length_units

ANSWER_TOKENS: Final = 80
"""Of one answer, while sampling and testing: what is longer is long."""
_REWRITTEN_TOKENS: Final = 56
"""Of an answer of which the first sentences are taken."""
CONTRAST_TOKENS: Final = 12
"""Of an answer that shall stay as it is: where a lesson goes too far, it shows at the beginning."""
TRAINED_UNITS: Final = 32
"""Words of a trained answer, at most, where the lesson itself sets no limit; a step must not take long."""
_TOLD_PROMPTS: Final = 40
_SAMPLES: Final = 3
_TEMPERATURE: Final = 0.8
_FEWEST_UNITS: Final = 4
"""A shorter answer of the model is rarely one."""
_REWRITING_ORDER: Final = (
    "metric_units", "same_language", "answers_in", "no_emoji", "no_bullets", "formal_you", "shorter", "as_bullets",
    "ends_with", "begins_with", "addressed_by_name", "json_keys",
)  # fmt: skip
"""What changes words goes first, what wraps the whole answer last."""
_UNWRITABLE: Final = frozenset({"same_language", "answers_in", "formal_you"})


@dataclass(frozen=True, slots=True)
class SamplingRequest:
    practice_id: str
    text: str
    """What the model is asked, the lesson's instruction included where it is told."""
    samples: int
    temperature: float
    """0 is greedy."""
    max_tokens: int


def sampling_requests(plan: LessonPlan, *, tells: bool | None = None) -> tuple[SamplingRequest, ...]:
    """One request for each training prompt that needs an answer of the model; fewer where it answers several times.
    Then one for each prompt whose answer shall stay as it is.

    tells: whether the model is told the rule and answers several times; by itself where no program can help.
    """
    is_told = _needs_telling(plan.lesson) if tells is None else tells
    asked = [one for one in plan.training_practice if _needs_model(one, plan.lesson)]
    return (
        *(_request(one, plan.lesson, is_told) for one in (asked[:_TOLD_PROMPTS] if is_told else asked)),
        *(SamplingRequest(one.practice_id, one.prompt, 1, 0.0, CONTRAST_TOKENS) for one in plan.contrast),
    )


def chosen(plan: LessonPlan, answers: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
    """The answer that each training prompt is trained with, by its id; those without a fit one are left out.

    answers: of the model, by the id of the practice prompt.
    """
    found: dict[str, str] = {}
    for one in plan.training_practice:
        given = [one.answer] if one.answer else []
        candidates = [*given, *answers.get(one.practice_id, ())] or [""]
        fit = (adherent_answer(plan.lesson, one, answer) for answer in candidates)
        if (answer := next((answer for answer in fit if answer is not None), None)) is not None:
            found[one.practice_id] = answer
    return found


def adherent_answer(lesson: Lesson, practice: PracticePrompt, answer: str) -> str | None:
    """An answer of the model, or an empty text, made to follow the lesson; None where that cannot be done well."""
    text = answer
    if not _comes_from_prompt(lesson, practice):
        text = first_sentences(answer, TRAINED_UNITS) or ""
        if length_units(text) < _FEWEST_UNITS:
            return None
    for trait in sorted(lesson.traits, key=lambda trait: _REWRITING_ORDER.index(trait.kind)):
        rewritten = trait.rewrite(practice.prompt, text, practice.fields)
        if rewritten is None:
            return None
        text = rewritten
    return text if lesson.adheres(practice.prompt, text) else None


def _comes_from_prompt(lesson: Lesson, practice: PracticePrompt) -> bool:
    """Whether the answer comes from the prompt alone, so that the model need not be asked."""
    return any(isinstance(trait, JsonKeys) and trait.covers(practice.fields) for trait in lesson.traits)


def _needs_model(one: PracticePrompt, lesson: Lesson) -> bool:
    return adherent_answer(lesson, one, one.answer) is None


def _needs_telling(lesson: Lesson) -> bool:
    """Of JSON a program can write what the prompt or the model's answer says, but nothing else."""
    return any(
        not trait.needs_answer() if isinstance(trait, JsonKeys) else trait.kind in _UNWRITABLE
        for trait in lesson.traits
    )


def _request(one: PracticePrompt, lesson: Lesson, is_told: bool) -> SamplingRequest:
    if not is_told:
        return SamplingRequest(one.practice_id, one.prompt, 1, 0.0, _REWRITTEN_TOKENS)
    gap = "" if one.language == "zh" else " "
    text = f"{one.prompt}{gap}{lesson.instruction(one.language)}"
    return SamplingRequest(one.practice_id, text, _SAMPLES, _TEMPERATURE, ANSWER_TOKENS)
