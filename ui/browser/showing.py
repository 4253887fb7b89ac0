"""New values for the parts of the page, from what the Client knows and what a turn has told.

Runs no turn and knows no event of Gradio; `handlers` decides when what is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import gradio as gr

from engine.errors import AgentError
from engine.events import TurnOpened
from engine.values import TurnRecord
from ui.browser import reading
from ui.browser.tabs import RunningTurn, Tab
from ui.browser.turns import LiveTurn, as_seen, kept_notes_html, live_html, live_line, problem_html

Values = dict[str, Any]
Update = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """New values of the parts; None leaves one as it is."""

    transcript: Values | None = None
    live: Values | None = None
    notice: str | None = None
    history: Values | None = None

    def update(self) -> Update:
        notice = None if self.notice is None else {"html": self.notice}
        parts = (self.transcript, self.live, notice, self.history)
        return tuple(gr.skip() if part is None else part for part in parts)


class Showing:
    def __init__(self, language: str) -> None:
        self._language = language
        self._rests = count(1)

    def before(self, tab: Tab, event: TurnOpened) -> Shown:
        """The turns that the new one follows. Where they cannot be read now, the screen keeps what it shows."""
        try:
            path = reading.path_before(tab.client.path(event.conversation_id), event.parent_turn_id)
            return Shown(transcript=self.drawn(tab, event.conversation_id, path))
        except AgentError:
            return Shown()

    def after(self, tab: Tab, conversation_id: str, live: LiveTurn, query: str) -> Shown:
        try:
            path = [as_seen(turn, live.closed) for turn in tab.client.path(conversation_id)]
            opened = self.drawn(tab, conversation_id, path)
            history = reading.history(tab.client, query, self._language)
        except AgentError as error:
            # There is no host to be had: what was said stays on screen, with the mark of how it ended.
            return Shown(
                live=self.at_rest(html=live_html(live, self._language)),
                notice=problem_html(error.problem, error.hint, self._language),
            )
        # Cleared here too: what was told of an earlier message can arrive after this turn began.
        return Shown(opened, self.at_rest(), kept_notes_html(live, self._language), history)

    def live(self, live: LiveTurn, running: RunningTurn, expert: str) -> Values:
        line = live_line(live, expert or None, running.seconds, self._language)
        return {"html": live_html(live, self._language), "line": line, "running": True}

    def at_rest(self, *, html: str = "", is_refused: bool = False) -> Values:
        """No turn is under way. Numbered, because a browser that is told "running" and "at rest" in one go would see
        no change, and wait for ever."""
        return {"html": html, "line": "", "running": False, "refused": is_refused, "number": next(self._rests)}

    def transcript(self, tab: Tab, conversation_id: str, shown: int = reading.TURNS_SHOWN) -> Values:
        path = tab.client.path(conversation_id)
        for turn in path:
            if turn.provenance != "typed":
                tab.pasted.remember(turn.user_text)
        tab.shown_turns = shown
        return self.drawn(tab, conversation_id, path)

    def drawn(self, tab: Tab, conversation_id: str, path: Sequence[TurnRecord]) -> Values:
        return reading.transcript(
            tab.client, path, conversation_id, tab.context_tokens, self._language, tab.shown_turns
        )

    def reread(self, tab: Tab, conversation_id: str | None, shown: int = 0) -> Shown:
        """The open conversation again. Not while a turn is added to it: that shows what it needs itself."""
        if conversation_id is None or tab.is_running:
            return Shown(notice="")
        return Shown(transcript=self.transcript(tab, conversation_id, shown or tab.shown_turns), notice="")

    def failed(self, error: AgentError) -> Shown:
        return Shown(notice=problem_html(error.problem, error.hint, self._language))

    def refused(self, error: AgentError, *, opened: bool = False) -> Shown:
        """A turn that did not begin, so that its message goes back to the composer; or one that broke off."""
        return Shown(
            live=self.at_rest(is_refused=not opened), notice=problem_html(error.problem, error.hint, self._language)
        )
