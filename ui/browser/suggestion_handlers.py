"""What the agent suggests by itself, as a banner above the composer with two buttons.

What others wrote is escaped. Nobody waits for a suggestion: where it cannot be had, none is shown.
"""

import html
from collections.abc import Callable
from typing import Any

import gradio as gr

from engine.errors import AgentError, UsageProblem
from engine.suggestions.values import Suggestion
from ui import suggestions
from ui.browser.markdown import line_html
from ui.browser.turns import note_html, problem_html
from ui.client import Client
from ui.strings import say

Banner = dict[str, Any]


class SuggestionHandlers:
    def __init__(self, client_of: Callable[[gr.Request], Client], language: str) -> None:
        self._client_of = client_of
        self._language = language

    def look(self, request: gr.Request) -> Banner:
        try:
            found = self._client_of(request).suggestion_shelf.suggestions()
        except AgentError:
            return {"html": ""}
        return {"html": banner_html(found[0], self._language) if found else ""}

    def answer(self, event: gr.EventData, request: gr.Request) -> Banner:
        try:
            suggestion_id, accepts = _answer_of(event._data)
            shelf = self._client_of(request).suggestion_shelf
            answer = shelf.accept_suggestion if accepts else shelf.dismiss_suggestion
            return {"html": note_html(suggestions.outcome(answer(suggestion_id), self._language))}
        except AgentError as error:
            return {"html": problem_html(error.problem, error.hint, self._language)}


def banner_html(suggestion: Suggestion, language: str) -> str:
    """The question, its reason, how to have no more of its kind, and two buttons."""
    reason = f"{suggestions.reason(suggestion, language)} · {suggestions.way_off(suggestion, language)}"
    buttons = "".join(
        f'<button type="button" class="{look}" data-suggestion="{suggestion.suggestion_id}" '
        f'data-accepts="{accepts}">{html.escape(words)}</button>'
        for words, look, accepts in (
            (suggestions.agreement(suggestion, language), "plain", "true"),
            (say("suggestion.no", language), "quiet", "false"),
        )
    )
    asked = suggestions.question(suggestion, language)
    return (
        f'<div class="question" role="region" aria-label="{html.escape(asked)}"><p>{line_html(asked)}</p>'
        f'<p class="small">{line_html(reason)}</p><p>{buttons}</p></div>'
    )


def _answer_of(data: Any) -> tuple[int, bool]:
    """Raises: UsageProblem for anything but what the banner sends."""
    number = data.get("suggestion") if isinstance(data, dict) else None
    accepts = data.get("accepts") if isinstance(data, dict) else None
    if type(number) is not int or type(accepts) is not bool:
        raise UsageProblem("The page sent something that is no answer.", "Load the page anew.")
    return number, accepts
