"""Text that comes from outside, as an argument or on standard input. Always UTF-8, whatever the locale says."""

import os
from typing import Final, TextIO

from app.output import is_terminal
from engine.errors import BadText

_HINT = "Save or send the text as UTF-8."


def argument_text(argument: str) -> str:
    """An argument as it was meant: Python decodes arguments in the encoding of the locale.

    Raises: BadText when its bytes are not UTF-8.
    """
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError as error:
        raise BadText(f"An argument is not valid UTF-8{_position(error)}.", _HINT) from error


def expert_label(argument: str) -> str:
    """An expert as it is written everywhere: "l2" is L2, as it is in a message that begins with "@l2".

    Raises: BadText.
    """
    return argument_text(argument).upper()


_NO_QUESTION: Final = ("No question was given.", 'Write it after the verb: macaron ask "your question".')


def question(text: str | None, standard_input: TextIO | None, missing: tuple[str, str] = _NO_QUESTION) -> str:
    """The question: the argument, or all of standard input without the line end that ends it.

    Raises: BadText when there is none, which says `missing` (problem, hint), or it is not UTF-8.
    """
    if text is not None and text != "-":
        return text
    if standard_input is None or is_terminal(standard_input):
        raise BadText(*missing)
    try:
        return standard_input.buffer.read().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise BadText(f"Standard input is not valid UTF-8{_position(error)}.", _HINT) from error


def _position(error: UnicodeError) -> str:
    return f" (at byte {error.start + 1})" if isinstance(error, UnicodeDecodeError) else ""
