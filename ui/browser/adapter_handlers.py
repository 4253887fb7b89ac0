"""What happens on each click in the panel of adapters: calls of the shelf, and new HTML for the panel."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import gradio as gr

from engine.errors import AgentError
from ui.adapter_changes import carry_out, check_possible
from ui.adapter_groups import SHOWN, read_groups
from ui.browser import payloads
from ui.browser.adapters import failed_html, list_html, one_html
from ui.browser.turns import problem_html
from ui.client import Client

Panel = dict[str, Any]


class AdapterHandlers:
    def __init__(self, client_of: Callable[[gr.Request], Client], language: str) -> None:
        """`client_of` gives the Client of a tab of the browser."""
        self._client_of = client_of
        self._language = language

    def list(self, event: gr.EventData, request: gr.Request) -> Panel:
        """Which there are. Waits for the base."""
        return self._told(lambda: self._list(self._client_of(request), payloads.shown_of(event._data, SHOWN)))

    def show(self, event: gr.EventData, request: gr.Request) -> Panel:
        """All that is known of one."""

        def work() -> str:
            details = self._client_of(request).shelf.adapter(payloads.adapter_of(event._data))
            return one_html(details, self._language)

        return self._told(work)

    def ask(self, event: gr.EventData, request: gr.Request) -> Panel:
        """The question before a change."""

        def work() -> str:
            change = payloads.change_of(event._data)
            details = self._client_of(request).shelf.adapter(payloads.adapter_of(event._data))
            check_possible(change, details.record, self._language)
            return one_html(details, self._language, asked=change)

        return self._told(work)

    def agree(self, event: gr.EventData, request: gr.Request) -> Panel:
        """What was agreed to; it holds from the next turn on."""

        def work() -> str:
            change, client = payloads.change_of(event._data), self._client_of(request)
            record = client.shelf.adapter(payloads.adapter_of(event._data)).record
            check_possible(change, record, self._language)
            said = carry_out(change, record, client.shelf, self._language)
            return self._list(client, SHOWN, said)

        return self._told(work)

    def _list(self, client: Client, shown: int, said: str = "") -> str:
        profile, experts = client.about().profile, client.experts()
        groups = read_groups(client.shelf, profile, experts, shown)
        return list_html(groups, profile, datetime.now(UTC), self._language, shown=shown, said=said)

    def _told(self, work: Callable[[], str]) -> Panel:
        try:
            return {"html": work()}
        except AgentError as error:
            return {"html": failed_html(problem_html(error.problem, error.hint, self._language), self._language)}
