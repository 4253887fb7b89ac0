"""Traits of the language an answer is in, told by script, and of formal address in Chinese.

A small model that cannot answer in a language often repeats the question or one phrase of it. The script is right then,
but that is no answer in the language.
"""

from dataclasses import dataclass
from typing import ClassVar

from local_training.lessons.traits import Fields, Values
from local_training.lessons.wording import Language, is_echo, is_repetitive, language_of


@dataclass(frozen=True, slots=True)
class SameLanguage:
    """The answer is in the language of the message."""

    kind: ClassVar[str] = "same_language"

    @property
    def values(self) -> Values:
        return {}

    def adheres(self, prompt: str, answer: str) -> bool:
        language = language_of(prompt)
        return language is not None and _answers(prompt, answer, language)

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        # No program translates; only an answer that is right already can be taken.
        return answer if self.adheres(prompt, answer) else None


@dataclass(frozen=True, slots=True)
class AnswersIn:
    """The answer is in one language, whatever the message is in."""

    kind: ClassVar[str] = "answers_in"
    language: Language

    @property
    def values(self) -> Values:
        return {"language": self.language}

    def adheres(self, prompt: str, answer: str) -> bool:
        return _answers(prompt, answer, self.language)

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        return answer if self.adheres(prompt, answer) else None


@dataclass(frozen=True, slots=True)
class FormalYou:
    """Chinese answers say 您 and never 你."""

    kind: ClassVar[str] = "formal_you"

    @property
    def values(self) -> Values:
        return {}

    def adheres(self, prompt: str, answer: str) -> bool:
        return "您" in answer and "你" not in answer

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        # The formal form has no plural of its own in use.
        formal = answer.replace("你们", "您").replace("你", "您")
        return formal if self.adheres(prompt, formal) else None


def _answers(prompt: str, answer: str, language: Language) -> bool:
    return language_of(answer) == language and not is_repetitive(answer) and not is_echo(prompt, answer)
