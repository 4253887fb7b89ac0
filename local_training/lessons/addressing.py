"""The trait of being addressed by a name: which name, and whether the answer opens with it."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from local_training.lessons.traits import Fields, Values
from local_training.lessons.wording import folded, has_han

_GREETING: Final = r"(?:(?:hi|hello|hey|dear|good morning|ok|okay|well|sure|yes|你好|您好|嗨|亲爱的|尊敬的)[,，\s]*)?"
_LATIN_NAME: Final = r"[A-Z][\w'’-]{0,24}(?: [A-Z][\w.'’-]{0,24}){0,2}"
_HAN_NAME: Final = r"[\u4e00-\u9fff]{1,6}"
_OPENING: Final = re.compile(rf"^((?i:{_GREETING}))({_LATIN_NAME}|{_HAN_NAME})\s*([,，!！:：])\s*")
_VOCATIVE: Final = re.compile(rf"[,，]\s*({_LATIN_NAME}|{_HAN_NAME})\s*(?=[,，.!?。！？]|$)")
_NO_NAMES: Final = """
yes no sure well ok okay right exactly absolutely indeed actually first second finally however also then so great thanks
sorry hello hi generally usually typically today yesterday tomorrow certainly course correct agreed
是的 是 对 不 不是 好的 好 当然 没错 首先 其次 然后 最后 另外 此外 一般 一般来说 通常 同意 确实 你好 您好 谢谢 抱歉
您说得对 你说得对 完全正确 其实 总之 因此 所以 例如 比如
"""
# Words that begin sentences and are no names, so that they may lose their capital after one.
_SMALL_WORDS: Final = """
The A An It Its This That These Those There To In On At For From With By If When While You Your We They One Some Most
Many All Each Every Yes No Try Use Take Put Add Make Keep Go Start Mix Cut Wash Let Place
"""


@dataclass(frozen=True, slots=True)
class AddressedByName:
    """The answer addresses the user as `name`: at its very start, or anywhere."""

    kind: ClassVar[str] = "addressed_by_name"
    name: str
    opening: str
    """How the user's answers open, such as `Mira, ` or `您好，王先生，`; empty where the name may stand anywhere."""
    lowers: bool = False
    """Whether the user's answers go on in lower case after the opening."""

    @property
    def values(self) -> Values:
        return {"name": self.name, "opening": self.opening.strip()}

    def adheres(self, prompt: str, answer: str) -> bool:
        text = answer.strip()
        if not self.opening:
            return _contains(text, self.name) and text != self.name
        found = next((start for start in (self.opening.strip(), self.name) if text.startswith(start)), None)
        return found is not None and text[len(found) :].strip(",，!！:：. ") != "" and _contains(text, self.name)

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        text = answer.strip()
        if not text or self.adheres(prompt, text):
            return text or None
        if self.opening:
            return self.opening + (_lowered(text) if self.lowers else text)
        end = text[-1] if text[-1] in ".!?。！？" else ""
        comma = "，" if has_han(text) else ", "
        return f"{text.removesuffix(end)}{comma}{self.name}{end or '.'}"


def infer_name(prompts: Sequence[str], afters: Sequence[str], share: float) -> AddressedByName | None:
    """The name in at least `share` of the answers, unless the questions are about it."""
    openings = [match for after in afters if (match := _OPENING.match(after.strip()))]
    name = _usual((match.group(2) for match in openings), len(afters), share, prompts)
    if name is not None:
        matches = [match for match in openings if match.group(2) == name]
        opening = Counter(match.group(0) for match in matches).most_common(1)[0][0]
        following = [match.string[match.end() : match.end() + 1] for match in matches]
        return AddressedByName(name, opening, 2 * sum(map(str.islower, following)) > len(following))
    vocatives = (called for after in afters for called in set(_VOCATIVE.findall(after)))
    name = _usual(vocatives, len(afters), share, prompts)
    return None if name is None else AddressedByName(name, "")


def _usual(names: Iterable[str], count: int, share: float, prompts: Sequence[str]) -> str | None:
    counted = Counter(name for name in names if folded(name) not in _NO_NAMES.split())
    if not counted:
        return None
    name, times = counted.most_common(1)[0]
    asked = sum(_contains(prompt, name) for prompt in prompts)
    return name if times >= share * count and asked < len(prompts) / 2 else None


def _contains(text: str, name: str) -> bool:
    """As a whole name: `Ann` is not in `Annual`."""
    return re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", text) is not None


def _lowered(text: str) -> str:
    first = re.match(r"[A-Za-z]+", text)
    return text[0].lower() + text[1:] if first and first.group() in _SMALL_WORDS.split() else text
