"""The interview of a host that runs: `ui.interview_shelf.InterviewShelf` over HTTP."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from app.host.connection import HostConnection
from engine.memory.values import Memory
from engine.store.interviews import InterviewState


class RemoteInterview:
    """Who opened the connection closes it."""

    def __init__(self, connection: HostConnection) -> None:
        self._connection = connection

    def interview_state(self) -> InterviewState:
        return cast(InterviewState, self._call("interview_state"))

    def settle_interview(self, state: InterviewState) -> None:
        self._call("settle_interview", state=state)

    def answer_interview(self, answers: Mapping[str, str], language: str = "en") -> Sequence[Memory]:
        return cast(Sequence[Memory], self._call("answer_interview", answers=dict(answers), language=language))

    def _call(self, name: str, /, **arguments: Any) -> Any:
        return self._connection.call(name, **arguments)
