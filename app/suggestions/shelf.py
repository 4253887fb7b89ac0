"""Suggestions straight from the store of this process: `ui.suggestion_shelf.SuggestionShelf`, in a host and without."""

import logging
import time
from collections.abc import Sequence
from typing import Final

from app.jobs.runner import system_clock
from app.jobs.zones import local_zone_name
from app.paths import Paths
from app.settings import load_settings
from engine.errors import AgentError
from engine.memory.weighting import rules_from
from engine.store import Store
from engine.suggestions.keeping import KeptSuggestions
from engine.suggestions.values import Suggestion, SuggestionKind, Switches

LOOK_AGAIN_S: Final = 30.0
"""No more often than so faces that ask make somebody look."""

_log = logging.getLogger(__name__)


class StoredSuggestions:
    """Who opened the store closes it. Jobs that come of it are run by the host, which looks for new ones by itself."""

    def __init__(self, paths: Paths, store: Store) -> None:
        self._paths = paths
        self._kept = KeptSuggestions(store, system_clock, local_zone_name)
        self._looked_s = -LOOK_AGAIN_S

    def look(self) -> None:
        """In idle time: find what there is to suggest. Where that cannot be done now, nobody misses it."""
        try:
            self._look()
        except AgentError as error:
            _log.warning("nothing is suggested: %s", error.problem)

    def suggestions(self) -> Sequence[Suggestion]:
        if time.monotonic() - self._looked_s >= LOOK_AGAIN_S:
            self._look()
        return tuple(one for one in self._kept.page(1) if one.state == "offered")

    def past_suggestions(self, *, limit: int = 20) -> Sequence[Suggestion]:
        return self._kept.page(limit)

    def accept_suggestion(self, suggestion_id: int) -> Suggestion:
        return self._kept.accept(suggestion_id, rules_from(load_settings(self._paths.settings).memory))

    def dismiss_suggestion(self, suggestion_id: int) -> Suggestion:
        return self._kept.dismiss(suggestion_id)

    def suggestion_switches(self) -> Switches:
        return self._kept.switches()

    def switch_suggestions(self, is_on: bool, kind: SuggestionKind | None = None) -> Switches:
        return self._kept.switch(kind, is_on=is_on)

    def _look(self) -> None:
        self._looked_s = time.monotonic()
        # Read anew each time, so that a change holds at once.
        self._kept.look(load_settings(self._paths.settings).suggestions_a_day)
