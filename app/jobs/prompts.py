"""Jobs that ask an expert: a turn in a conversation of its own, between the turns of people.

The turn counts as one of a program, whoever typed the prompt: nothing in it may write memory, make tools or jobs, or
teach, and nobody is there to approve anything.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.host.service import Service
from app.jobs.kinds import Finished
from engine.agent import Agent, Steps
from engine.errors import ModelProblem, RuntimeFailed, ScoringStopped, UnknownName
from engine.events import Event, TurnClosed
from engine.jobs.values import Job, Run
from engine.runtime.protocol import Stop

LANE = "jobs"
"""Of the host's queue: a job takes turns with the faces."""


@dataclass(frozen=True, slots=True)
class _Either:
    """Set as soon as one of both is."""

    one: Stop
    other: Stop

    def is_set(self) -> bool:
        return self.one.is_set() or self.other.is_set()


@dataclass(frozen=True, slots=True)
class Prompt:
    service: Service

    def missing(self, job: Job) -> str:
        try:
            known = [label for label, _ in self.service.experts()]
        except (ModelProblem, UnknownName) as error:
            return f"{error.problem} {error.hint}".strip()
        if job.expert and job.expert not in known:
            return f"There is no expert {job.expert}. Experts: {', '.join(known)}."
        return ""

    def run(self, job: Job, run: Run, stop: Stop) -> Finished:
        closed = last_event(self.service.queue.submit(LANE, self.service.turn(_turn_of(job, stop))).result())
        match closed.state:
            case "answered":
                return Finished(closed.text, closed.text, conversation_id=closed.conversation_id)
            case "stopped" | "interrupted":
                raise ScoringStopped("The answer was stopped.", "Let it run again: macaron jobs run.")
            case _:
                raise RuntimeFailed(closed.problem or "There was no answer.", closed.hint)


def last_event(events: Sequence[Event]) -> TurnClosed:
    """Raises: ScoringStopped where the turn never began, as the host was ending."""
    if not events or not isinstance(events[-1], TurnClosed):
        raise ScoringStopped("The turn did not begin.", "Let it run again: macaron jobs run.")
    return events[-1]


def _turn_of(job: Job, stop: Stop) -> Callable[[Agent, Stop], Steps]:
    def start(agent: Agent, queue_stop: Stop) -> Steps:
        return agent.turn(
            job.text, expert=job.expert or None, provenance="tool", attended=False, stop=_Either(stop, queue_stop)
        )

    return start
