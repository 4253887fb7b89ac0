"""Rewards for the form of an answer: its language, its length, its shape. None of them tells whether it is right."""

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from local_training.rewards.confined import MatchTimedOut, matches
from local_training.rewards.parameters import Parameters
from local_training.rewards.values import Judgement, Outcome, right_if

Script = Literal["han", "latin", "other"]

_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_MOST_CHARACTERS: Final = 50_000
"""Of an answer, from its beginning; what follows no longer changes which language it is in."""
_MOST_PATTERN_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Language:
    """Most of the words are of the language, by their script: Han for "zh", Latin for "en". Code does not count."""

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    decides: ClassVar[bool] = False
    language: Literal["en", "zh"]
    least_share: float = 0.8

    @classmethod
    def read(cls, parameters: Parameters) -> "Language":
        return cls(
            parameters.choice("language", ("en", "zh")), parameters.number("least_share", 0.8, least=0.0, most=1.0)
        )

    def judge(self, outcome: Outcome) -> Judgement:
        words = list(scripts_in(_CODE.sub(" ", outcome.text[:_MOST_CHARACTERS])))
        if not words:
            return right_if(False, "it holds no words")
        # Japanese is written with Han too; what tells it from Chinese is its kana.
        wanted: Script = "han" if self.language == "zh" else "latin"
        share = words.count(wanted) / len(words)
        return right_if(share >= self.least_share, f"{share:.0%} of its words are {wanted}")


def scripts_in(text: str) -> Iterator[Script]:
    """The script of every word. A Han character is a word, and so is every run of other letters of one script."""
    before: Script | Literal[""] = ""
    for character in text:
        script = _script(character)
        if script == "han" or (script and script != before):
            yield script
        before = script


def _script(character: str) -> Script | Literal[""]:
    if not character.isalpha():
        return ""
    if "\u4e00" <= character <= "\u9fff" or "\u3400" <= character <= "\u4dbf" or character >= "\U00020000":
        return "han"
    return "latin" if character <= "\u024f" or "\u1e00" <= character <= "\u1eff" else "other"


@dataclass(frozen=True, slots=True)
class LengthBand:
    """Between `least` and `most`, both included; outside, the value falls to 0 over `slack` more."""

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    decides: ClassVar[bool] = False
    least: int
    most: int
    slack: int = 0
    unit: Literal["tokens", "characters", "words"] = "tokens"

    @classmethod
    def read(cls, parameters: Parameters) -> "LengthBand":
        reward = cls(
            parameters.whole("least", 0),
            parameters.whole("most"),
            parameters.whole("slack", 0),
            parameters.choice("unit", ("tokens", "characters", "words"), "tokens"),
        )
        if reward.most < reward.least:
            raise parameters.problem("`most` is below `least`")
        return reward

    def judge(self, outcome: Outcome) -> Judgement:
        length = {
            "tokens": lambda: len(outcome.tokens),
            "characters": lambda: len(outcome.text.strip()),
            "words": lambda: sum(1 for _ in scripts_in(outcome.text)),
        }[self.unit]()
        outside = max(self.least - length, length - self.most, 0)
        value = 1.0 if outside == 0 else max(0.0, 1.0 - outside / self.slack) if self.slack else 0.0
        return Judgement(value, f"it has {length} {self.unit}; wanted are {self.least} to {self.most}")


@dataclass(frozen=True, slots=True)
class Format:
    """The shape of an answer: a regular expression that the whole of it matches, demands on its structure, or both."""

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    decides: ClassVar[bool] = False
    pattern: str = ""
    starts_with: str = ""
    ends_with: str = ""
    one_line: bool = False
    finished: bool = False
    """It came to its end by itself, not by the limit."""
    no_markdown: bool = False

    @classmethod
    def read(cls, parameters: Parameters) -> "Format":
        reward = cls(
            parameters.text("pattern", ""),
            parameters.text("starts_with", ""),
            parameters.text("ends_with", ""),
            parameters.flag("one_line", False),
            parameters.flag("finished", False),
            parameters.flag("no_markdown", False),
        )
        if reward == cls():
            raise parameters.problem("it demands nothing")
        if len(reward.pattern) > _MOST_PATTERN_CHARACTERS:
            raise parameters.problem(f"`pattern` has more than {_MOST_PATTERN_CHARACTERS} characters")
        try:
            with warnings.catch_warnings(action="error"):
                re.compile(reward.pattern)
        except (re.error, Warning, RecursionError, OverflowError) as error:
            raise parameters.problem(f"`pattern` is no regular expression: {error}") from None
        return reward

    def judge(self, outcome: Outcome) -> Judgement:
        text = outcome.text.strip()
        demands = {
            f"begin with {self.starts_with!r:.40}": text.startswith(self.starts_with),
            f"end with {self.ends_with!r:.40}": text.endswith(self.ends_with),
            "be one line": not self.one_line or len(text.splitlines()) == 1,
            "come to an end": not self.finished or outcome.finish in ("eos", "stop"),
            "be without Markdown": not self.no_markdown or not _MARKDOWN.search(text),
        }
        missed = [demand for demand, is_met in demands.items() if not is_met]
        if missed:
            return right_if(False, f"it does not {missed[0]}")
        return self._by_pattern(text)

    def _by_pattern(self, text: str) -> Judgement:
        if not self.pattern:
            return right_if(True, "it has the form")
        try:
            is_match = matches(self.pattern, text)
        except MatchTimedOut:
            return right_if(False, "it cannot be compared with the pattern in time")
        return right_if(is_match, f"it {'matches' if is_match else 'does not match'} the pattern")


_MARKDOWN: Final = re.compile(r"^(?:#{1,6} |[-*] |\d+\. |```|>)|\*\*\S|`[^`\n]+`", re.MULTILINE)
