"""A turn on the screen, from the message that is sent to its end, and the agent's own work between turns.

One turn runs at a time, in a thread of its own; everything else here runs on the screen's own thread and never waits
for a model.
"""

import threading
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial

from textual.timer import Timer

from engine.errors import AgentError
from engine.events import (
    ApprovalAsked,
    Notice,
    RouteChosen,
    TextDelta,
    ToolCalled,
    ToolReturned,
    TurnClosed,
    TurnEvent,
    TurnOpened,
)
from engine.values import Attachment, Provenance
from ui.client import Client
from ui.present import advance, notice_details, notice_line
from ui.terminal.apart import apart
from ui.terminal.base import ChatBase, ChatOptions, RunningTurn
from ui.terminal.calls import ApprovalView
from ui.terminal.turns import CallFailed, TurnOver, TurnProgress, pump

IDLE_AFTER_S = 1.5
"""How long nobody must have wanted anything before the agent may do its own work."""

Begin = Callable[[], Generator[TurnEvent, None, None]]


class TalkingScreen(ChatBase):
    def __init__(self, client: Client, options: ChatOptions) -> None:
        super().__init__(client, options)
        self.idling = False
        self._prompts: list[str] = []
        self._idle_timer: Timer | None = None

    # Beginning and stopping.

    async def _send(self, text: str, provenance: Provenance) -> None:
        if self._refuse_while_busy():
            return
        attachments: tuple[Attachment, ...] = ()
        try:
            if "@" in text or self._prompt.attached:
                attachments = await apart(partial(self._prompt.all_attached, text))
        except AgentError as error:
            await self.show_error(error)
            return
        sending, expert = self._prompt.sending(text), self.pinned
        self._prompt.clear()
        names = [attachment.name for attachment in attachments] or sending.kept_names
        view = await self._transcript.begin(text, names)
        edited, parent = sending.editing_turn_id, sending.parent_turn_id
        running = RunningTurn(view, sending, makes_version=edited is not None or parent is not None)
        if edited is not None:
            self._start(running, lambda: self._client.edit(edited, text, expert=expert, provenance=provenance))
            return
        self._start(
            running,
            lambda: self._client.ask(
                text,
                conversation_id=self.conversation_id,
                parent_turn_id=parent,
                expert=expert,
                provenance=provenance,
                attachments=attachments,
                off_record=self.off_record,
            ),
        )

    def action_regenerate(self) -> None:
        """Answer the selected or the last message again."""
        if self._refuse_while_busy():
            return
        target = self._target("nothing.regenerate")
        if target is None:
            return
        turn_id, expert = target[0], self.pinned
        self.composer.focus()
        running = RunningTurn(None, makes_version=True)
        self._start(running, lambda: self._client.regenerate(turn_id, expert=expert))

    def _start(self, running: RunningTurn, begin: Begin) -> None:
        if self._idle_timer is not None:
            self._idle_timer.stop()
        self.running = running
        self._status = replace(self._status, phase="opening", reading=None)
        self._refresh()
        arguments = (self._client, begin, self.post_message, running.stop_wanted, self._language)
        # A daemon: where the host hangs, quitting must not wait for it.
        threading.Thread(target=pump, args=arguments, name="turn", daemon=True).start()

    def stop_turn(self) -> bool:
        """Ask the running turn to stop; False when none runs or it was asked before."""
        running = self.running
        if running is None or running.stop_wanted.is_set():
            return False
        running.stop_wanted.set()
        self._ask_client_to_stop()
        self._refresh()
        return True

    def stop_everything(self) -> None:
        """Before quitting: neither a turn nor the agent's own work should hold the program up."""
        if not self.stop_turn() and self.idling:
            self._ask_client_to_stop()

    def _ask_client_to_stop(self) -> None:
        threading.Thread(target=self._tell, args=(self._client.stop,), name="stop", daemon=True).start()

    def _tell(self, call: Callable[[], None]) -> None:
        """Ask the client for something whose end nobody waits for."""
        try:
            call()
        except AgentError as error:
            self.post_message(CallFailed(error))

    # What the turn tells.

    async def on_turn_progress(self, message: TurnProgress) -> None:
        running, event = self.running, message.event
        if running is None:
            return
        if isinstance(event, TurnOpened):
            await self._turn_opened(running, event)
        view = running.view
        if view is not None:
            match event:
                case RouteChosen(route=route):
                    view.show_route(route)
                case Notice(code=code) if code != "waiting":
                    await view.note(notice_line(event, self._language), notice_details(event, self._language))
                case TextDelta(text=text):
                    await view.write(text)
                case ToolCalled() | ApprovalAsked() | ToolReturned():
                    await view.show_call(event)
                case TurnClosed():
                    running.was_lost = event.state == "interrupted"
                    await view.finish(event)
        self._status = advance(self._status, event)
        self._refresh()

    def on_approval_view_answered(self, message: ApprovalView.Answered) -> None:
        """Tell the host, which may take a moment, and go back to writing."""
        reply = partial(self._client.tools.reply, message.approval_id, message.answer)
        threading.Thread(target=self._tell, args=(reply,), name="reply", daemon=True).start()
        self.composer.focus()

    async def _turn_opened(self, running: RunningTurn, event: TurnOpened) -> None:
        running.opened = True
        self.conversation_id = event.conversation_id
        if running.view is None:
            running.view = await self._transcript.begin(event.user_text, event.attachments)
        running.view.opened(event)
        if running.sending is not None:
            self._prompts.append(running.sending.text)
            self.composer.remember(self._prompts)
        await self._transcript.keep_through(event.parent_turn_id, running.view)

    async def on_turn_over(self, message: TurnOver) -> None:
        running, self.running = self.running, None
        self._status = replace(self._status, phase="", reading=None)
        if running is not None:
            if not running.opened:
                await self._take_back(running)
            if message.error is not None:
                await self.show_error(message.error)
            if running.opened and running.makes_version:
                self._count_versions()
            # Where the host was lost, the next turn starts another; idle work need not.
            if running.opened and message.error is None and not running.was_lost:
                self._idle_timer = self.set_timer(IDLE_AFTER_S, self._become_idle)
        self._refresh()

    async def _take_back(self, running: RunningTurn) -> None:
        """The turn was refused before anything was stored: its text belongs to the user again."""
        if running.view is not None:
            await running.view.remove()
        if running.sending is not None and not self.composer.text:
            self._prompt.restore(running.sending)

    def _count_versions(self) -> None:
        """Bring up to date which version each turn is; the layer that knows branches does it."""

    # The agent's own work.

    def _become_idle(self) -> None:
        if self.running is None and not self.idling and not self.loading_profile:
            self.idling = True
            threading.Thread(target=self._idle, name="idle", daemon=True).start()

    def _idle(self) -> None:
        try:
            self._tell(self._client.idle)
        finally:
            self.idling = False

    async def on_call_failed(self, message: CallFailed) -> None:
        await self.show_error(message.error)
