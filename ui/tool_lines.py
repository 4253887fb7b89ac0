"""Tool calls in words, for every face: what is called, what came of it, and what a person is asked. Pure."""

import json
from typing import Final

from engine.events import ApprovalAsked
from engine.values import CallState
from ui.inert import display_line, display_text
from ui.strings import say

MAX_ARGUMENT_CELLS: Final = 60
MAX_RESULT_CELLS: Final = 80


def call_title(tool: str, arguments: str, source: str, language: str) -> str:
    """One line: the tool, who brought it, and what it is given."""
    name = display_line(tool)
    if source:
        name = say("call.from", language, name=name, source=display_line(source))
    given = display_line(_plain(arguments), MAX_ARGUMENT_CELLS)
    return say("call.with", language, name=name, given=given) if given else name


def call_state(state: CallState, seconds: float, language: str) -> str:
    """How it stands, and how long it took where it took long."""
    said = say(f"call.state.{state}", language)
    return say("progress.seconds", language, phase=said, seconds=round(seconds)) if seconds >= 1 else said


def call_details(arguments: str, result: str) -> str:
    """All that was given and all that came back, for reading."""
    return display_text("\n\n".join(part for part in (_plain(arguments, indent=1), result) if part))


def question_lines(event: ApprovalAsked, language: str) -> tuple[str, str]:
    """(what is asked and why, exactly what would be done)."""
    asked = say("approval.title", language, title=display_line(event.title))
    reason = say(f"approval.reason.{event.reason}", language)
    return f"{asked}\n{reason}", display_text(event.detail)


def covered_line(event: ApprovalAsked, language: str) -> str:
    """What "always" and "never" would cover."""
    return say("approval.covers", language, tool=display_line(event.tool), pattern=display_line(event.pattern, 60))


def _plain(arguments: str, indent: int | None = None) -> str:
    """JSON as a person reads it: a single text argument alone, without quotes."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if value == {}:
        return ""
    if isinstance(value, dict) and len(value) == 1 and isinstance(text := next(iter(value.values())), str):
        return text
    return json.dumps(value, ensure_ascii=False, indent=indent)
