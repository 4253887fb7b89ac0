"""A suggestion in words: what is asked, why, and how to have no more of its kind. Pure; knows no screen."""

from datetime import datetime
from typing import Final

from engine.suggestions.values import Suggestion
from ui.inert import display_line
from ui.strings import say

MAX_TEXT_CELLS: Final = 120


def question(suggestion: Suggestion, language: str) -> str:
    """On one line."""
    text = display_line(suggestion.text, MAX_TEXT_CELLS) or say("suggestions.gone", language)
    key = "due.event" if suggestion.kind == "due" and suggestion.facts.get("time") else suggestion.kind
    return say(f"suggestion.{key}", language, **{**_values(suggestion, language), "text": text})


def reason(suggestion: Suggestion, language: str) -> str:
    """Why it is made."""
    key = "due.event" if suggestion.about.event_id is not None else suggestion.kind
    return say(f"suggestion.{key}.why", language, **_values(suggestion, language))


def way_off(suggestion: Suggestion, language: str) -> str:
    """How to switch its kind off."""
    return say("suggestion.off", language, kind=suggestion.kind)


def agreement(suggestion: Suggestion, language: str) -> str:
    """What the button says that accepts it."""
    return say("suggestion.yes.stale" if suggestion.kind == "stale" else "suggestion.yes", language)


def outcome(suggestion: Suggestion, language: str) -> str:
    """What came of the answer."""
    if suggestion.state != "accepted":
        return say("suggestion.dismissed", language)
    return say(f"suggestion.accepted.{suggestion.kind}", language, **_values(suggestion, language))


def _values(suggestion: Suggestion, language: str) -> dict[str, str]:
    values = {name: display_line(value) for name, value in suggestion.facts.items()}
    if moment := values.get("remind_at"):
        values["remind_at"] = f"{datetime.fromisoformat(moment):%Y-%m-%d %H:%M}"
    if weekdays := values.get("weekdays"):
        values["weekdays"] = say(f"suggestion.every_{'day' if weekdays == '*' else weekdays}", language)
    return values
