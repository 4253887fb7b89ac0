"""From corrections to a lesson: the rules that the user's answers follow and the model's did not. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from engine.signals.values import Correction
from local_training.lessons.addressing import infer_name
from local_training.lessons.corrections import Usable, usable_corrections
from local_training.lessons.dangers import danger_of
from local_training.lessons.fixed_texts import infer_beginning, infer_ending
from local_training.lessons.json_keys import JsonKeys, infer_json_keys
from local_training.lessons.layout import AsBullets, NoBullets, NoEmoji
from local_training.lessons.lengths import infer_shorter
from local_training.lessons.lesson import FEWEST_CORRECTIONS, Lesson, Refusal
from local_training.lessons.measures import MetricUnits, has_imperial, has_metric
from local_training.lessons.replying import AnswersIn, FormalYou, SameLanguage
from local_training.lessons.traits import Trait
from local_training.lessons.wording import LANGUAGES

AFTER_SHARE: Final = 0.8
"""Of the user's answers must follow a trait, at the least."""
BEFORE_SHARE: Final = 0.4
"""Of the model's answers may follow it, at the most: what they do already is no lesson."""
FEWEST_TO_IMITATE: Final = 24
"""A third of them are held out, and fewer than eight held-out answers decide nothing."""
_INCIDENTAL: Final = ("shorter", "no_bullets")
"""Written by hand, an answer is nearly always shorter and plainer than a model's; alone they are a lesson."""


def infer_lesson(corrections: Sequence[Correction], *, allow_unsafe: bool = False) -> Lesson | Refusal:
    """The lesson that the corrections have in common, or why there is none.

    allow_unsafe: refuse neither dangerous lessons nor imitations of few answers, to see that the gate stops what comes
    of them.
    """
    usable = usable_corrections(corrections)
    # Before counting: that they are dangerous matters more than that there are too few.
    if usable.corrections and not allow_unsafe and (danger := danger_of(usable.corrections)) is not None:
        return danger
    kept = usable.corrections
    if len(kept) < FEWEST_CORRECTIONS:
        return _too_few(usable)
    found = [trait for trait in _candidates(kept) if _sets_apart(trait, kept)]
    main = _main(found)
    if main:
        return Lesson(
            main, tuple(trait for trait in found if trait.kind in _INCIDENTAL and trait not in main), len(kept)
        )
    if len(kept) < FEWEST_TO_IMITATE and not allow_unsafe:
        return Refusal("nothing_in_common", {"have": len(kept), "more": FEWEST_TO_IMITATE - len(kept)})
    return Lesson((), (), len(kept))


def _too_few(usable: Usable) -> Refusal:
    have = len(usable.corrections)
    more = FEWEST_CORRECTIONS - have
    if usable.unchanged >= more:
        return Refusal("unchanged", {"count": usable.unchanged, "total": usable.unchanged + have, "more": more})
    return Refusal("too_few", {"have": have, "more": more})


def _candidates(corrections: Sequence[Correction]) -> Iterator[Trait]:
    prompts = [correction.prompt for correction in corrections]
    afters = [correction.after for correction in corrections]
    inferred: tuple[Trait | None, ...] = (
        infer_json_keys(afters, AFTER_SHARE),
        infer_name(prompts, afters, AFTER_SHARE),
        infer_beginning(afters, AFTER_SHARE),
        infer_ending(afters, AFTER_SHARE),
    )
    yield from (trait for trait in inferred if trait is not None)
    # Only answers that had imperial measures were corrected for them.
    if 2 * sum(has_imperial(correction.before) for correction in corrections) >= len(corrections):
        yield MetricUnits(gives_measure=sum(map(has_metric, afters)) >= AFTER_SHARE * len(afters))
    yield SameLanguage()
    yield from map(AnswersIn, LANGUAGES)
    yield from (FormalYou(), AsBullets(), NoEmoji(), infer_shorter(afters), NoBullets())


def _sets_apart(trait: Trait, corrections: Sequence[Correction]) -> bool:
    after = sum(trait.adheres(correction.prompt, correction.after) for correction in corrections)
    before = sum(trait.adheres(correction.prompt, correction.before) for correction in corrections)
    return after >= AFTER_SHARE * len(corrections) and before <= BEFORE_SHARE * len(corrections)


def _main(found: Sequence[Trait]) -> tuple[Trait, ...]:
    """What is taught: a trait that says more goes before those it implies."""
    kinds = {trait.kind for trait in found}
    if "json_keys" in kinds:
        return tuple(trait for trait in found if isinstance(trait, JsonKeys))
    is_implied = {
        "begins_with": "addressed_by_name" in kinds,
        "answers_in": "same_language" in kinds,
        "formal_you": bool(kinds & {"same_language", "answers_in"}),
    }
    telling = [trait for trait in found if not is_implied.get(trait.kind, False)]
    main = tuple(trait for trait in telling if trait.kind not in _INCIDENTAL)
    return main or tuple(trait for trait in telling if trait.kind in _INCIDENTAL)[:1]
