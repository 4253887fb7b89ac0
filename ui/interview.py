"""The questions of the first day in words. Pure; knows no screen."""

from engine.memory.interviewing import Topic
from ui.strings import say


def asked(topic: Topic, language: str) -> str:
    return say(f"interview.ask.{topic}", language)


def statement(topic: Topic, answer: str, language: str) -> str:
    """What is remembered of an answer."""
    return say(f"interview.statement.{topic}", language, answer=answer)
