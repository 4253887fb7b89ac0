"""Checks of a memory against the world outside it: its day has passed, the user said so, its link is dead.

Pure but for the function that is given to look at a link. Each says what happened to the memory, or nothing; what
follows from that is said by `weighting`.
"""

import re
from collections.abc import Callable
from datetime import date
from typing import Final

from engine.memory.scripts import simplified
from engine.memory.values import Memory, Statement
from engine.memory.weighting import Event
from engine.memory.words import content_terms

IsAlive = Callable[[str], bool | None]
"""Whether a link answers; None where that cannot be said now, such as without a network."""

_LINK: Final = re.compile(r"https?://[^\s<>\"'“”，。、）)\]]+")
_OVER: Final = re.compile(
    r"\b(?:(?:is|are|has|have|was|were|'s)\s+(?:now\s+|just\s+|been\s+|already\s+|permanently\s+)*"
    r"(?:closed|shut(?: down)?|gone|cancell?ed|discontinued|bankrupt|out of business|called off)"
    r"|(?:closed|shut) (?:down|for good|permanently)|went (?:bankrupt|out of business)"
    r"|(?:is|are)(?: no longer|n't) (?:there|open|running|true|available|a thing)(?: any ?more)?"
    r"|(?:no longer|doesn't|does not) exists?)"
    r"|(?:关门|倒闭|停业|歇业|关闭|取消|停产|下架|没了|不在了|拆了)(?:了|掉)?|不(?:再)?营业|已经不(?:存在|开)了?",
    re.IGNORECASE,
)
_ROUND_ABOUT: Final = re.compile(
    r"\b(?:for good|permanently|for ever|forever|down|already|now)\b|已经?|早就|永久|刚刚|[那这][家个间所里]|听说"
    r"|好像|可惜",
    re.IGNORECASE,
)
_STILL: Final = re.compile(
    r"\b(?:isn't|aren't|hasn't|haven't|not|never|reopened|open again)\b[^.!?]{0,20}\b(?:closed|shut|cancell?ed|gone)\b"
    r"|\bre-?opened\b|没(?:有)?(?:关门|倒闭|停业|取消)|重新(?:开|营业)",
    re.IGNORECASE,
)


def date_passed(memory: Memory, today: date) -> Event | None:
    """A plan whose day is over; it is no longer something to come."""
    return "check_failed" if memory.due_on and date.fromisoformat(memory.due_on) < today else None


def link_dead(memory: Memory, is_alive: IsAlive) -> Event | None:
    """Of a memory that names a link: dead when none of its links answers, borne out when all do."""
    answers = [is_alive(link) for link in links(memory.text)]
    if not answers or None in answers:
        return None
    return "check_passed" if all(answers) else "check_failed" if not any(answers) else None


def links(text: str) -> tuple[str, ...]:
    return tuple(found.rstrip(".,;:!?") for found in _LINK.findall(text))


def user_said_so(memory: Statement, sentence: str) -> Event | None:
    """A sentence the user typed that says that what the memory is about is over: closed, cancelled, gone.

    It is about the memory when all that it names, without the words that say it is over, occurs there.
    """
    if not says_over(sentence):
        return None
    named = content_terms(_ROUND_ABOUT.sub(" ", _OVER.sub(" ", simplified(sentence)))) - _UNNAMED
    return "check_failed" if named and named <= content_terms(memory.text) else None


def says_over(sentence: str) -> bool:
    """Whether a sentence tells that something has ended."""
    plain = simplified(sentence)
    return bool(_OVER.search(plain)) and not _STILL.search(plain)


_UNNAMED: Final = content_terms(
    "unfortunately sadly apparently heard restaurant cafe shop place store bar bad news yesterday today week month year"
    " last recently 听说 昨天 今天 上周 上个月 最近 餐厅 那家 这家 可惜 已经 永久"
)
"""Words that tell what sort of thing it is or when, but not which."""
