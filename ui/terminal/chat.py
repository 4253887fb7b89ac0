"""The chat: one conversation, a composer and a status line over one Client.

Holds no state of truth: what it shows comes from events and from the client's stored path. One turn runs at a time, in
a thread of its own; everything else here runs on the screen's own thread and never waits for a model.
"""

import asyncio
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event as Flag
from time import monotonic
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.timer import Timer

from engine.errors import AgentError
from engine.events import Notice, RouteChosen, TextDelta, TurnClosed, TurnEvent, TurnOpened
from engine.values import About, Provenance, TurnRecord
from ui.client import Client
from ui.present import (
    Status,
    about_line,
    advance,
    display_line,
    error_lines,
    notice_line,
    status_of_record,
    status_parts,
    working_parts,
)
from ui.strings import say
from ui.terminal.commands import KNOWN_NAMES, ForModel, Typed, Unknown, parse
from ui.terminal.composer import Composer, PromptBox
from ui.terminal.history import Chosen, HistoryScreen
from ui.terminal.overlays import ExpertsScreen
from ui.terminal.status import KeysLine, StatusLine
from ui.terminal.transcript import Transcript, TurnView
from ui.terminal.turns import IdleFailed, TurnOver, TurnProgress, pump

IDLE_AFTER_S = 1.5
"""How long nobody must have wanted anything before the agent may do its own work."""
STATUS_EVERY_S = 0.5


@dataclass(slots=True)
class RunningTurn:
    """What the screen knows of the turn that runs."""

    view: TurnView | None
    """None until a regeneration has opened."""
    sent_text: str
    """What goes back to the composer if the turn is refused."""
    edited_turn_id: str | None = None
    started_at: float = field(default_factory=monotonic)
    stop_wanted: Flag = field(default_factory=Flag)
    opened: bool = False


