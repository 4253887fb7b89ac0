"""The suggestions of a host that runs: `ui.suggestion_shelf.SuggestionShelf` over HTTP."""

from collections.abc import Sequence
from typing import Any, cast

from app.host.connection import HostConnection
from engine.suggestions.values import Suggestion, SuggestionKind, Switches


class RemoteSuggestions:
    """Who opened the connection closes it."""

    def __init__(self, connection: HostConnection) -> None:
        self._connection = connection

    def suggestions(self) -> Sequence[Suggestion]:
        return cast(Sequence[Suggestion], self._call("suggestions"))

    def past_suggestions(self, *, limit: int = 20) -> Sequence[Suggestion]:
        return cast(Sequence[Suggestion], self._call("past_suggestions", limit=limit))

    def accept_suggestion(self, suggestion_id: int) -> Suggestion:
        return cast(Suggestion, self._call("accept_suggestion", suggestion_id=suggestion_id))

    def dismiss_suggestion(self, suggestion_id: int) -> Suggestion:
        return cast(Suggestion, self._call("dismiss_suggestion", suggestion_id=suggestion_id))

    def suggestion_switches(self) -> Switches:
        return cast(Switches, self._call("suggestion_switches"))

    def switch_suggestions(self, is_on: bool, kind: SuggestionKind | None = None) -> Switches:
        return cast(Switches, self._call("switch_suggestions", is_on=is_on, kind=kind))

    def _call(self, name: str, /, **arguments: Any) -> Any:
        return self._connection.call(name, **arguments)
