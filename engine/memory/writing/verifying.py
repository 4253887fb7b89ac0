"""Whether what somebody proposes to remember may be kept: the last word before a memory is written.

Pure. Whoever proposes, a rule or a model, nothing is kept that the user's own words do not say: no name, number or
thing that is not in the evidence, no text of the system, no memory that was only read back, and no secret.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from engine.memory.escaping import escaped
from engine.memory.scripts import simplified
from engine.memory.stems import stem
from engine.memory.words import content_terms, held_terms
from engine.memory.writing.own_words import own_text
from engine.memory.writing.patterns import any_of
from engine.memory.writing.proposals import Proposal

TEXT_CHARACTERS: Final = 300

Reason = Literal["nothing", "too_long", "no_evidence", "invented", "turned", "system", "recalled", "secret", "passing"]
"""Why a proposal is refused: it says nothing; it is too long; its evidence is not in the user's own words; it holds
what the evidence does not; it says the opposite of its evidence; it repeats the system's text; it repeats a memory that
was read back; it holds a password or the like; it will not matter any more tomorrow."""


@dataclass(frozen=True, slots=True)
class Refused:
    proposal: Proposal
    reason: Reason


@dataclass(frozen=True, slots=True)
class Said:
    """What a proposal is held against."""

    message: str
    """The user's message as it was typed."""
    sentences: Sequence[str]
    """What of it they say for themselves."""
    system_texts: Sequence[str] = ()
    """What the model was told by others than the user, such as the head and results of tools."""
    recalled: Sequence[str] = ()
    """The texts of memories that the model read in this turn."""


_GLUE_TEXT: Final = """
    user users prefers prefer likes like loves love enjoys dislikes dislike hates hate wants want wishes lives live
    living works work working has have had owns own uses use speaks speak named name called call moved move no
    longer currently now is are was does not doesn don and or the a an to in at of for with on by from as their they
    them his her its he she it who that this about be been being will plans plan going drinks drink eats eat
    favourite favorite allergic person kind sort always never usually often every should answer answers reply
    assistant stopped stop changed change former formerly previously job city home
"""
_GLUE: Final = frozenset(_GLUE_TEXT.split())
"""English words that tell about a memory's speaker without adding anything."""
_CHINESE_GLUE: Final = frozenset(
    "用户的是有在和与或不没了他她它们自己喜欢爱讨厌住工作叫名字会能要想打算计划每经常现在已经再更最很也都对过敏从来使用拥有"
    "为一个只名位这那其本人这该其中以后请回答总是偏好习惯搬到换改变成去到于被给把将"
)
_CHINESE_NUMBERS: Final = frozenset("零一二两三四五六七八九十")
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME: Final = re.compile(r"(?<![\w'’])[A-Z][\w'’-]*|\b[a-z]+[A-Z]\w*")
_WORD: Final = re.compile(r"[\w'’-]+")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_NUMBER_WORDS: Final = {
    word: str(number)
    for number, words in enumerate(
        (
            "zero 零",
            "one once 一",
            "two twice 二 两",
            "three 三",
            "four 四",
            "five 五",
            "six 六",
            "seven 七",
            "eight 八",
            "nine 九",
            "ten 十",
            "eleven 十一",
            "twelve 十二",
        )
    )
    for word in words.split()
}
_NEGATIVE: Final = any_of(
    r"\b(?:not|no|never|none|neither|nor|without|hates?|dislikes?|detests?|loathes?|stopped|quit|gave up|given up"
    r"|refuses?|avoids?|cannot)\b",
    r"n['’]t\b",
    "不|没|别|无|戒|讨厌|厌恶|反感|从未|拒绝|避免|受不了",
)
_SECRET: Final = any_of(
    r"\b(?:pass(?:word|phrase|code)|pin(?: code| number)?|cvv|cvc|private key|secret key|api key|access token"
    r"|seed phrase|social security|ssn)\b[^.]{0,20}(?:\bis\b|:|=)",
    "(?:密码|口令|验证码|密钥|助记词|身份证号?|银行卡号?|卡号)[^，。]{0,6}(?:是|为|：|:)",
    r"\b(?:sk|pk|ghp|gho|xox[abp]|AKIA|AIza|hf)[-_]?[A-Za-z0-9_-]{16,}\b",
    r"\b(?:\d[ -]?){13,19}\b",
    r"-----BEGIN [A-Z ]*KEY",
)
_PASSING: Final = any_of(
    r"\b(?:right now|at the moment|just a (?:sec|second|minute|moment)|this (?:very )?(?:minute|second|moment))\b",
    r"^(?:i|we)(?:'m| am|'re| are) (?:here|back|done|ready|sorry|fine|good|ok|okay|sure|glad|happy to|tired|bored"
    r"|hungry"
    r"|confused|stuck|late|busy|trying|looking at|wondering|asking|talking|thinking|getting (?:an?|this) error)\b",
    r"^(?:我)?(?:现在)?(?:好|很)?(?:累|困|饿|渴|烦|无聊|忙|在忙|在看|在听|明白|懂|知道|理解|同意|试试?|看看"
    r"|来了)(?:了|啊|呀)?$|此刻|这会儿",
)


