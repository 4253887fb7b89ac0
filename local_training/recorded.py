"""Recorded turns as steps to learn from: what an expert read before each, built anew by the builder that serves.

Under the harness that the turn was answered with, the token ids are those that were served. Under another, such as
today's after a text was edited, they are those that would be served now, with the same words after them. Light: no
torch. Reads the store and runs no model.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import UsageProblem
from engine.harness.message import user_message
from engine.harness.prompt import Folded, Harness, PromptState, build, head
from engine.routing import timeline
from engine.runtime.protocol import AdapterStack, Encoder, Tokens
from engine.store import Store


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """What an expert wrote in one go: to its end, or to the end of a call."""

    prompt: Tokens
    completion: Tokens
    """With the token that ended it."""
    adapters: AdapterStack
    logprobs: tuple[float, ...] | None = None
    """The sampler's, in nats, where they were kept."""


def recorded_steps(
    store: Store, turn_id: str, harness: Harness, encoder: Encoder, view_of: Mapping[str, str]
) -> tuple[RecordedStep, ...]:
    """The steps of a turn's answer, in their order; none where nothing was written.

    view_of: by which expert the view is named that each reads (`engine.views.shared_views`).

    Raises: UnknownName; UsageProblem where the turn left no tokens, or its expert is no more.
    """
    traces = [trace for trace in store.traces(turn_id) if trace.kind == "answer"]
    if not traces:
        return ()
    turn = store.turn(turn_id)
    expert = view_of.get(traces[0].expert)
    epoch = store.epoch_of_turn(turn_id, expert) if expert is not None else None
    if expert is None or epoch is None:
        raise UsageProblem(
            f"The turn {turn_id} cannot be read again: its view is not there any more.",
            "Leave it out of what is learned.",
        )
    before = store.path(turn.parent_turn_id) if turn.parent_turn_id else ()
    is_same = epoch.harness_version == harness.version
    known = store.segments(epoch.epoch_id, [one.turn_id for one in before]) if is_same else {}
    plan = timeline.plan_view(before, epoch, known)
    own = {name for name, view in view_of.items() if view == expert}
    folded = Folded(plan.folded_turns, epoch.memory.shown)
    prompt = build(
        PromptState(
            expert,
            head(harness, encoder, expert, folded),
            tuple(segment.tokens for segment in plan.past),
            tuple(timeline.as_unseen(one, own) for one in plan.unseen),
            user_message(turn.user_text, turn.attachments),
            tuple(one.line for one in turn.recalled),
        ),
        harness,
        encoder,
        folded,
    ).tokens
    # What the view gained by this turn ends with all that was written and put between; it was read from there on.
    first = traces[0].prompt
    said = traces[-1].prompt[len(first) :]
    return tuple(
        RecordedStep(
            (*prompt, *said[: len(trace.prompt) - len(first)]), trace.completion, trace.adapters, trace.logprobs
        )
        for trace in traces
    )
