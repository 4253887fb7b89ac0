"""Teaching in the chat: a lesson is proposed, learned beside the conversation, and its result used or taken back.

Nothing is learned, and nothing answers, that the user did not agree to.
"""

from functools import partial

from textual import work
from textual.message import Message

from engine.errors import AgentError, UsageProblem
from ui.client import Client
from ui.present import error_lines
from ui.teaching import Proposal
from ui.teaching_work import Teaching
from ui.terminal.apart import apart
from ui.terminal.base import ChatOptions
from ui.terminal.correcting import CorrectingScreen
from ui.terminal.teaching_panel import LessonPanel
from ui.terminal.teaching_proposal import ProposalScreen
from ui.terminal.teaching_result import ResultScreen


class LessonChanged(Message):
    """There is something new about the lesson."""


class TeachingScreen(CorrectingScreen):
    def __init__(self, client: Client, options: ChatOptions) -> None:
        super().__init__(client, options)
        self._teaching = None if options.teacher is None else Teaching(options.teacher)
        self._lesson_panel = LessonPanel(self._language)
        self._is_leaving = False

    @property
    def is_learning(self) -> bool:
        """Whether a lesson is being learned that would end with the chat."""
        return self._teaching is not None and self._teaching.underway is not None

    def end_lesson(self, wait_s: float) -> None:
        """Before quitting: end what is being learned, but wait no longer than this for it."""
        self._is_leaving = True
        if self._teaching is not None:
            self._teaching.close(wait_s)

    def action_teach(self, argument: str = "") -> None:
        """Propose a lesson, for one expert or the one corrected most; "stop" ends it, "result" shows the last one."""
        if self._teaching is None:
            self.say_briefly("teach.unavailable")
        elif argument.lower() == "stop":
            self._stop_lesson()
        elif argument.lower() == "result":
            self._show_result(self._teaching)
        else:
            self._propose(self._teaching, argument or None)

    @work(exclusive=True, group="teach")
    async def _propose(self, teaching: Teaching, expert: str | None) -> None:
        self.say_briefly("teach.looking")
        try:
            proposal = await apart(partial(teaching.propose, expert, self._language))
            if await self.app.push_screen_wait(ProposalScreen(proposal, self._keymap, self._language)):
                await self._begin(teaching, proposal)
            else:
                self.say_briefly("teach.not_now")
        except UsageProblem as problem:  # a refusal is an answer, and no failure
            await self._transcript.note("\n".join(error_lines(problem.problem, problem.hint, self._language)))
        except AgentError as error:
            await self.show_error(error)

    async def _begin(self, teaching: Teaching, proposal: Proposal) -> None:
        """Raises: UsageProblem."""

        def changed() -> None:
            self.post_message(LessonChanged())

        if not self._lesson_panel.is_attached:
            self._lesson_panel.hide()
            await self.mount(self._lesson_panel, before=self._status_line)
        teaching.begin(proposal.lesson_id, self._language, changed)
        await self.note("teach.began")
        self.on_lesson_changed()

    def on_lesson_changed(self) -> None:
        """Show where it is; at its end what came of it, unless the user is in the middle of something."""
        if self._teaching is None or self._is_leaving:
            return
        underway, taught = self._teaching.underway, self._teaching.taught
        if underway is not None:
            self._lesson_panel.show_running(underway)
        elif taught is not None and not self._lesson_panel.is_over:
            self._lesson_panel.show_over(taught)
            if self.app.screen is self and self.running is None and not self.composer.text:
                self._show_result(self._teaching)

    def on_lesson_panel_stop_pressed(self) -> None:
        self._stop_lesson()

    def on_lesson_panel_show_pressed(self) -> None:
        if self._teaching is not None:
            self._show_result(self._teaching)

    def _stop_lesson(self) -> None:
        if self._teaching is not None and self._teaching.stop():
            self.on_lesson_changed()
        else:
            self.say_briefly("teach.none_runs")

    def _show_result(self, teaching: Teaching) -> None:
        if teaching.underway is not None:
            self.say_briefly("teach.busy")
        elif teaching.taught is None:
            self.say_briefly("teach.no_result")
        else:
            self._lesson_panel.hide()
            self.app.push_screen(ResultScreen(teaching, teaching.taught, self._keymap, self._language))
