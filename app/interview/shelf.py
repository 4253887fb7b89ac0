"""The interview straight from the store of this process: `ui.interview_shelf.InterviewShelf`, in a host and without."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from engine.memory.interviewing import Topic, keep_answers
from engine.memory.keeping import KeptMemories
from engine.memory.values import Memory
from engine.store import Store
from engine.store.interviews import InterviewState, InterviewStore
from ui.interview import statement


class StoredInterview:
    """Who opened the store closes it."""

    def __init__(self, store: Store, memories: KeptMemories) -> None:
        self._interviews = InterviewStore(store.database)
        self._memories = memories

    def interview_state(self) -> InterviewState:
        return self._interviews.state()

    def settle_interview(self, state: InterviewState) -> None:
        self._interviews.settle(state, datetime.now(UTC))

    def answer_interview(self, answers: Mapping[str, str], language: str = "en") -> Sequence[Memory]:
        def said(topic: Topic, answer: str) -> str:
            return statement(topic, answer, language)

        now = datetime.now(UTC)
        kept = keep_answers(self._memories, answers, said, now)
        self._interviews.settle("done", now)
        return kept
