"""The unit of credit: everything the model wrote on the way to one reward.

A tool turn has several steps, a long conversation several memory segments; they share one advantage. Light: no torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.runtime.protocol import AdapterStack, Tokens
from engine.values import Trace


@dataclass(frozen=True, slots=True)
class TrajectorySegment:
    """One prompt and the completion to be credited. `logprobs` are the sampler's, in nats, one per completion token."""

    prompt: Tokens
    completion: Tokens
    logprobs: tuple[float, ...]
    adapters: AdapterStack


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Segments in the order they were written; `reward` and `advantage` are set once they are known."""

    segments: tuple[TrajectorySegment, ...]
    reward: float | None = None
    advantage: float | None = None

    @property
    def completion_tokens(self) -> int:
        return sum(len(segment.completion) for segment in self.segments)


def from_traces(traces: Sequence[Trace]) -> Trajectory:
    """The trajectory of one turn's traces, in their order.

    Raises: ValueError when a trace has no log-probabilities, since importance weights would be guesses.
    """
    for trace in traces:
        if trace.logprobs is None or len(trace.logprobs) != len(trace.completion):
            raise ValueError(f"trace of turn {trace.turn_id} has no log-probability per completion token")
    return Trajectory(tuple(TrajectorySegment(t.prompt, t.completion, t.logprobs or (), t.adapters) for t in traces))
