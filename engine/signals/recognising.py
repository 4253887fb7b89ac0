"""A better answer in a message of the user: "better: …" or "更好：…". Pure: text in, the answer out.

Only what the whole message is about counts: the words stand at its beginning and a colon follows them. In the middle of
a sentence, in a quotation or in a block of code they mean nothing.
"""

import re
from typing import Final

_OPENING: Final = re.compile(
    r" {0,3}(?:better(?: answer)?|更好|更好的(?:回答|答案)|应该是)[ \t]*[:：](?!//)\s*(?=\S)", re.IGNORECASE
)
"""At most three blanks before it: with four a line is code in Markdown."""


def better_answer(message: str) -> str | None:
    """What should have been answered, word for word; None for any other message."""
    message = message.lstrip("\n")
    opening = _OPENING.match(message)
    return message[opening.end() :].rstrip() if opening else None