class ChatScreen(Screen[None]):
    AUTO_FOCUS = "#composer"
    # Priority, because the composer would otherwise take some of these keys for moving its cursor.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "new", "New conversation", priority=True, id="chat.new"),
        Binding("ctrl+r", "regenerate", "Answer again", priority=True, id="chat.regenerate"),
        Binding("ctrl+l", "history", "History", priority=True, id="chat.history"),
        Binding("ctrl+e", "edit", "Edit last message", priority=True, id="chat.edit"),
        Binding("ctrl+t", "expert", "Pin an expert", priority=True, id="chat.expert"),
        Binding("pageup", "page(-1)", "Scroll up", priority=True, id="chat.page_up"),
        Binding("pagedown", "page(1)", "Scroll down", priority=True, id="chat.page_down"),
    ]
    help_topic = "chat"

    def __init__(self, client: Client, language: str, conversation_id: str | None, expert: str | None) -> None:
        super().__init__()
        self._client = client
        self._language = language
        self.conversation_id = conversation_id
        self.pinned = expert
        self.running: RunningTurn | None = None
        self.idling = False
        self._status = Status()
        self._prompts: list[str] = []
        self._idle_timer: Timer | None = None
        self._about = About("", "", "")

        self._transcript = Transcript(language)
        self._prompt = PromptBox(language)
        self.composer = self._prompt.composer
        self._status_line = StatusLine()
        self._keys = KeysLine()

    def compose(self) -> ComposeResult:
        yield self._transcript
        yield self._prompt
        yield self._status_line
        yield self._keys

    async def on_mount(self) -> None:
        self.set_interval(STATUS_EVERY_S, self._tick)
        self._about = await asyncio.to_thread(self._client.about)
        if self.conversation_id is None:
            await self._welcome()
        else:
            self._open(Chosen(self.conversation_id))
        self._refresh()

    # What the user submits.

    async def on_composer_submitted(self, message: Composer.Submitted) -> None:
        meant = parse(message.text)
        match meant:
            case ForModel(text=""):
                return
            case Unknown(name=name):
                await self._note("command.unknown", name=display_line(name, 40), known=KNOWN_NAMES)
            case Typed(command=command, argument=argument):
                self.composer.put("")
                await self.carry_out(command.action, argument)
            case ForModel(text=text):
                await self._send(text, message.provenance)

    async def carry_out(self, action: str, argument: str = "") -> None:
        """Run the action of a command, typed or chosen from the palette."""
        if action == "expert":
            self.action_expert(argument)
        elif action == "history":
            self.action_history(argument)
        elif action in ("help", "quit"):
            await self.app.run_action(action)
        else:
            await self.run_action(action)

    async def _send(self, text: str, provenance: Provenance) -> None:
        if self._refuse_while_busy():
            return
        turn_id, expert = self._prompt.editing_turn_id, self.pinned
        self._prompt.clear()
        view = await self._transcript.begin(text)
        running = RunningTurn(view, text, edited_turn_id=turn_id)
        begin = (
            partial(self._client.ask, text, conversation_id=self.conversation_id)
            if turn_id is None
            else partial(self._client.edit, turn_id, text)
        )
        self._start(running, lambda: begin(expert=expert, provenance=provenance))

    # Actions; the palette and the slash commands name them too.

    async def action_new(self) -> None:
        if self._refuse_while_busy():
            return
        await self._switch_to(None, [])
        await self._welcome()

    def action_regenerate(self) -> None:
        if self._refuse_while_busy():
            return
        last = self._last_turn()
        if last is None or last.turn_id is None:
            self.say_briefly("nothing.regenerate")
            return
        turn_id, expert = last.turn_id, self.pinned
        self._start(RunningTurn(None, ""), lambda: self._client.regenerate(turn_id, expert=expert))

    def action_edit(self) -> None:
        if self._refuse_while_busy():
            return
        last = self._last_turn()
        if last is None or last.turn_id is None:
            self.say_briefly("nothing.edit")
            return
        self._prompt.edit(last.turn_id, last.user_text)
        self._refresh()

    def action_history(self, words: str = "") -> None:
        if not self._refuse_while_busy():
            self.app.push_screen(HistoryScreen(self._client, self._language, words), self._history_closed)

    def _history_closed(self, chosen: Chosen | None) -> None:
        if chosen is not None:
            self._open(chosen)

    @work(exclusive=True, group="experts")
    async def action_expert(self, name: str = "") -> None:
        """Pin `name`, go back to choosing with "auto", or ask which when there is no name."""
        try:
            experts = await asyncio.to_thread(self._client.experts)
        except AgentError as error:
            await self._show_error(error)
            return
        known = {expert.lower(): expert for expert, _ in experts}
        if not name:
            self.app.push_screen(ExpertsScreen(experts, self.pinned, self._language), self._expert_chosen)
        elif name.lower() == "auto":
            self._expert_chosen("")
        elif name.lower() in known:
            self._expert_chosen(known[name.lower()])
        else:
            names = ", ".join(display_line(expert) for expert in known.values())
            await self._note("expert.unknown", name=display_line(name, 40), known=names)

    def _expert_chosen(self, expert: str | None) -> None:
        if expert is None:
            return
        self.pinned = expert or None
        if expert:
            self.say_briefly("expert.pinned", expert=display_line(expert))
        else:
            self.say_briefly("expert.unpinned")
        self._refresh()

    def action_page(self, direction: int) -> None:
        self._transcript.page(direction)

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
        try:
            self._client.stop()
        except AgentError as error:
            self.call_later(self._show_error, error)

    def cancel_editing(self) -> None:
        self._prompt.cancel_editing()
        self._refresh()

    # A turn, from start to end.

    def _start(self, running: RunningTurn, begin: Callable[[], Generator[TurnEvent, None, None]]) -> None:
        if self._idle_timer is not None:
            self._idle_timer.stop()
        self.running = running
        self._status = replace(self._status, phase="opening", reading=None)
        self._refresh()
        self._run_turn(begin, running.stop_wanted)

    @work(thread=True, exclusive=True, group="turn")
    def _run_turn(self, begin: Callable[[], Generator[TurnEvent, None, None]], stop_wanted: Flag) -> None:
        pump(self._client, begin, self.post_message, stop_wanted, self._language)

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
                case Notice():
                    await view.note(notice_line(event, self._language))
                case TextDelta(text=text):
                    await view.write(text)
                case TurnClosed():
                    await view.finish(event)
        self._status = advance(self._status, event)
        self._refresh()

    async def _turn_opened(self, running: RunningTurn, event: TurnOpened) -> None:
        running.opened = True
        self.conversation_id = event.conversation_id
        if running.view is None:
            running.view = await self._transcript.begin(event.user_text)
        running.view.turn_id = event.turn_id
        if running.sent_text:
            self._prompts.append(running.sent_text)
            self.composer.remember(self._prompts)
        await self._transcript.keep_through(event.parent_turn_id, running.view)

    async def on_turn_over(self, message: TurnOver) -> None:
        running, self.running = self.running, None
        self._status = replace(self._status, phase="", reading=None)
        if running is not None:
            if not running.opened:
                await self._take_back(running)
            if message.error is not None:
                await self._show_error(message.error)
            if running.opened:
                self._idle_timer = self.set_timer(IDLE_AFTER_S, self._become_idle)
        self._refresh()

    async def _take_back(self, running: RunningTurn) -> None:
        """The turn was refused before anything was stored: its text belongs to the user again."""
        if running.view is not None:
            await running.view.remove()
        if running.sent_text and not self.composer.text:
            if running.edited_turn_id is not None:
                self._prompt.edit(running.edited_turn_id, running.sent_text)
            else:
                self.composer.put(running.sent_text)

    def _become_idle(self) -> None:
        if self.running is None and not self.idling:
            self._idle()

    @work(thread=True, exclusive=True, group="idle")
    def _idle(self) -> None:
        self.idling = True
        try:
            self._client.idle()
        except AgentError as error:
            self.post_message(IdleFailed(error))
        finally:
            self.idling = False

    async def on_idle_failed(self, message: IdleFailed) -> None:
        await self._show_error(message.error)

    # Conversations.

    @work(exclusive=True, group="open")
    async def _open(self, chosen: Chosen) -> None:
        """Show a stored conversation, on the branch of the turn that was looked for."""
        try:
            path = await asyncio.to_thread(self._client.path, chosen.conversation_id)
            if chosen.turn_id is not None and chosen.turn_id not in [record.turn_id for record in path]:
                await asyncio.to_thread(self._client.select, chosen.turn_id)
                path = await asyncio.to_thread(self._client.path, chosen.conversation_id)
        except AgentError as error:
            if self.conversation_id == chosen.conversation_id:
                self.conversation_id = None
            await self._show_error(error)
            return
        if self._refuse_while_busy():
            return
        await self._switch_to(chosen.conversation_id, path)
        await self._transcript.open(path, chosen.turn_id)

    async def _switch_to(self, conversation_id: str | None, path: Sequence[TurnRecord]) -> None:
        """Forget the conversation on screen but its draft, and take on the other's."""
        self._prompt.switch(self.conversation_id, conversation_id)
        self.conversation_id = conversation_id
        self._prompts = [record.user_text for record in path]
        self.composer.remember(self._prompts)
        for record in path:
            if record.provenance != "typed":
                self.composer.pasted.remember(record.user_text)
        limit = self._status.context_tokens
        self._status = status_of_record(path[-1], limit) if path else Status(context_tokens=limit)
        await self._transcript.clear()
        self._refresh()

    def _last_turn(self) -> TurnView | None:
        turns = self._transcript.turns
        return turns[-1] if turns else None

    # What is said.

    def say_briefly(self, key: str, **values: object) -> None:
        """One line in the place of the keys, for a moment."""
        self._keys.show_briefly(say(key, self._language, **values))

    def _refuse_while_busy(self) -> bool:
        if self.running is not None:
            self.say_briefly("busy")
        return self.running is not None

    async def _welcome(self) -> None:
        await self._transcript.welcome(about_line(self._about, self._language))
        if self._about.notices:
            await self._transcript.note("\n".join(map(display_line, self._about.notices)))

    async def _note(self, key: str, **values: object) -> None:
        await self._transcript.note(say(key, self._language, **values))

    async def _show_error(self, error: AgentError) -> None:
        await self._transcript.note("\n".join(error_lines(error.problem, error.hint, self._language)), failed=True)

    def _tick(self) -> None:
        if self.running is not None:
            self._refresh()

    def _refresh(self) -> None:
        """Bring the status line and the line of keys up to date."""
        self._keys.show_keys(say(f"keys.{self._mode()}", self._language))
        running = self.running
        # A turn that has closed has no phase, although its thread may need another moment.
        if running is None or not self._status.phase:
            self._status_line.show(status_parts(self._status, self.pinned, self._language))
            return
        parts = working_parts(self._status, self.pinned, monotonic() - running.started_at, self._language)
        if running.stop_wanted.is_set():
            parts = (say("phase.stopping", self._language), *parts[1:])
        self._status_line.show(parts)

    def _mode(self) -> str:
        if self.running is not None:
            return "running"
        return "ready" if self._prompt.editing_turn_id is None else "editing"
