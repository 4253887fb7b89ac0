"""Requests that have nothing to do with what is trained: on them a good adapter should leave the anchor as it was.

Everyday English and Chinese of many kinds. Written for this purpose; no recipe trains on them.
"""

from typing import Final

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
