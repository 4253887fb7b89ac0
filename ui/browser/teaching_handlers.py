"""What happens on each click in the panel of teaching.

One lesson at a time for the whole page: every tab shows it, whichever began it.
"""

from collections.abc import Callable
from typing import Any

import gradio as gr

from engine.errors import AgentError, UsageProblem
from ui.browser import payloads
from ui.browser.teaching import failed_html, proposal_html, refused_html, taught_html, underway_html
from ui.browser.turns import note_html, problem_html
from ui.teaching_lines import over_line, running_line, undone_line
from ui.teaching_work import Teaching, Underway

Panel = dict[str, Any]


class TeachingHandlers:
    def __init__(self, teaching: Teaching, language: str) -> None:
        self._teaching = teaching
        self._language = language

    def status(self) -> Panel:
        """Where the lesson is that runs, or what came of the last one; nothing where there is neither."""
        underway, taught = self._teaching.underway, self._teaching.taught
        if underway is not None:
            return self._underway(underway)
        return {} if taught is None else self._taught()

    def look(self) -> Panel:
        """The panel was opened."""
        return self.status() or self.propose()

    def propose(self) -> Panel:
        """What can be learned; it takes the place of the last result."""
        try:
            proposal = self._teaching.propose(None, self._language)
        except UsageProblem as refusal:
            return {"html": refused_html(refusal, self._language)}
        except AgentError as error:
            return {"html": failed_html(error, self._language)}
        return {"html": proposal_html(proposal, self._language)}

    def learn(self, event: gr.EventData) -> Panel:
        try:
            self._teaching.begin(payloads.lesson_of(event._data), self._language)
        except AgentError as error:
            return {"html": failed_html(error, self._language)}
        return self.status()

    def stop(self) -> Panel:
        self._teaching.stop()
        return self.look()

    def use(self, event: gr.EventData) -> Panel:
        def work() -> str:
            self._teaching.use(payloads.lesson_of(event._data), self._language)
            return ""

        return self._changed(work)

    def undo(self, event: gr.EventData) -> Panel:
        def work() -> str:
            changed = self._teaching.undo(payloads.lesson_of(event._data), self._language)
            taught = self._teaching.taught
            return "" if taught is None else note_html(undone_line(taught, changed, self._language))

        return self._changed(work)

    def _changed(self, work: Callable[[], str]) -> Panel:
        """The result with what `work` says, or what went wrong."""
        try:
            said = work()
        except AgentError as error:
            if self._teaching.taught is None:
                return {"html": failed_html(error, self._language)}
            said = problem_html(error.problem, error.hint, self._language)
        return self._taught(said)

    def _underway(self, underway: Underway) -> Panel:
        proposal, progress, is_stopping = underway.proposal, underway.progress, underway.is_stopping
        return {
            "html": underway_html(proposal, self._language, is_stopping=is_stopping),
            "line": running_line(proposal.expert, progress, self._language, is_stopping=is_stopping),
            "running": True,
            "done": progress.done,
            "total": progress.total,
        }

    def _taught(self, said: str = "") -> Panel:
        taught = self._teaching.taught
        if taught is None:
            return self.look()
        return {"html": taught_html(taught, self._language, said=said), "line": over_line(taught, self._language)}
