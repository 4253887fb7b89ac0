"""One expert's own view of a conversation, from what is stored. Pure.

An expert reads its own turns as the tokens it wrote, and other experts' turns as the user's message plus a summary.
Experts that are the same model under the same system text (until they have adapters, all of them) share one view:
what one of them wrote is the own turn of all. Turns without an answer (failed, interrupted, stopped before the first
word) are read by nobody.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.forgetting import MARK
from engine.harness.message import user_message
from engine.harness.prompt import UnseenTurn
from engine.values import Epoch, Segment, TurnRecord

FALLBACK_SUMMARY_CHARACTERS: Final = 240
"""How much of an answer stands in for its summary when none could be made."""


@dataclass(frozen=True, slots=True)
class ViewPlan:
    """`past` has tokens in this epoch, `unseen` has none yet; together they are what the view reads, in order."""

    past: tuple[Segment, ...]
    unseen: tuple[TurnRecord, ...]
    folded_turns: int
    """Turns of the path that lie before the epoch."""


def is_readable(turn: TurnRecord) -> bool:
    """Whether an expert reads it later on: there is something to read, and it was not forgotten as a whole."""
    is_over = turn.state in ("answered", "stopped") and turn.route is not None
    return is_over and bool(turn.answer_text.strip()) and {turn.user_text, turn.answer_text} != {MARK}


def expert_of(turn: TurnRecord) -> str | None:
    return turn.route.expert if turn.route else None


def current_expert(path: Sequence[TurnRecord]) -> str | None:
    """The expert that answered last on this branch."""
    return next((expert_of(turn) for turn in reversed(path) if is_readable(turn)), None)


def plan_view(path: Sequence[TurnRecord], epoch: Epoch | None, segments: Mapping[str, Segment]) -> ViewPlan:
    """What the view of `epoch` reads of `path` (oldest first). `segments` are the epoch's, by turn."""
    start = _start(path, epoch.folded_through if epoch else None)
    readable = [turn for turn in path[start:] if is_readable(turn)]
    seen = 0
    while seen < len(readable) and readable[seen].turn_id in segments:
        seen += 1
    past = tuple(segments[turn.turn_id] for turn in readable[:seen])
    folded = sum(1 for turn in path[:start] if is_readable(turn))
    return ViewPlan(past, tuple(readable[seen:]), folded)


def needs_summary(turns: Sequence[TurnRecord], own: Collection[str]) -> tuple[TurnRecord, ...]:
    """Those of other experts than `own` that have no summary yet."""
    return tuple(turn for turn in turns if expert_of(turn) not in own and turn.summary is None)


def as_unseen(turn: TurnRecord, own: Collection[str]) -> UnseenTurn:
    """A turn as text, for the view that the experts `own` share."""
    is_own = expert_of(turn) in own
    answer = turn.answer_text if is_own else turn.summary or shorten(turn.answer_text)
    return UnseenTurn(turn.turn_id, user_message(turn.user_text, turn.attachments), answer, is_own)


def shorten(text: str) -> str:
    """The beginning of an answer, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= FALLBACK_SUMMARY_CHARACTERS else line[:FALLBACK_SUMMARY_CHARACTERS].rstrip() + "…"


def fold(turns: Sequence[TurnRecord], budget_tokens: int, size: Callable[[TurnRecord], int]) -> int:
    """How many of the oldest `turns` to leave out so that the rest fits `budget_tokens`. `size` is in tokens."""
    kept, used = 0, 0
    for turn in reversed(turns):
        used += size(turn)
        if used > budget_tokens:
            break
        kept += 1
    return len(turns) - kept


def _start(path: Sequence[TurnRecord], folded_through: str | None) -> int:
    if folded_through is None:
        return 0
    return next(index for index, turn in enumerate(path) if turn.turn_id == folded_through) + 1
