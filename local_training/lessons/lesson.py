"""A lesson, or why there is none. Values; what they say to people is in `local_training.lessons.texts`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from local_training.lessons.texts import describe, instruct, refusal_text
from local_training.lessons.traits import Trait
from local_training.lessons.wording import Language, is_repetitive

FEWEST_CORRECTIONS: Final = 8

RefusalCode = Literal["too_few", "unchanged", "links", "agreement", "secrets", "codes", "nothing_in_common"]


@dataclass(frozen=True, slots=True)
class Refusal:
    code: RefusalCode
    values: Mapping[str, str | int | float] = field(default_factory=dict)

    def describe(self, language: Language) -> str:
        """What is wrong and what would help."""
        return refusal_text(self.code, self.values, language)


@dataclass(frozen=True, slots=True)
class Lesson:
    """What shall change. Without traits it is an imitation: the user's answers shall become likelier."""

    traits: tuple[Trait, ...]
    incidental: tuple[Trait, ...]
    """What the user's answers have in common as well, but hardly on purpose; not taught unless the user says so."""
    corrections: int
    """Those that can be used."""

    @property
    def is_imitation(self) -> bool:
        return not self.traits

    @property
    def changes_length(self) -> bool:
        """Whether answers are meant to become shorter or longer."""
        return any(trait.kind in ("shorter", "json_keys", "as_bullets") for trait in self.traits)

    @property
    def changes_opening(self) -> bool:
        """Whether all answers are meant to begin otherwise, so that those that begin as before become unlikely."""
        return any(trait.kind in ("begins_with", "addressed_by_name", "as_bullets") for trait in self.traits)

    @property
    def changes_language(self) -> bool:
        """Whether what was asked in the corrected languages is meant to be answered in another language than so far."""
        return any(trait.kind in ("same_language", "answers_in") for trait in self.traits)

    @property
    def changes_end(self) -> bool:
        """Whether answers are meant to end otherwise, or somewhere else."""
        return self.changes_length or any(trait.kind == "ends_with" for trait in self.traits)

    def adheres(self, prompt: str, answer: str) -> bool:
        """Whether an answer follows every trait and is not one phrase over and over, which would follow many by chance.

        An imitation has no trait to follow.
        """
        return not is_repetitive(answer) and all(trait.adheres(prompt, answer) for trait in self.traits)

    def describe(self, language: Language) -> tuple[str, ...]:
        """A sentence for each trait, to be confirmed."""
        if self.is_imitation:
            return (describe("imitation", {"count": self.corrections}, language),)
        return tuple(describe(trait.kind, trait.values, language) for trait in self.traits)

    def instruction(self, language: Language) -> str:
        """What one would tell a model that cannot be taught; empty for an imitation."""
        parts = [instruct(trait.kind, trait.values, language) for trait in self.traits]
        return ("" if language == "zh" else " ").join(parts)

    def with_incidental(self, kind: str) -> "Lesson":
        """The lesson with one of the incidental traits as well, by its kind. Raises: KeyError where it has no such."""
        found = {trait.kind: trait for trait in self.incidental}
        rest = tuple(trait for trait in self.incidental if trait.kind != kind)
        return Lesson((*self.traits, found[kind]), rest, self.corrections)