def verify(proposal: Proposal, said: Said) -> Proposal | Refused:
    """The proposal with its texts made harmless, or why not."""
    tidy = replace(proposal, text=escaped(proposal.text), evidence=escaped(proposal.evidence))
    reason = _objection(tidy, said)
    return Refused(proposal, reason) if reason else tidy


def is_negative(text: str) -> bool:
    """Whether it says that something is not so or not liked."""
    return bool(_NEGATIVE.search(simplified(text)))


def _objection(proposal: Proposal, said: Said) -> Reason | None:
    text, evidence = proposal.text, proposal.evidence
    if all(map(_is_glue, content_terms(text))):
        return "nothing"
    if len(text) > TEXT_CHARACTERS:
        return "too_long"
    if not _is_said(evidence, said):
        return "no_evidence"
    if any(_SECRET.search(simplified(part)) for part in (text, evidence)):
        return "secret"
    if any(_repeats(evidence, other) or _repeats(text, other) for other in said.system_texts):
        return "system"
    if invented_in(text, evidence):
        return "recalled" if any(_is_close(text, line) for line in said.recalled) else "invented"
    if is_negative(text) != is_negative(evidence) and proposal.author == "model":
        return "turned"
    return "passing" if _PASSING.search(simplified(text)) and not proposal.is_asked_for else None


def invented_in(text: str, evidence: str) -> tuple[str, ...]:
    """The numbers, names and words of `text` that its evidence does not hold."""
    text, evidence = simplified(text), simplified(evidence)
    numbers, held = _numbers(evidence), held_terms(evidence)
    words = {word.casefold() for word in _WORD.findall(evidence)}
    found = [number for number in _numbers(text) if number not in numbers]
    found += [name for name in _NAME.findall(text) if name.casefold() not in words and not _is_glue(name)]
    found += [
        term
        for term in held_terms(text)
        if term not in held and not _HAN.search(term) and not _is_glue(term) and not term.isdecimal()
    ]
    characters = set(evidence) | _CHINESE_NUMBERS
    found += [character for character in _HAN.findall(text) if character not in characters | _CHINESE_GLUE]
    return tuple(dict.fromkeys(found))


def agree(one: str, other: str) -> bool:
    """Whether two texts name the same numbers, and neither a name that the other does not hold."""
    return _numbers(one) == _numbers(other) and _names_held(one, other) and _names_held(other, one)


def adds_nothing(text: str, to: str) -> bool:
    """Whether all numbers and names of `text` are in the other one, which may name more."""
    return _numbers(text) <= _numbers(to) and _names_held(text, to)


def names_in(text: str) -> tuple[str, ...]:
    """Words with a capital letter that does not begin the text, folded."""
    names = (name.casefold() for name in _NAME.findall(text[:1].lower() + text[1:]) if not _is_glue(name))
    return tuple(name for name in names if name not in _PRONOUNS)


def is_number(term: str) -> bool:
    return term.isdecimal() or term in _NUMBER_STEMS or term in _CHINESE_NUMBERS


def _names_held(text: str, by: str) -> bool:
    held = {word.casefold() for word in _WORD.findall(by)}
    return held.issuperset(names_in(text))


def _is_said(evidence: str, said: Said) -> bool:
    """In one of the sentences that the user says for themselves."""
    wanted = _folded(evidence)
    if not wanted:
        return False
    return any(wanted in _folded(escaped(sentence)) for sentence in said.sentences) and wanted in _folded(
        escaped(own_text(said.message))
    )


def _is_glue(word: str) -> bool:
    folded = word.casefold().removesuffix("'s").removesuffix("’s")
    return folded in _GLUE or stem(folded) in _GLUE_STEMS


def _numbers(text: str) -> frozenset[str]:
    """As digits; written out ones count too."""
    folded = text.casefold()
    written = {
        _NUMBER_WORDS[word]
        for word in re.findall(r"[a-z]+|[零一二两三四五六七八九十]+", folded)
        if word in _NUMBER_WORDS
    }
    return frozenset(number.replace(",", "") for number in _NUMBER.findall(text)) | written


def _folded(text: str) -> str:
    """For finding one text within another: without case, white space and punctuation."""
    return "".join(
        character
        for character in unicodedata.normalize("NFKC", text).casefold()
        if character.isalnum() or character == "’"
    )


def _repeats(text: str, other: str) -> bool:
    """Whether `other` holds `text`, or as good as all of its words in a row."""
    return len(_folded(text)) >= _SHORTEST_REPEATED and _folded(text) in _folded(other)


def _is_close(text: str, other: str) -> bool:
    return overlap(content_terms(text), content_terms(other)) >= _CLOSE


def overlap(one: Collection[str], other: Collection[str]) -> float:
    """The share of all their terms that both hold."""
    return len(set(one) & set(other)) / (len(set(one) | set(other)) or 1)


_PRONOUNS: Final = frozenset(("i", "i'm", "i've", "i'd", "i'll", "i’m", "i’ve", "i’d", "i’ll"))
_NUMBER_STEMS: Final = frozenset(map(stem, _NUMBER_WORDS))
_GLUE_STEMS: Final = frozenset(map(stem, _GLUE))
_SHORTEST_REPEATED: Final = 12
"""Shorter texts are like others by accident."""
_CLOSE: Final = 0.6
