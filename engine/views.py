"""Prepare what an expert reads: find or begin its epoch, fold what no longer fits, and build the prompt.

Stands between the store and the pure timeline. Decides nothing about routes and runs no model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.errors import ContextOverflow
from engine.harness.message import attachment_block, shown_name, user_message
from engine.harness.prompt import Folded, Prompt, PromptState, build, close, head, with_memory
from engine.memory.folding.values import FoldedLine, RunningMemory, Written
from engine.memory.writing.proposals import Proposal
from engine.mixture import Mixture
from engine.routing import timeline
from engine.routing.timeline import ViewPlan
from engine.running_memory import RunningMemories
from engine.runtime.protocol import AdapterStack, Encoder, Tokens
from engine.store import Store
from engine.store.views import FORGOTTEN
from engine.values import Attachment, Epoch, Segment, TurnRecord

_ANSWER_SHARE: Final = 0.25
"""Part of the context that stays free for the answer, if the profile allows so long a one."""
_FOLDED_SHARE: Final = 0.5
"""Part of the context that history, and what stands for the rest of it, may fill after folding; folding again at once
would cost a full read each turn."""
_NEARLY_FULL: Final = 0.85
"""Part of what a prompt may have that a view fills when it is folded ahead of time, if there is time."""
_MARGIN: Final = 32
"""More tokens than the markup of any family puts around a message."""
_MANY: Final = Folded(9999)
"""For the size of the longest head: one that tells of as many folded turns."""


@dataclass(frozen=True, slots=True)
class OpenView:
    """A view ready to be read. `newly_folded` turns were left out just now, which the user must be told."""

    epoch: Epoch
    plan: ViewPlan
    newly_folded: int
    moved_out: tuple[FoldedLine, ...] = ()
    """Pinned lines that the running memory has no room for any more; recall and search still find them."""

    @property
    def folded(self) -> Folded:
        return Folded(self.plan.folded_turns, self.epoch.memory.shown)


@dataclass(frozen=True, slots=True)
class DueFold:
    """A fold that the next turn would most likely need."""

    known: Epoch
    folded: tuple[TurnRecord, ...]
    """All turns that the view will not read any more."""
    before: RunningMemory
    segment: tuple[TurnRecord, ...]
    """Those of them that `before` does not stand for yet."""


def shared_views(heads: Mapping[str, str], stacks: Mapping[str, AdapterStack]) -> dict[str, str]:
    """The view each expert reads, named by the first expert of it: one per distinct (head, adapter stack)."""
    first: dict[tuple[str, AdapterStack], str] = {}
    return {expert: first.setdefault((heads[expert], stack), expert) for expert, stack in stacks.items()}


class ViewBuilder:
    def __init__(self, store: Store, mixture: Mixture, encoder: Encoder, *, longest_summary_tokens: int) -> None:
        self._store = store
        heads = {expert: mixture.harness.reads(expert) for expert in mixture.harness.systems}
        self._view_of = shared_views(heads, mixture.answering_stacks)
        self._harness = mixture.harness
        self._encoder = encoder
        self._base_hash = mixture.info.base_hash
        self.context_tokens = mixture.profile.context_tokens
        """Longest prompt plus answer."""
        answer = min(mixture.profile.max_answer_tokens, int(self.context_tokens * _ANSWER_SHARE))
        self._prompt_limit = self.context_tokens - answer
        self._longest_summary_tokens = longest_summary_tokens
        self._memories = RunningMemories(store, encoder, self.context_tokens)

    def check_fits(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Refuse a message that would not fit even an empty view. Nothing is stored yet.

        Raises: ContextOverflow.
        """
        size = len(self._encoder.encode(user_message(text, attachments)))
        room = self._room()
        if size <= room:
            return
        if not attachments or len(self._encoder.encode(text)) > room:
            raise ContextOverflow(
                f"The message has {size} tokens; this profile can read {room} at once. Nothing was sent or cut.",
                "Shorten it, send it in parts, or choose a profile with a larger context.",
            )
        file_tokens, name = max((len(self._encoder.encode(attachment_block(file))), file.name) for file in attachments)
        raise ContextOverflow(
            f"The attached file `{shown_name(name)}` has {file_tokens} tokens, which makes {size} with the rest of the "
            f"message; this profile can read {room} at once. Nothing was sent or cut.",
            "Attach a part of it, leave it out, or choose a profile with a larger context.",
        )

    def room_beside(self, message: str) -> int:
        """Tokens that an empty view could hold beside this message."""
        return self._room() - len(self._encoder.encode(message))

    def open(
        self, conversation_id: str, path: Sequence[TurnRecord], expert: str, message: str, memory: Sequence[str] = ()
    ) -> OpenView:
        """The epoch and plan under which `expert` reads `path` and then `message` (all of it: text and files), with the
        lines of `memory` before it, at most."""
        message = with_memory(message, memory)
        expert = self._view_of[expert]
        known = self._store.latest_epoch(conversation_id, expert, [turn.turn_id for turn in path])
        plan: ViewPlan | None = None
        if known is not None and self._is_current(known):
            plan = timeline.plan_view(path, known, self._store.segments(known.epoch_id, [t.turn_id for t in path]))
            if self._fits(known, plan, expert, message):
                return OpenView(known, plan, self._untold(known, plan, path))
        before = plan or timeline.plan_view(path, known, {})
        readable = [turn for turn in path if timeline.is_readable(turn)]
        folded = readable[: len(readable) - len(self._fold(readable, expert, message))]
        reason = self._reason(known, is_full=plan is not None)
        begun, written = self._begin(conversation_id, expert, known, reason, folded)
        newly_folded = max(0, len(folded) - before.folded_turns)
        return OpenView(begun, timeline.plan_view(path, begun, {}), newly_folded, written.moved_out)

    def due_fold(self, conversation_id: str, path: Sequence[TurnRecord], expert: str) -> DueFold | None:
        """What is to be folded before the next turn of `expert`'s view; None where it has room yet."""
        expert = self._view_of[expert]
        known = self._store.latest_epoch(conversation_id, expert, [turn.turn_id for turn in path])
        if known is None or not self._is_current(known):
            return None
        plan = timeline.plan_view(path, known, self._store.segments(known.epoch_id, [t.turn_id for t in path]))
        if self._size(known, plan, expert) <= _NEARLY_FULL * self._prompt_limit:
            return None
        readable = [turn for turn in path if timeline.is_readable(turn)]
        folded = readable[: len(readable) - len(self._fold(readable, expert, ""))]
        if len(folded) <= plan.folded_turns:
            return None
        before, count = self._memories.known(conversation_id, folded)
        return DueFold(known, tuple(folded), before, tuple(folded[count:]))

    def fold(self, due: DueFold, proposals: Mapping[str, Sequence[Proposal]]) -> None:
        """Begin the next epoch now; the next turn reads it and tells of it."""
        known = due.known
        self._begin(known.conversation_id, known.expert, known, "folded", due.folded, proposals)

    def prompt(self, view: OpenView, path: Sequence[TurnRecord], message: str, memory: Sequence[str] = ()) -> Prompt:
        """`path` gives the unseen turns with the summaries they have by now."""
        by_id = {turn.turn_id: turn for turn in path}
        expert = view.epoch.expert
        state = PromptState(
            expert,
            view.epoch.head,
            tuple(segment.tokens for segment in view.plan.past),
            tuple(timeline.as_unseen(by_id[turn.turn_id], self._own(expert)) for turn in view.plan.unseen),
            message,
            tuple(memory),
        )
        return build(state, self._harness, self._encoder, view.folded)

    def segments(self, view: OpenView, prompt: Prompt, turn_id: str, completion: Tokens) -> tuple[Segment, ...]:
        """What the view has gained once the turn is over: the unseen turns and the new one."""
        own = close(prompt.opening, completion, self._harness, self._encoder)
        epoch_id = view.epoch.epoch_id
        return (
            *(Segment(unseen_id, epoch_id, tokens) for unseen_id, tokens in prompt.unseen),
            Segment(turn_id, epoch_id, own),
        )

    def tokens_through(self, turn: TurnRecord) -> Tokens:
        """The answering expert's view up to and including its own turn, for that turn's summary."""
        expert = self._view_of[timeline.expert_of(turn) or ""]
        path = self._store.path(turn.turn_id)
        epoch = self._store.latest_epoch(turn.conversation_id, expert, [t.turn_id for t in path])
        if epoch is not None and self._is_current(epoch):
            plan = timeline.plan_view(path, epoch, self._store.segments(epoch.epoch_id, [t.turn_id for t in path]))
            if plan.past and plan.past[-1].turn_id == turn.turn_id:
                return (*epoch.head, *(token for segment in plan.past for token in segment.tokens))
        message = user_message(turn.user_text, turn.attachments)
        alone = PromptState(expert, head(self._harness, self._encoder, expert), (), (), message)
        prompt = build(alone, self._harness, self._encoder)
        answer = self._encoder.encode(turn.answer_text)
        return (*alone.head, *close(prompt.opening, answer, self._harness, self._encoder))

    def needs_summary(self, view: OpenView) -> tuple[TurnRecord, ...]:
        """Turns this view is about to read that other experts answered and nobody has summarised."""
        return timeline.needs_summary(view.plan.unseen, self._own(view.epoch.expert))

    def has_others(self, turn: TurnRecord) -> bool:
        """Whether there is an expert that would read this turn as a summary."""
        own = self._view_of.get(timeline.expert_of(turn) or "")
        return any(view != own for view in self._view_of.values())

    def _begin(
        self,
        conversation_id: str,
        expert: str,
        known: Epoch | None,
        reason: str,
        folded: Sequence[TurnRecord],
        proposals: Mapping[str, Sequence[Proposal]] | None = None,
    ) -> tuple[Epoch, Written]:
        """The epoch after `known`, with what stands for the turns that it does not read."""
        written = self._memories.write(conversation_id, folded, proposals)
        begun = Epoch(
            self._store.new_epoch_id(),
            conversation_id,
            expert,
            known.number + 1 if known else 0,
            head(self._harness, self._encoder, expert, Folded(len(folded), written.memory.shown)),
            self._base_hash,
            self._harness.version,
            reason,
            folded[-1].turn_id if folded else None,
            written.memory,
        )
        self._store.begin_epoch(begun)
        return begun, written

    def _untold(self, known: Epoch, plan: ViewPlan, path: Sequence[TurnRecord]) -> int:
        """How many turns an epoch has left out that no turn has read yet, as when it was begun ahead of time."""
        if plan.past or known.reason != "folded":
            return 0
        on_path = [turn.turn_id for turn in path]
        before = self._store.latest_epoch(known.conversation_id, known.expert, on_path, below=known.number)
        return plan.folded_turns - timeline.plan_view(path, before, {}).folded_turns

    def _own(self, view_expert: str) -> set[str]:
        """The experts that share the view named by `view_expert`."""
        return {expert for expert, view in self._view_of.items() if view == view_expert}

    def _is_current(self, epoch: Epoch) -> bool:
        return epoch.harness_version == self._harness.version and epoch.base_hash == self._base_hash

    def _reason(self, known: Epoch | None, *, is_full: bool) -> str:
        if known is None:
            return "first"
        if is_full:
            return "folded"
        if known.harness_version == FORGOTTEN:
            return "forgotten"
        return "harness" if known.harness_version != self._harness.version else "base"

    def _fits(self, epoch: Epoch, plan: ViewPlan, expert: str, message: str) -> bool:
        return self._size(epoch, plan, expert) + self._message_size(message) <= self._prompt_limit

    def _size(self, epoch: Epoch, plan: ViewPlan, expert: str) -> int:
        """Tokens of the view as it stands, at most."""
        if plan.past:
            size = len(epoch.head) + sum(len(segment.tokens) for segment in plan.past)
        else:
            size = self._frame_size(expert, Folded(plan.folded_turns, epoch.memory.shown))
        return size + sum(self._turn_size(turn, expert) for turn in plan.unseen)

    def _fold(self, readable: Sequence[TurnRecord], expert: str, message: str) -> Sequence[TurnRecord]:
        """The newest of `readable` that a fresh epoch can hold; all of them when they fit."""
        frame = self._frame_size(expert, Folded(len(readable)))
        limit = self._prompt_limit - frame - self._message_size(message)
        sizes = {turn.turn_id: self._turn_size(turn, expert) for turn in readable}
        if sum(sizes.values()) <= limit:
            return readable
        budget = min(limit, int(self.context_tokens * _FOLDED_SHARE)) - self._memories.tokens
        return readable[timeline.fold(readable, budget, lambda turn: sizes[turn.turn_id]) :]

    def _room(self) -> int:
        """Tokens of the longest message that an empty view can hold."""
        frames = max(self._frame_size(expert, _MANY) for expert in self._harness.systems)
        return self._prompt_limit - frames - self._memories.tokens - _MARGIN

    def _frame_size(self, expert: str, folded: Folded) -> int:
        """Tokens of a view that reads an empty message and nothing else. Some families put the system text there."""
        beginning = head(self._harness, self._encoder, expert, folded)
        empty = PromptState(expert, beginning, (), (), "")
        return len(build(empty, self._harness, self._encoder, folded).tokens)

    def _turn_size(self, turn: TurnRecord, expert: str) -> int:
        """Upper bound of a past turn's tokens when it is rendered anew."""
        unseen = timeline.as_unseen(turn, self._own(expert))
        answer = len(self._encoder.encode(unseen.answer))
        if turn.summary is None and not unseen.is_own:
            answer = max(answer, self._longest_summary_tokens)
        return self._message_size(unseen.user_text) + answer + _MARGIN

    def _message_size(self, text: str) -> int:
        return len(self._encoder.encode(text)) + _MARGIN
