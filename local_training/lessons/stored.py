"""Lessons as JSON values and back, so that a lesson confirmed in one process is taught in another."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from local_training.lessons.addressing import AddressedByName
from local_training.lessons.fixed_texts import BeginsWith, EndsWith
from local_training.lessons.json_keys import JsonKeys
from local_training.lessons.layout import AsBullets, NoBullets, NoEmoji
from local_training.lessons.lengths import Shorter
from local_training.lessons.lesson import Lesson
from local_training.lessons.measures import MetricUnits
from local_training.lessons.replying import AnswersIn, FormalYou, SameLanguage
from local_training.lessons.traits import Trait

_ALL: Final = (
    AddressedByName, AnswersIn, AsBullets, BeginsWith, EndsWith, FormalYou, JsonKeys, MetricUnits, NoBullets, NoEmoji,
    SameLanguage, Shorter,
)  # fmt: skip
TRAIT_TYPES: Final[Mapping[str, type[Any]]] = {trait.kind: trait for trait in _ALL}


def lesson_value(lesson: Lesson) -> dict[str, Any]:
    return {
        "traits": [_trait_value(trait) for trait in lesson.traits],
        "incidental": [_trait_value(trait) for trait in lesson.incidental],
        "corrections": lesson.corrections,
    }


def lesson_from(value: Mapping[str, Any]) -> Lesson:
    """What `lesson_value` gave. Raises: ValueError where it is something else."""
    try:
        traits, incidental = (tuple(map(_trait_from, value[name])) for name in ("traits", "incidental"))
        return Lesson(traits, incidental, int(value["corrections"]))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"it is no lesson: {error!r}") from error


def _trait_value(trait: Trait) -> dict[str, Any]:
    # Every trait is a dataclass; the protocol cannot say so.
    return {"kind": trait.kind, **asdict(trait)}  # type: ignore[call-overload]


def _trait_from(value: Mapping[str, Any]) -> Trait:
    parameters = {name: _frozen(content) for name, content in value.items() if name != "kind"}
    trait: Trait = TRAIT_TYPES[value["kind"]](**parameters)
    return trait


def _frozen(content: Any) -> Any:
    return tuple(map(_frozen, content)) if isinstance(content, list) else content
