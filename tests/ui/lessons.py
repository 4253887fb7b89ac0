"""A Teacher that plays a prepared lesson: progress, waits that the test ends, and a result, a failure, or neither."""

import time
from collections.abc import Generator
from dataclasses import dataclass, field
from threading import Event as Flag

from engine.adapters.records import AdapterRecord, Swap
from engine.errors import AgentError
from ui.teaching import Compared, Corrected, Proposal, Taught, TeachProgress

TOLD_EVERY_S = 0.02
PROPOSAL = Proposal(
    "2026-01-01-1200",
    "L2",
    9,
    ("Answers are short: at most 40 words.",),
    (Corrected("What is tea?", "A [bold]<b>long</b>[/] answer.", "Leaves in water."),),
    10.0,
)
PASSED = Taught(
    PROPOSAL.lesson_id,
    "L2",
    "passed",
    "ab" * 16,
    items=40,
    right_before=3,
    right_after=37,
    low=0.8,
    high=0.97,
    p_value=1e-6,
    reasons=("It follows the lesson more often.",),
    compared=(Compared("What is <i>rain</i>?", "Much [red]said[/].", "Water <script>x</script>.", False, True),),
    minutes=4.2,
)
REJECTED = Taught(
    PROPOSAL.lesson_id,
    "L2",
    "rejected",
    "ab" * 16,
    items=40,
    right_before=3,
    right_after=5,
    low=0.05,
    high=0.26,
    p_value=0.6,
    reasons=("It became worse at general questions.",),
)
RECORD = AdapterRecord("ab" * 16, "cd" * 16, "starter", "L2", "personal", "ab.gguf", 7, 8)


@dataclass
class ScriptedTeacher:
    steps: list[TeachProgress | Flag | Taught | AgentError] = field(default_factory=lambda: [PASSED])
    """Of a lesson; at a flag it waits until the test sets it, and tells where it is meanwhile."""
    refusal: AgentError | None = None
    """Raised instead of proposing."""
    problem: AgentError | None = None
    """Raised by `use` and `undo`."""
    answers: bool = False
    """Whether the adapter of the lesson answers."""
    asked: list[tuple[str | None, str | None]] = field(default_factory=list)
    """(expert, language) of everything that was to be proposed."""
    begun: list[tuple[str, bool, str | None]] = field(default_factory=list)
    """(lesson, use, language) of every lesson."""
    ended: Flag = field(default_factory=Flag)
    """Set when a lesson is over, or was closed."""

    def propose(self, expert: str | None = None, *, minutes: float = 10.0, language: str | None = None) -> Proposal:
        self.asked.append((expert, language))
        if self.refusal is not None:
            raise self.refusal
        return PROPOSAL

    def teach(
        self, lesson_id: str, *, use: bool, language: str | None = None
    ) -> Generator[TeachProgress | Taught, None, None]:
        self.begun.append((lesson_id, use, language))
        last = TeachProgress("loading")
        try:
            for step in self.steps:
                if isinstance(step, AgentError):
                    raise step
                if isinstance(step, Flag):
                    while not step.is_set():
                        yield last
                        time.sleep(TOLD_EVERY_S)
                    continue
                if isinstance(step, TeachProgress):
                    last = step
                yield step
        finally:
            self.ended.set()

    def use(self, lesson_id: str) -> Swap:
        return self._swap(answers=True)

    def undo(self, lesson_id: str) -> Swap:
        return self._swap(answers=False)

    def _swap(self, *, answers: bool) -> Swap:
        if self.problem is not None:
            raise self.problem
        before, self.answers = self.answers, answers
        return Swap(RECORD if before else None, RECORD if answers else None)
