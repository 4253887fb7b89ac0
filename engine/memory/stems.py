"""English words without their commonest endings. Pure; two forms of a word mostly get the same stem, word or not."""

import re
from functools import lru_cache
from typing import Final

_SHORTEST: Final = 4
_ENDINGS: Final = ("ingly", "edly", "ing", "ed", "ly")
_VOWEL: Final = re.compile(r"[aeiouy]")
_DOUBLED: Final = re.compile(r"([bdfgmnprt])\1$")
_IRREGULAR: Final = {
    form: base
    for base, forms in {
        "begin": "began begun",
        "break": "broke broken",
        "bring": "brought",
        "build": "built",
        "buy": "bought",
        "child": "children",
        "choose": "chose chosen",
        "drink": "drank drunk",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "feel": "felt",
        "find": "found",
        "fly": "flew flown flies",
        "forget": "forgot forgotten",
        "grow": "grew grown",
        "keep": "kept",
        "know": "knew known",
        "learn": "learnt",
        "leave": "left",
        "lose": "lost",
        "man": "men",
        "meet": "met",
        "pay": "paid",
        "person": "people",
        "ride": "rode ridden",
        "run": "ran",
        "sell": "sold",
        "sing": "sang sung",
        "sleep": "slept",
        "speak": "spoke spoken",
        "spend": "spent",
        "swim": "swam swum",
        "take": "took taken",
        "teach": "taught",
        "tell": "told",
        "think": "thought",
        "wear": "wore worn",
        "win": "won",
        "woman": "women",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a folded word; anything but an English word of four letters or more comes back as it is."""
    word = _IRREGULAR.get(word, word)
    if len(word) < _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    word = _without_ending(_without_plural(word))
    return word[:-1] if len(word) > 3 and word[-1] in "ey" else word


def _without_plural(word: str) -> str:
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_ending(word: str) -> str:
    for ending in _ENDINGS:
        root = word.removesuffix(ending)
        if root != word and len(root) > 2 and _VOWEL.search(root):
            return _DOUBLED.sub(r"\1", root)
    return word
