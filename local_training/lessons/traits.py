"""What a trait is. Each family of traits has a module of its own; this one knows none of them."""

from collections.abc import Mapping
from typing import ClassVar, Protocol

Values = Mapping[str, str | int | float]
"""What the placeholders of a sentence stand for."""
Fields = Mapping[str, str | int]
"""What a practice prompt says of its own content, such as {"name": "Ada", "age": 36}."""
NO_FIELDS: Fields = {}


class Trait(Protocol):
    """A rule that a program can check. A frozen value: two with the same parameters are equal."""

    kind: ClassVar[str]

    @property
    def values(self) -> Values:
        """For the sentences of `local_training.lessons.texts` under this kind."""
        ...

    def adheres(self, prompt: str, answer: str) -> bool:
        """Whether an answer to `prompt` follows the rule. An empty answer follows none."""
        ...

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        """The model's own answer, changed to follow the rule; None where a program cannot do that well."""
        ...
