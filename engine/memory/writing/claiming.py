"""Whether an answer says that something was remembered, which is held against what was really written. Pure."""

import re
from typing import Final

from engine.memory.scripts import simplified
from engine.memory.writing.patterns import any_of

_CODE: Final = re.compile(r"(`{3,}).*?(?:\1|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED: Final = re.compile(r"“[^”]*”|\"[^\"\n]*\"|「[^」]*」|『[^』]*』|^[ \t]*>.*$", re.MULTILINE)
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+[.!?。！？]?")
_CLAIM: Final = any_of(
    r"\bI(?:'ll| will|'m going to| am going to| shall)(?: \w+ly)?(?: be sure to| make sure to| try to| always)?"
    r" (?:remember|keep (?:that|this|it|those|your \w+) in mind|bear (?:that|this|it) in mind|keep track of"
    r"|make (?:a|a mental) note|note (?:that|this|it)|save (?:that|this|it)|store (?:that|this|it)|memori[sz]e"
    r"|not forget|never forget)\b",
    r"\bI(?:'ve| have)?(?: now| just| already)? (?:remembered|noted|saved|stored|memori[sz]ed|recorded|written down"
    r"|made a note|taken note|added (?:that|this|it) to (?:my|your) (?:memory|memories|notes?|profile))\b",
    r"^(?:(?:got it|ok(?:ay)?|sure|great|thanks|thank you|alright|perfect|understood)[,.!:]? +)?(?:duly )?(?:noted"
    r"|saved|remembered)\b(?! (?:that )?(?:by|in the|for its|as a))",
    r"\b(?:your (?:preference|request|note|information|birthday|name)s?|that|this|it)(?:'s| is| has been| have been"
    r"|'ve been) (?:now )?(?:saved|stored|noted|remembered|recorded)(?: (?:to|in) (?:my|your) memory)?\b",
    r"\bI won't forget\b",
    "(?:我|已经?|都|会|一定)(?:会|将|已经?|都|把(?:它|这个|这些|这一点|这点)?|帮你|为你|替你|给你|一定|永远|一直)*"
    "(?:记住|记下|记着|记得|牢记|保存|记录|存下|存好|备注|铭记)(?:了|这|你|您|它|下来|好)?",
    "^(?:好的?|没问题|明白|收到|了解)?[，,！!。]?(?:已)?(?:记住了|记下了|记下来了|已记住|已保存|已记录|已备注"
    "|不会忘记?)",
)
_NO_CLAIM: Final = any_of(
    r"\b(?:can(?:'t|not)|could(?:n't| not)|don't|do not|won't be able to|unable to|not able to|wouldn't"
    r"|if you (?:want|like)|should I|shall I|would you like|do you want|if I|as far as I|I'll remember to)\b",
    r"\?\s*$",
    "不能|无法|没法|不会记(?!不)|没有记忆|记不住|要不要|需要我|是否|如果|吗[？?]|？$|你(?:可以|要|应该)记",
)


def claim_in(answer: str) -> str | None:
    """The sentence in which an answer says that it has remembered or will remember something; None where none does."""
    said = _QUOTED.sub(" ", _CODE.sub(" ", answer))
    for sentence in _SENTENCE.findall(said):
        plain = simplified(sentence.strip())
        if _CLAIM.search(plain) and not _NO_CLAIM.search(plain):
            return " ".join(sentence.split())
    return None


def unkept_claim(answer: str, written: int) -> str | None:
    """The claim, if nothing was written in this turn: then it has to be written now, or to be said that it was not."""
    return None if written else claim_in(answer)
