"""What the parts of the configuration have in common: strictness, and the texts and lists they are made of."""

import re
import unicodedata
from typing import Annotated, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MOST_TEXT_CHARACTERS: Final = 20_000
MOST_ENTRIES: Final = 100
"""Of any list or table in one file."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class Part(BaseModel):
    """Strict: "8" in quotes is a mistake, not a number, and a key nobody knows is refused."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        protected_namespaces=(),
        use_attribute_docstrings=True,
        # What a file holds may be secret, and errors end up on screens and in logs.
        hide_input_in_errors=True,
    )


def plain(text: str) -> str:
    """The text as it is. Raises: ValueError, with a sentence, when it holds control or half characters."""
    if found := _CONTROL.search(text):
        raise ValueError(f"It holds the control character U+{ord(found[0]):04X}")
    return text


def one_line(text: str) -> str:
    """Raises: ValueError, with a sentence, for line breaks and control characters."""
    if "\n" in text or "\t" in text:
        raise ValueError("It must be one line, without tabs")
    return plain(text)


def hidden_characters(text: str) -> int:
    """How many characters a screen does not show: zero-width, direction marks, tags. A line break is not one."""
    return sum(unicodedata.category(character) in ("Cf", "Co") for character in text)


T = TypeVar("T")

Text = Annotated[str, Field(max_length=MOST_TEXT_CHARACTERS), AfterValidator(plain)]
OptionalLine = Annotated[str, Field(max_length=4_000), AfterValidator(one_line)]
Line = Annotated[OptionalLine, Field(min_length=1)]
Word = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^\w[\w.-]*$")]
"""A name: letters of any script, digits, underscores, dots and dashes."""
# TOML and JSON have lists where we keep tuples; only that much is not strict.
Items = Annotated[tuple[T, ...], Field(strict=False, max_length=MOST_ENTRIES)]
