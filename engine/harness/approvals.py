"""Calls that wait for a person: each is asked once, under an id, and answered once. Thread-safe; keeps nothing.

What is not answered because its turn was stopped, or because the process ended, was not permitted and has not run.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from engine.errors import ScoringStopped, UnknownName
from engine.harness.tools.values import Preview
from engine.runtime.protocol import Stop

Answer = Literal["once", "always", "reject", "never"]
"""Of a person: this call; all like it from now on; not this one; none like it from now on."""
PERMITTING: Final[frozenset[Answer]] = frozenset({"once", "always"})
LASTING: Final[frozenset[Answer]] = frozenset({"always", "never"})

_LOOK_S: Final = 0.2
"""Between two looks at the stop flag."""


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person is asked."""

    approval_id: str
    conversation_id: str
    turn_id: str
    tool: str
    source: str
    """Who brought the tool; empty for what the program itself comes with."""
    reason: str
    """Of `engine.harness.permissions.Decision`."""
    pattern: str
    """What "always" and "never" would cover."""
    preview: Preview


@dataclass(slots=True)
class _Waiting:
    approval: Approval
    answered: threading.Event = field(default_factory=threading.Event)
    answer: Answer = "reject"


class Approvals:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, _Waiting] = {}
        """Not answered yet."""
        self._asked: dict[str, _Waiting] = {}
        """Those, and those whose answer nobody has taken yet."""

    def ask(self, approval: Approval, stop: Stop) -> Answer:
        """`put` and `wait`."""
        self.put(approval)
        return self.wait(approval.approval_id, stop)

    def put(self, approval: Approval) -> None:
        """From now on it can be answered. Whoever puts it waits for it or withdraws it."""
        with self._lock:
            self._asked[approval.approval_id] = self._waiting[approval.approval_id] = _Waiting(approval)

    def withdraw(self, approval_id: str) -> None:
        """Nobody waits for it any more; nothing where that is so already."""
        with self._lock:
            self._waiting.pop(approval_id, None)
            self._asked.pop(approval_id, None)

    def wait(self, approval_id: str, stop: Stop) -> Answer:
        """The answer, once it is there. Raises: ScoringStopped once `stop` is set; nothing is permitted then."""
        with self._lock:
            waiting = self._asked[approval_id]
        try:
            while not waiting.answered.wait(_LOOK_S):
                if stop.is_set():
                    raise ScoringStopped("The turn was stopped while it waited for an approval.", "Ask again.")
            return waiting.answer
        finally:
            self.withdraw(approval_id)

    def answer(self, approval_id: str, answer: Answer) -> Approval:
        """The first answer counts. Raises: UnknownName where nothing waits under this id any more."""
        with self._lock:
            waiting = self._waiting.pop(approval_id, None)
        if waiting is None:
            raise UnknownName(
                "Nothing waits for this approval any more.", "It was answered elsewhere, or its turn has ended."
            )
        waiting.answer = answer
        waiting.answered.set()
        return waiting.approval

    def waiting(self) -> Sequence[Approval]:
        """Those that were asked and are not answered, oldest first."""
        with self._lock:
            return tuple(one.approval for one in self._waiting.values())
