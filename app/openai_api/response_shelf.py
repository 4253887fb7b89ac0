"""Responses that a later one may go on from, kept in memory only: a few hundred, for an hour, within a budget.

Knows no HTTP. Nothing here ever reaches a disk; when the host ends, all of it is gone.
"""

import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from app.openai_api.problems import ApiProblem
from engine.completing import Message

MOST_RESPONSES: Final = 256
MOST_BYTES: Final = 64 << 20
KEPT_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Kept:
    """A response as it was sent, and the conversation up to and with its answer, without instructions."""

    response: dict[str, Any]
    messages: tuple[Message, ...]
    until: float
    size_bytes: int


class ResponseShelf:
    """Use from one thread. `clock` gives seconds that only rise."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        """Least recently used first."""

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, response: dict[str, Any], messages: tuple[Message, ...]) -> None:
        size = len(json.dumps(response)) + sum(
            len(message.text) + sum(len(call.arguments) for call in message.calls) for message in messages
        )
        self._kept[response["id"]] = Kept(response, messages, self._clock() + KEPT_S, 4 * size)
        self._forget_old()

    def get(self, response_id: str) -> Kept:
        """Raises: ApiProblem (404)."""
        self._forget_old()
        kept = self._kept.get(response_id)
        if kept is None:
            raise ApiProblem(
                f"Response with id {response_id[:80]!r} not found.",
                "Responses are kept in memory for an hour, unless store is false; send the whole conversation instead.",
                status=404,
            )
        self._kept.move_to_end(response_id)
        return kept

    def forget(self, response_id: str) -> None:
        """Raises: ApiProblem (404)."""
        self.get(response_id)
        del self._kept[response_id]

    def _forget_old(self) -> None:
        now = self._clock()
        for response_id in [key for key, kept in self._kept.items() if kept.until <= now]:
            del self._kept[response_id]
        while len(self._kept) > MOST_RESPONSES or sum(kept.size_bytes for kept in self._kept.values()) > MOST_BYTES:
            self._kept.popitem(last=False)
