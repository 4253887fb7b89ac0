"""Memory as a turn meets it: a question's memories as lines, and a message's facts kept once it is answered.

Sits between `engine.remembering`, which the agent knows, and `KeptMemories`, which knows neither prompts nor turns.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from engine.memory.keeping import Kept as Changes
from engine.memory.keeping import KeptMemories, Spoken
from engine.memory.lines import estimated_tokens, line
from engine.memory.values import Memory, MemoryKind
from engine.memory.weighting import weight
from engine.memory.writing.claiming import unkept_claim
from engine.memory.writing.proposing import Proposer
from engine.remembering import Heard, Kept
from engine.values import MemoryLine, TurnRecord

TURN_RELEVANCE: Final = 0.2
"""A memory that bears less than this on a message is noise in front of it, however little else is known."""
WORDS_RELEVANCE: Final = 0.1
"""The same where the embedder cannot read the message: words alone are seldom the same in question and answer."""
SHARE_OF_BEST: Final = 0.5
"""A memory that scores less than this share of the best one's score is noise beside it."""
STANDING_SHARE: Final = 0.5
"""Of the room for memories, what instructions may take that hold for every message."""
_HOLDING: Final[tuple[MemoryKind, ...]] = ("instruction",)
_STANDING: Final = 50
"""The newest instructions that are looked at."""
_SHORT_WORDS: Final = 4
"""A message of so few words is about what was said before it."""


class TurnMemory:
    """See `engine.remembering.Remembering`."""

    def __init__(
        self,
        kept: KeptMemories,
        *,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        """`now` is in the zone where the user is: "tomorrow" is a day of theirs."""
        self.kept = kept
        self._now = now

    def recall(self, turn: TurnRecord, path: Sequence[TurnRecord], *, items: int, tokens: int) -> Sequence[MemoryLine]:
        """Instructions that hold for every message, then what bears on this one."""
        now = self._now().astimezone(UTC)
        lines: list[MemoryLine] = []
        left = int(tokens * STANDING_SHARE)
        for memory in self._standing(now):
            text = line(memory)
            if len(lines) < items and (taken := estimated_tokens(text)) <= left:
                left -= taken
                lines.append(MemoryLine(memory.memory_id, text))
        left = tokens - sum(estimated_tokens(one.line) for one in lines)
        known = {one.memory_id for one in lines}
        others = self._bearing(_question(turn, path), now, items, left)
        lines += [MemoryLine(one.memory_id, line(one)) for one in others if one.memory_id not in known]
        return tuple(lines[:items])

    def used(self, recalled: Sequence[MemoryLine], tool_successes: int) -> None:
        if recalled:
            self.kept.used([one.memory_id for one in recalled], self._now().astimezone(UTC), tool_successes)

    def learn(self, heard: Heard) -> Kept:
        kept = self._learn(heard, None)
        changed = len(kept.written) + len(kept.merged)
        return Kept(
            _told(kept.written), _told(kept.merged), _told(kept.doubted), unkept_claim(heard.answer, changed) or ""
        )

    def reflect(self, heard: Heard, proposer: Proposer) -> None:
        self._learn(heard, proposer)

    def _learn(self, heard: Heard, proposer: Proposer | None) -> Changes:
        """By rules where there is no `proposer`."""
        now, turn = self._now(), heard.turn
        spoken = Spoken(
            turn.turn_id,
            turn.user_text,
            turn.provenance,
            turn.attachments,
            heard.earlier,
            (heard.system,),
            tuple(one.line for one in heard.recalled),
        )
        return self.kept.learn(spoken, now.astimezone(UTC), now.date(), proposer)

    def _bearing(self, question: str, now: datetime, items: int, tokens: int) -> Sequence[Memory]:
        """What bears on this question, the best first."""
        least = TURN_RELEVANCE if self.kept.reads(question) else WORDS_RELEVANCE
        found = self.kept.recall(question, now, most=items, tokens=tokens, least_relevance=least)
        best = found[0].score if found else 0.0
        return [one.memory for one in found if one.score >= SHARE_OF_BEST * best]

    def _standing(self, now: datetime) -> Sequence[Memory]:
        """Instructions, those that are worth the most first."""
        rules = self.kept.rules
        found = self.kept.store.page(_STANDING, kinds=_HOLDING)
        weights = {memory.memory_id: weight(memory, now, rules) for memory in found}
        worthy = [memory for memory in found if weights[memory.memory_id] >= rules.sunk]
        return sorted(worthy, key=lambda memory: weights[memory.memory_id], reverse=True)


def _question(turn: TurnRecord, path: Sequence[TurnRecord]) -> str:
    """The message; a short one with the one before it, which tells what it is about."""
    before = path[-1].user_text if path and len(turn.user_text.split()) < _SHORT_WORDS else ""
    return f"{before}\n{turn.user_text}".strip()


def _told(memories: Sequence[Memory]) -> tuple[tuple[int, str], ...]:
    return tuple((memory.memory_id, memory.text) for memory in memories)
