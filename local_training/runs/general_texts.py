"""Requests that have nothing to do with what is trained: on them a good adapter should leave the anchor as it was.

Everyday English and Chinese of many kinds, written for this purpose. On a few it is measured how far a policy moved;
on others, which are a file, a run can hold it back.
"""

from functools import cache
from typing import Final

from engine.assets import asset_path

GENERAL_REQUESTS: Final = (
    "Tell me a short story about a lighthouse keeper and a lost kite.",
    "How do I get red wine out of a white tablecloth?",
    "Write a polite e-mail to my landlord about a dripping tap.",
    "请用三句话介绍一下长城。",
    "Explain to a ten-year-old why the sky is blue.",
    "Write a Python function that counts the words in a text file.",
    "我明天要去面试，有什么建议？",
    "Give me three ideas for a rainy Sunday with two children.",
)
ANSWER_TOKENS: Final = 32
"""Of the anchor's own answer to each, on which the KL is taken."""


@cache
def everyday_requests() -> tuple[str, ...]:
    """Those that runs hold a policy to; none of them is measured."""
    return tuple(asset_path("tasks", "everyday.txt").read_text(encoding="utf-8").splitlines())
