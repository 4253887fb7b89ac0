"""Requests as people type them: a phrase, something said around it, carelessness. Pure; knows no experts, no labels."""

import random
import re
from collections.abc import Mapping
from typing import Final

from local_training.routing.phrases import Bank, Language, filled

_LONG_SHARE: Final = 0.10
"""Of requests that come with so much background that the router reads only head and tail."""
_FOLLOW_UP_SHARE: Final = 0.05
_FRAME_SHARE: Final = 0.30
_FOREIGN_SHARE: Final = 0.12
"""Of frames, those in the other language."""
_TYPO_SHARE: Final = 0.15
_CONFUSED: Final = (("的", "得"), ("再", "在"), ("吗", "嘛"), ("做", "作"), ("帐", "账"), ("哪", "那"), ("它", "他"))
"""Characters that are typed for each other, mostly because they sound alike."""
_WORD: Final = re.compile(r"[a-z]{4,}")


def spoken(phrase: str, language: Language, banks: Mapping[Language, Bank], chance: random.Random) -> str:
    """One request made of `phrase`, another one for every state of `chance`."""
    bank = banks[language]
    text = filled(phrase, bank.slots, chance)
    if chance.random() < _FOLLOW_UP_SHARE:
        text = _joined(chance.choice(bank.frames["follow_up"]), text)
    if chance.random() < _FRAME_SHARE:
        text = _framed(text, language, banks, chance)
    if chance.random() < _TYPO_SHARE:
        text = _mistyped(text, language, chance)
    text = _careless(text, language, chance)
    if chance.random() < _LONG_SHARE:
        context = chance.choice(bank.frames["context"])
        text = _joined(context, text) if chance.random() < 0.7 else _joined(text, context)
    return text


def _framed(text: str, language: Language, banks: Mapping[Language, Bank], chance: random.Random) -> str:
    other: Language = "chinese" if language == "english" else "english"
    frames = banks[other if chance.random() < _FOREIGN_SHARE else language].frames
    if chance.random() < 0.6:
        return _joined(chance.choice(frames["before"]), text)
    return _joined(text.rstrip("?？.。"), chance.choice(frames["after"]))


def _joined(one: str, other: str) -> str:
    """With a space where Latin writing wants one."""
    return f"{one} {other}" if one[-1].isascii() and (other[0].isascii() and other[0] not in ",.!?") else one + other


def _mistyped(text: str, language: Language, chance: random.Random) -> str:
    if language == "chinese":
        one, other = chance.choice(_CONFUSED)
        return text.replace(one, other, 1)
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word = chance.choice(words)
    place = chance.randrange(word.start() + 1, word.end() - 1)
    slips = (
        text[place + 1] + text[place],  # in the wrong order
        text[place + 1],  # left out
        text[place] * 2 + text[place + 1],
    )
    return text[:place] + chance.choice(slips) + text[place + 2 :]


def _careless(text: str, language: Language, chance: random.Random) -> str:
    """Capitals and end marks as people set them or do not."""
    style = chance.random()
    if language == "chinese":
        if style < 0.3:
            return text.rstrip("？。")
        return f"{text}。" if style < 0.5 and text[-1] not in "？。！～?!:：" else text
    if style < 0.35:
        return text
    text = text[0].upper() + text[1:]
    return f"{text}." if style > 0.65 and text[-1].isalnum() else text
