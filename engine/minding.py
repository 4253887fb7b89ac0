"""What a turn has to do with memory: it is reminded before it answers and keeps what was said after it; between turns
the model thinks about that once more.

Nothing in here may cost an answer: a memory that fails is told, and the turn goes on.
"""

from collections import deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Final

from engine.errors import ContextOverflow, ScoringStopped, StoreProblem
from engine.events import TurnEvent
from engine.memory.asking import ModelProposer
from engine.mixture import Mixture
from engine.remembering import Heard, RecallLimits, Remembering
from engine.running_turn import RunningTurn
from engine.runtime.protocol import Runtime, Stop
from engine.store import Store
from engine.values import Answer, MemoryLine, TurnRecord
from engine.views import OpenView, ViewBuilder

RECALL_SHARE: Final = 0.125
"""Of the context, what is remembered may take in front of one message."""
_MOST_UNTHOUGHT: Final = 16


class Minding:
    def __init__(self, memory: Remembering, runtime: Runtime, store: Store) -> None:
        self._memory = memory
        self._runtime = runtime
        self._store = store
        self._unthought: deque[Heard] = deque(maxlen=_MOST_UNTHOUGHT)
        """Messages that the model has not been asked about, the newest first."""

    def recall(
        self, record: TurnRecord, path: Sequence[TurnRecord], message: str, views: ViewBuilder, limits: RecallLimits
    ) -> Sequence[MemoryLine]:
        """What may stand in front of the message, beside which it has to fit."""
        room = min(limits.tokens, int(views.context_tokens * RECALL_SHARE), views.room_beside(message))
        if not limits.is_on or limits.items < 1 or room < 1:
            return ()
        with suppress(StoreProblem):
            return self._memory.recall(record, path, items=limits.items, tokens=room)
        return ()

    def remember(
        self, turn: RunningTurn, answer: Answer, mixture: Mixture, limits: RecallLimits
    ) -> Generator[TurnEvent, None, None]:
        """Keep what the user said of themselves in a turn that is stored, and tell it."""
        record = turn.record
        if not limits.is_on:
            return
        try:
            earlier = self._store.path(record.parent_turn_id) if record.parent_turn_id else ()
            system = mixture.harness.systems[turn.route.expert] if turn.route else ""
            heard = Heard(record, [one.user_text for one in earlier], system, turn.recalled, answer.text)
            if turn.recalled:
                calls = self._store.turn(record.turn_id).calls
                self._memory.used(turn.recalled, sum(call.state == "done" for call in calls))
            kept = self._memory.learn(heard)
        except StoreProblem as problem:
            yield turn.notice("memory_failed", problem=problem.problem)
            return
        if mixture.profile.writes_memories:
            self._unthought.appendleft(heard)
        if kept.written or kept.confirmed or kept.doubted:
            yield turn.notice(
                "remembered",
                written=[list(one) for one in kept.written],
                confirmed=[list(one) for one in kept.confirmed],
                doubted=[list(one) for one in kept.doubted],
            )
        if kept.unkept_claim:
            yield turn.notice("not_remembered", claim=kept.unkept_claim)

    def reflect(self, mixture: Mixture, stop: Stop) -> None:
        """Ask the model about the messages that were heard since the last time, the oldest first.

        Raises: RuntimeFailed.
        """
        proposer = ModelProposer(self._runtime, mixture, stop)
        while self._unthought and not stop.is_set():
            try:
                self._memory.reflect(self._unthought[-1], proposer)
            except ScoringStopped:
                return
            except (ContextOverflow, StoreProblem):
                pass  # what the rules have found is kept
            self._unthought.pop()


def unread(known: Sequence[MemoryLine], view: OpenView, path: Sequence[TurnRecord]) -> tuple[MemoryLine, ...]:
    """Those that no turn has in front of it which the view still reads."""
    read_turns = {segment.turn_id for segment in view.plan.past}
    read = {one for turn in path if turn.turn_id in read_turns for one in turn.recalled}
    return tuple(one for one in known if one not in read)
