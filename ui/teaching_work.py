"""One lesson at a time, worked on beside whatever else a face does. Knows no widget and no HTML.

Calls may come from any thread; those that ask the Teacher wait for it.
"""

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace

from engine.errors import AgentError, RuntimeFailed, UsageProblem, boundary
from ui.strings import say
from ui.teaching import Proposal, Taught, Teacher, TeachProgress


@dataclass(frozen=True, slots=True)
class Underway:
    """A lesson that is being learned."""

    proposal: Proposal
    progress: TeachProgress
    is_stopping: bool = False


def nothing_changed() -> None:
    """For who looks at the lesson now and then, and need not be told."""


class Teaching:
    def __init__(self, teacher: Teacher) -> None:
        self._teacher = teacher
        self._lock = threading.Lock()
        self._proposal: Proposal | None = None
        self._underway: Underway | None = None
        self._taught: Taught | None = None
        self._is_at_rest = threading.Event()
        self._is_at_rest.set()

    @property
    def underway(self) -> Underway | None:
        return self._underway

    @property
    def taught(self) -> Taught | None:
        """What came of the last lesson that was begun here."""
        return self._taught

    def propose(self, expert: str | None, language: str) -> Proposal:
        """Raises: UsageProblem where nothing can be learned, or a lesson is being learned; AgentError."""
        self._require_rest(language)
        proposal = self._teacher.propose(expert, language=language)
        self._proposal = proposal
        return proposal

    def begin(self, lesson_id: str, language: str, changed: Callable[[], None] = nothing_changed) -> None:
        """Learn what was proposed last. `changed` is called, in another thread, whenever there is something new.

        Raises: UsageProblem where another lesson was proposed since, or one is being learned.
        """
        with self._lock:
            self._require_rest(language)
            proposal = self._proposal
            if proposal is None or proposal.lesson_id != lesson_id:
                raise _outdated(language)
            self._proposal, self._taught = None, None
            self._underway = Underway(proposal, TeachProgress("loading"))
            self._is_at_rest.clear()
        # A daemon: the process that learns ends when this one is gone.
        threading.Thread(target=self._work, args=(proposal, language, changed), name="lesson", daemon=True).start()

    def stop(self) -> bool:
        """Ask the lesson to end; False where none runs, or it was asked before."""
        with self._lock:
            if self._underway is None or self._underway.is_stopping:
                return False
            self._underway = replace(self._underway, is_stopping=True)
            return True

    def close(self, timeout_s: float) -> None:
        """Stop the lesson that runs and wait for its end, but not forever: it ends with this process in any case."""
        self.stop()
        self._is_at_rest.wait(timeout_s)

    def use(self, lesson_id: str, language: str) -> None:
        """Let the adapter of the last lesson answer, on trial. Raises: UsageProblem, AgentError."""
        self._require_taught(lesson_id, language)
        self._teacher.use(lesson_id)
        self._settle(lesson_id, is_in_use=True)

    def undo(self, lesson_id: str, language: str) -> bool:
        """Take it back; False where it did not answer any more. Raises: UsageProblem, AgentError."""
        self._require_taught(lesson_id, language)
        swap = self._teacher.undo(lesson_id)
        self._settle(lesson_id, is_in_use=False)
        return swap.previous != swap.now

    def _work(self, proposal: Proposal, language: str, changed: Callable[[], None]) -> None:
        taught = self._pulled(proposal, language, changed)
        with self._lock:
            self._underway, self._taught = None, taught
        self._is_at_rest.set()
        changed()

    def _pulled(self, proposal: Proposal, language: str, changed: Callable[[], None]) -> Taught:
        """What came of it, whatever that is."""
        stopped = Taught(proposal.lesson_id, proposal.expert, "stopped")
        edge = boundary(AgentError, say("error.unexpected", language), say("error.unexpected_hint", language))
        try:
            with edge, closing(self._teacher.teach(proposal.lesson_id, use=False, language=language)) as lesson:
                for told in lesson:
                    if isinstance(told, Taught):
                        return told
                    if not self._goes_on(told):
                        return stopped
                    changed()
            raise RuntimeFailed(say("teach.ended", language), say("teach.ended.hint", language))
        except AgentError as error:
            return replace(stopped, decision="failed", reasons=(error.problem, error.hint))

    def _goes_on(self, progress: TeachProgress) -> bool:
        with self._lock:
            underway = self._underway
            if underway is None or underway.is_stopping:
                return False
            self._underway = replace(underway, progress=progress)
            return True

    def _settle(self, lesson_id: str, *, is_in_use: bool) -> None:
        with self._lock:
            if self._taught is not None and self._taught.lesson_id == lesson_id:
                self._taught = replace(self._taught, is_in_use=is_in_use)

    def _require_rest(self, language: str) -> None:
        if self._underway is not None:
            raise UsageProblem(say("teach.busy", language), say("teach.busy.hint", language))

    def _require_taught(self, lesson_id: str, language: str) -> None:
        if self._taught is None or self._taught.lesson_id != lesson_id:
            raise _outdated(language)


def _outdated(language: str) -> UsageProblem:
    return UsageProblem(say("teach.outdated", language), say("teach.outdated.hint", language))
