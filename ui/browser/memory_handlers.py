"""What happens on each click in the panel of memories: calls of the shelf, and new HTML for the panel."""

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from engine.errors import AgentError
from engine.memory.values import Memory
from ui.browser import payloads
from ui.browser.memories import PAGE_SIZE, View, failed_html, list_html, one_html, report_html
from ui.browser.turns import problem_html
from ui.client import Client
from ui.memory_changes import Change, check_possible, done_text
from ui.memory_shelf import MemoryShelf
from ui.strings import say

Panel = dict[str, Any]


class MemoryHandlers:
    def __init__(self, client_of: Callable[[gr.Request], Client], language: str) -> None:
        """`client_of` gives the Client of a tab of the browser."""
        self._client_of = client_of
        self._language = language

    def list(self, event: gr.EventData, request: gr.Request) -> Panel:
        """Which are known, or wait, or hold some words."""

        def work() -> str:
            sent = event._data
            view = View(payloads.listed_of(sent), payloads.words_of(sent), payloads.shown_of(sent, PAGE_SIZE))
            return self._list(self._shelf(request), view)

        return self._told(work)

    def show(self, event: gr.EventData, request: gr.Request) -> Panel:
        """All that is known of one."""
        return self._one(event, request, is_asked=False)

    def ask(self, event: gr.EventData, request: gr.Request) -> Panel:
        """The question before one is forgotten."""
        return self._one(event, request, is_asked=True)

    def decide(self, event: gr.EventData, request: gr.Request) -> Panel:
        """Approve, edit or forget one, or reject one that waits."""

        def work() -> str:
            shelf, change = self._shelf(request), payloads.memory_change_of(event._data)
            memory = shelf.memory(payloads.memory_of(event._data)).memory
            check_possible(change, memory, self._language)
            done = self._carried_out(shelf, change, memory, payloads.words_of(event._data))
            still_waits = memory.state == "pending" and shelf.memory_standing().pending
            view = View("pending" if still_waits else "active")
            return self._list(shelf, view, done_text(change, done, self._language))

        return self._told(work)

    def keep(self, event: gr.EventData, request: gr.Request) -> Panel:
        """What the user writes here themselves."""

        def work() -> str:
            shelf = self._shelf(request)
            memory = shelf.add_memory(payloads.words_of(event._data))
            return self._list(shelf, View(), done_text("approve", memory, self._language))

        return self._told(work)

    def rest(self, event: gr.EventData, request: gr.Request) -> Panel:
        """Pause remembering, or go on."""

        def work() -> str:
            shelf, is_paused = self._shelf(request), payloads.paused_of(event._data)
            shelf.set_memory_pause(is_paused)
            said = say("memory.paused" if is_paused else "memory.resumed", self._language)
            return self._list(shelf, View(), said)

        return self._told(work)

    def report(self, request: gr.Request) -> Panel:
        def work() -> str:
            shelf = self._shelf(request)
            return report_html(shelf.memory_report(), shelf.memory_standing(), self._language)

        return self._told(work)

    def _one(self, event: gr.EventData, request: gr.Request, *, is_asked: bool) -> Panel:
        def work() -> str:
            details = self._shelf(request).memory(payloads.memory_of(event._data))
            if is_asked:
                check_possible("forget", details.memory, self._language)
            return one_html(details, self._language, is_asked=is_asked)

        return self._told(work)

    def _carried_out(self, shelf: MemoryShelf, change: Change, memory: Memory, text: str) -> Memory:
        """The memory as it is now, or was. Raises: AgentError."""
        match change:
            case "approve":
                return shelf.approve_memory(memory.memory_id)
            case "edit":
                return shelf.edit_memory(memory.memory_id, text)
            case "forget":
                shelf.forget_memory(memory.memory_id)
                return memory

    def _list(self, shelf: MemoryShelf, view: View, said: str = "") -> str:
        standing = shelf.memory_standing()
        return list_html(_listed(shelf, view), standing, view, self._language, said=said)

    def _shelf(self, request: gr.Request) -> MemoryShelf:
        return self._client_of(request).memories

    def _told(self, work: Callable[[], str]) -> Panel:
        try:
            return {"html": work()}
        except AgentError as error:
            return {"html": failed_html(problem_html(error.problem, error.hint, self._language), self._language)}


def _listed(shelf: MemoryShelf, view: View) -> Sequence[Memory]:
    if view.words.strip():
        found = shelf.search_memories(view.words, limit=view.shown)
        return [memory for memory in found if memory.state == view.state]
    return shelf.memories(states=(view.state,), limit=view.shown + 1)
