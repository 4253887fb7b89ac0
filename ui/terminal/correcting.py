"""What the user says of an answer beyond a thumb: a better one, the answer edited, this one of several; and the list.

Nothing of it changes what was answered, or what experts read of it.
"""

from functools import partial

from textual import work

from engine.errors import AgentError
from engine.signals.recognising import better_answer
from engine.signals.values import CorrectionKind
from engine.values import Provenance
from ui.signals import noted_key
from ui.terminal.answering import AnsweringScreen
from ui.terminal.apart import apart
from ui.terminal.history import Chosen
from ui.terminal.signals import SignalsScreen
from ui.terminal.turn_view import TurnView
from ui.thinking import answer_text


class CorrectingScreen(AnsweringScreen):
    # A better answer.

    def _takes_as_better(self, message: str, provenance: Provenance) -> bool:
        """Whether the message was "better: …" about the last answer, which is noted instead of sent."""
        better = better_answer(message)
        turns = self._transcript.turns
        is_plain = not self._prompt.is_aimed and not self._prompt.attached
        if better is None or not is_plain or self.running is not None or not turns or not turns[-1].answer_text:
            return False
        self._note_better(turns[-1], better, "correction", provenance, message)
        return True

    def action_better(self, text: str = "") -> None:
        """Note what should have been answered in the selected or the last turn."""
        if not text:
            self.say_briefly("better.usage")
            return
        target = self._target("nothing.correct")
        if target is not None:
            self._note_better(target[1], text, "correction", self.composer.pasted.provenance(text), f"/better {text}")

    def action_edit_answer(self) -> None:
        """Put the answer in the composer, to be noted as the user wants it."""
        if self._refuse_while_busy():
            return
        target = self._target("nothing.correct")
        if target is None:
            return
        turn_id, view = target
        text = answer_text(view.answer_text)
        if not text:
            self.say_briefly("nothing.correct")
            return
        self._prompt.correct(turn_id, text)
        self._refresh()

    def _note_edit(self, turn_id: str, text: str, provenance: Provenance) -> None:
        view = self._transcript.view_of(turn_id)
        if text.strip() and view is not None:
            self._note_better(view, text, "edit", provenance, text)

    @work(group="correct")
    async def _note_better(
        self, view: TurnView, text: str, kind: CorrectionKind, provenance: Provenance, written: str
    ) -> None:
        """`written` is what stood in the composer; where it is refused it belongs to the user again."""
        try:
            signal = await apart(partial(self._client.correct, str(view.turn_id), text, kind, provenance))
        except AgentError as error:
            if not self.composer.text:
                self.composer.put(written)
            await self.show_error(error)
            return
        if self.composer.text.strip() == written.strip():
            self._prompt.clear()
        view.show_noted(kind)
        await self.note(noted_key(signal))
        self._refresh()

    # This one of several.

    @work(group="correct")
    async def action_pick(self) -> None:
        """The selected or the last answer is better than the others to the same message."""
        target = self._target("nothing.correct")
        if target is None:
            return
        try:
            await apart(partial(self._client.pick, target[0]))
        except AgentError as error:
            await self.show_error(error)
            return
        self.say_briefly("signal.picked")

    # All of it.

    def action_signals(self) -> None:
        self.app.push_screen(SignalsScreen(self._client, self._keymap, self._language), self._signals_closed)

    def _signals_closed(self, was_changed: bool | None) -> None:
        """Draw the marks anew; while a turn runs they stay until the conversation is opened again."""
        if was_changed and self.conversation_id is not None and self.running is None:
            self._open(Chosen(self.conversation_id))
