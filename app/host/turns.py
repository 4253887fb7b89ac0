"""Turns that faces have running in the host: begun once, followed by whoever asked, stopped when nobody follows.

A face names its turn by a key of its own, so that after a lost connection it finds it again, and sending a request
twice begins one turn. Knows no HTTP.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from app.host.feed import Feed
from app.host.queue import Job, Work, WorkQueue
from engine.agent import Steps
from engine.asides import Aside
from engine.errors import UnknownName
from engine.events import ApprovalAsked, TurnClosed, TurnEvent, TurnOpened
from engine.runtime.protocol import Stop

GRACE_S: Final = 10.0
"""How long a turn goes on without its face: enough for a hiccup, not for a face that is gone."""
KEPT_S: Final = 120.0
"""How long a turn that is over can still be read."""


@dataclass(slots=True)
class _Turn:
    job: Job[TurnEvent]
    followers: int = 0
    alone_since: float = field(default_factory=time.monotonic)


class Turns:
    """Call from the event loop only."""

    def __init__(self, queue: WorkQueue, feed: Feed, *, grace_s: float = GRACE_S) -> None:
        self._queue = queue
        self._feed = feed
        self._grace_s = grace_s
        self._turns: dict[str, _Turn] = {}

    def begin(self, key: str, lane: str, start: Callable[[Stop], Steps]) -> None:
        """Queue a turn under `key`; nothing happens when that key has one already. Raises: QueueFull, QueueClosed."""
        self._forget_old()
        if key not in self._turns:
            self._turns[key] = _Turn(self._queue.submit(lane, self._announced(start)))

    async def follow(self, key: str, after: int = -1) -> AsyncGenerator[TurnEvent, None]:
        """Its events behind number `after`. A turn that nobody follows for a while is stopped.

        Raises: UnknownName; the error that refused the turn.
        """
        turn = self._turn(key)
        turn.followers += 1
        try:
            async for event in turn.job.follow(after + 1):
                yield event
        finally:
            turn.followers -= 1
            turn.alone_since = time.monotonic()
            if not turn.followers and not turn.job.is_over:
                asyncio.get_running_loop().call_later(self._grace_s, self._stop_if_alone, turn)

    def ahead(self, key: str) -> int:
        """How many pieces of work are served before this turn begins; 0 once it has."""
        return self._queue.ahead(self._turn(key).job)

    def stop(self, key: str) -> None:
        """Raises: UnknownName."""
        self._queue.stop(self._turn(key).job)

    def forget_over(self) -> None:
        """Turns that are over can be read no more: what they said may have been forgotten."""
        self._turns = {key: turn for key, turn in self._turns.items() if not turn.job.is_over}

    def _turn(self, key: str) -> _Turn:
        try:
            return self._turns[key]
        except KeyError:
            raise UnknownName("There is no such turn here.", "It may have been lost when the host ended.") from None

    def _announced(self, start: Callable[[Stop], Steps]) -> Work[TurnEvent]:
        """Tell the other faces when a turn opens, asks for an approval and closes."""

        def work(stop: Stop) -> Steps:
            with closing(start(stop)) as steps:
                for step in steps:
                    self._announce(step)
                    yield step

        return work

    def _announce(self, step: TurnEvent | Aside[Any]) -> None:
        match step:
            case TurnOpened(conversation_id=conversation_id, turn_id=turn_id):
                self._feed.publish("turn_opened", conversation_id=conversation_id, turn_id=turn_id)
            case ApprovalAsked(approval_id=approval_id, turn_id=turn_id):
                self._feed.publish("approval_asked", approval_id=approval_id, turn_id=turn_id)
            case TurnClosed(conversation_id=conversation_id, turn_id=turn_id):
                self._feed.publish("turn_closed", conversation_id=conversation_id, turn_id=turn_id)

    def _stop_if_alone(self, turn: _Turn) -> None:
        # A little early is right too: timers and clocks round differently.
        if not turn.followers and time.monotonic() - turn.alone_since >= self._grace_s * 0.9:
            self._queue.stop(turn.job)

    def _forget_old(self) -> None:
        now = time.monotonic()
        old = [
            key
            for key, turn in self._turns.items()
            if turn.job.is_over and not turn.followers and now - turn.alone_since > KEPT_S
        ]
        for key in old:
            del self._turns[key]
