"""What the agent asks by itself: a suggestion, or on the first day whether it may ask five questions.

Only at the start of a chat and after a turn, one at a time, and never while an answer is written.
"""

from contextlib import suppress
from functools import partial

from textual import work

from engine.errors import AgentError
from engine.suggestions.values import Suggestion
from ui import suggestions
from ui.client import Client
from ui.strings import say, say_count
from ui.terminal.apart import apart
from ui.terminal.base import ChatOptions, RunningTurn
from ui.terminal.interviewing import InterviewScreen
from ui.terminal.offering import OfferPanel
from ui.terminal.talking import Begin
from ui.terminal.teaching import TeachingScreen


class SuggestingScreen(TeachingScreen):
    def __init__(self, client: Client, options: ChatOptions) -> None:
        super().__init__(client, options)
        self._offer = OfferPanel(self._keymap)
        self._suggestion: Suggestion | None = None
        """The one on screen; None where it is the interview that is offered."""

    @work(exclusive=True, group="suggest")
    async def look_for_suggestion(self) -> None:
        """Show what is suggested now. Nobody waits for it, so what cannot be asked is left."""
        if self.running is not None:
            return
        with suppress(AgentError):
            if await apart(self._client.interview_shelf.interview_state) == "new":
                await apart(partial(self._client.interview_shelf.settle_interview, "offered"))
                texts = (say(f"interview.offer{part}", self._language) for part in ("", ".why", ".yes", ".no"))
                await self._show_offer(None, *texts)
                return
            found = await apart(self._client.suggestion_shelf.suggestions)
            if found:
                reason = f"{suggestions.reason(found[0], self._language)} · "
                await self._show_offer(
                    found[0],
                    suggestions.question(found[0], self._language),
                    reason + suggestions.way_off(found[0], self._language),
                    suggestions.agreement(found[0], self._language),
                    say("suggestion.no", self._language),
                )

    def action_accept_suggestion(self) -> None:
        self._answer_offer(accepts=True)

    def action_dismiss_suggestion(self) -> None:
        self._answer_offer(accepts=False)

    def on_offer_panel_answered(self, message: OfferPanel.Answered) -> None:
        self._answer_offer(accepts=message.accepts)

    @work(exclusive=True, group="interview")
    async def action_interview(self) -> None:
        """Ask the five questions, and remember what is answered."""
        answers = await self.app.push_screen_wait(InterviewScreen(self._language))
        if not answers:
            await self.note("interview.nothing")
            return
        try:
            kept = await apart(partial(self._client.interview_shelf.answer_interview, answers, self._language))
        except AgentError as error:
            await self.show_error(error)
            return
        await self._transcript.note(say_count("interview.kept", self._language, len(kept)))

    async def _show_offer(self, suggestion: Suggestion | None, *texts: str) -> None:
        if self.running is not None:
            return
        if not self._offer.is_attached:
            await self.mount(self._offer, before=self._prompt)
        self._suggestion = suggestion
        self._offer.show(*texts)
        if not self._transcript.turns:
            # The welcome is read from its beginning, where the offer leaves no room for all of it.
            self.call_after_refresh(self._transcript.scroll_home, animate=False)

    def _answer_offer(self, *, accepts: bool) -> None:
        if not self._offer.display:
            return
        self._offer.hide()
        if self._suggestion is not None:
            self._answer_suggestion(self._suggestion.suggestion_id, accepts=accepts)
        elif accepts:
            self.action_interview()
        else:
            self._decline_interview()

    @work(exclusive=True, group="suggest")
    async def _answer_suggestion(self, suggestion_id: int, *, accepts: bool) -> None:
        shelf = self._client.suggestion_shelf
        answer = shelf.accept_suggestion if accepts else shelf.dismiss_suggestion
        try:
            answered = await apart(partial(answer, suggestion_id))
        except AgentError as error:
            await self.show_error(error)
            return
        await self._transcript.note(suggestions.outcome(answered, self._language))

    @work(exclusive=True, group="suggest")
    async def _decline_interview(self) -> None:
        try:
            await apart(partial(self._client.interview_shelf.settle_interview, "declined"))
        except AgentError as error:
            await self.show_error(error)
            return
        await self.note("interview.declined")

    # Around a turn

    def _start(self, running: RunningTurn, begin: Begin) -> None:
        self._offer.hide()
        super()._start(running, begin)

    def _become_idle(self) -> None:
        super()._become_idle()
        if self.running is None:
            self.look_for_suggestion()
