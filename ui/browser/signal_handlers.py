"""What happens when the user says something of an answer: a better one, this one of several; and in their list."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gradio as gr

from engine.errors import AgentError, UsageProblem
from engine.signals.recognising import better_answer
from engine.signals.values import Signal
from ui.browser import payloads
from ui.browser.payloads import Message
from ui.browser.showing import Showing, Shown, Update
from ui.browser.signals import PAGE_SIZE, list_html
from ui.browser.tabs import Tab
from ui.browser.turns import note_html, problem_html
from ui.strings import say

Panel = dict[str, Any]


class SignalHandlers:
    def __init__(self, tab_of: Callable[[gr.Request], Tab], showing: Showing, language: str) -> None:
        self._tab_of = tab_of
        self._showing = showing
        self._language = language

    def taken_as_better(self, tab: Tab, message: Message) -> Shown | None:
        """What is shown when the message was "better: …" about the last answer; None when it is to be sent.

        Raises: AgentError.
        """
        better = better_answer(message.text)
        if better is None or message.conversation_id is None or message.edits is not None or message.files:
            return None
        path = tab.client.path(message.conversation_id)
        if not path or not path[-1].answer_text:
            return None
        provenance = tab.pasted.provenance(message.text)
        signal = tab.client.correct(path[-1].turn_id, better, "correction", provenance)
        return self._noted(tab, message.conversation_id, signal)

    def better(self, event: gr.EventData, request: gr.Request) -> Update:
        """The answer as the user wants it, edited in the composer."""
        try:
            tab = self._tab_of(request)
            if tab.is_running:
                busy = UsageProblem(say("page.busy", self._language), say("page.busy_hint", self._language))
                return self._showing.failed(busy).update()
            message = payloads.message_of(event._data)
            for text in message.pasted:
                tab.pasted.paste(text)
            turn_id, provenance = payloads.turn_of(event._data), tab.pasted.provenance(message.text)
            signal = tab.client.correct(turn_id, message.text, "edit", provenance)
            return self._noted(tab, message.conversation_id, signal).update()
        except AgentError as error:
            return self._showing.refused(error).update()

    def pick(self, event: gr.EventData, request: gr.Request) -> Update:
        """This answer is better than the others to the same message."""
        try:
            self._tab_of(request).client.pick(payloads.turn_of(event._data))
        except AgentError as error:
            return self._showing.failed(error).update()
        return Shown(notice=note_html(say("signal.picked", self._language))).update()

    def list(self, event: gr.EventData, request: gr.Request) -> Panel:
        try:
            return self._list(self._tab_of(request), payloads.shown_of(event._data, PAGE_SIZE))
        except AgentError as error:
            return self._failed(error)

    def erase(self, event: gr.EventData, request: gr.Request) -> tuple[Any, ...]:
        return self._changed(event, request, lambda tab, number: tab.client.erase_signal(number))

    def confirm(self, event: gr.EventData, request: gr.Request) -> tuple[Any, ...]:
        return self._changed(event, request, lambda tab, number: tab.client.confirm_signal(number))

    def _noted(self, tab: Tab, conversation_id: str | None, signal: Signal) -> Shown:
        words = say("page.noted.tainted" if signal.is_tainted else "page.noted", self._language)
        reread = self._showing.reread(tab, conversation_id)
        return replace(reread, live=self._showing.at_rest(), notice=note_html(words))

    def _changed(
        self, event: gr.EventData, request: gr.Request, change: Callable[[Tab, int], object]
    ) -> tuple[Any, ...]:
        """The conversation with its marks, and the list, after a change."""
        try:
            tab = self._tab_of(request)
            change(tab, payloads.signal_of(event._data))
            shown = self._showing.reread(tab, payloads.conversation_of(event._data))
            return (*shown.update(), self._list(tab, PAGE_SIZE))
        except AgentError as error:
            return (*Shown().update(), self._failed(error))

    def _list(self, tab: Tab, shown: int) -> Panel:
        return {"html": list_html(tab.client.signals(limit=shown + 1), self._language, shown=shown)}

    def _failed(self, error: AgentError) -> Panel:
        return {"html": problem_html(error.problem, error.hint, self._language)}
