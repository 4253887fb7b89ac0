"""What happens on each click: a Client call, and new values for the parts of the page.

Joins tabs, payloads and what is shown; draws nothing itself. Gradio calls the public methods from its worker threads
and gives them the event and the request; every answer is a tuple in the order of `Shown`.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import gradio as gr

from engine.errors import AgentError, UsageProblem
from engine.events import TurnClosed, TurnEvent, TurnOpened
from ui.browser import payloads, reading
from ui.browser.payloads import MAX_FILE_BYTES
from ui.browser.showing import Showing, Shown, Update
from ui.browser.signal_handlers import SignalHandlers
from ui.browser.tabs import Tab, Tabs
from ui.browser.turns import LiveTurn, live_after, note_html, problem_html
from ui.client import Client
from ui.inert import display_line
from ui.present import about_line
from ui.strings import say


class Handlers:
    def __init__(self, connect: Callable[[], Client], language: str) -> None:
        self._tabs = Tabs(connect, language)
        self._language = language
        self._downloads = count(1)
        self._showing = Showing(language)
        self.signals = SignalHandlers(self._tab, self._showing, language)

    # Turns.

    def send(
        self, expert: str, query: str, off_record: bool, event: gr.EventData, request: gr.Request
    ) -> Iterator[Update]:
        """Say something, or say it differently; "better: …" is noted instead. `off_record` counts where a conversation
        begins."""
        try:
            tab = self._tab(request)
            message = payloads.message_of(event._data)
            for text in message.pasted:
                tab.pasted.paste(text)
            noted = None if tab.is_running else self.signals.taken_as_better(tab, message)
        except AgentError as error:
            yield self._showing.refused(error).update()
            return
        if noted is not None:
            yield noted.update()
            return
        provenance = tab.pasted.provenance(message.text)
        if message.edits is not None:
            events = tab.client.edit(message.edits, message.text, expert=expert or None, provenance=provenance)
        else:
            events = tab.client.ask(
                message.text,
                conversation_id=message.conversation_id,
                expert=expert or None,
                provenance=provenance,
                attachments=message.files,
                off_record=off_record and message.conversation_id is None,
            )
        names = tuple(file.name for file in message.files)
        yield from self._play(tab, events, LiveTurn(message.text, names), expert, query)

    def again(self, expert: str, query: str, event: gr.EventData, request: gr.Request) -> Iterator[Update]:
        """Answer a message once more."""
        try:
            tab = self._tab(request)
            events = tab.client.regenerate(payloads.turn_of(event._data), expert=expert or None)
        except AgentError as error:
            yield self._showing.refused(error).update()
            return
        yield from self._play(tab, events, LiveTurn(""), expert, query)

    def stop(self, request: gr.Request) -> Update:
        def work() -> Shown:
            self._tab(request).stop()
            return Shown()

        return self._told(work).update()

    def reply(self, event: gr.EventData, request: gr.Request) -> Update:
        """Answer what a tool of the running turn waits for."""

        def work() -> Shown:
            approval_id, answer = payloads.reply_of(event._data)
            self._tab(request).client.tools.reply(approval_id, answer)
            return Shown()

        return self._told(work).update()

    # Reading and management.

    def ready(self, event: gr.EventData, request: gr.Request) -> tuple[Any, ...]:
        """The page was opened or reloaded: the conversation this browser tab had open, the list, and the experts."""

        def work() -> Shown:
            tab = self._tab(request)
            opened = reading.empty_transcript(self._language)
            notice = ""
            conversation_id = payloads.conversation_of(event._data)
            if conversation_id is not None:
                try:
                    opened = self._showing.transcript(tab, conversation_id)
                except UsageProblem as error:  # a conversation of another home, or one that was deleted
                    notice = problem_html(error.problem, error.hint, self._language)
            return Shown(opened, self._showing.at_rest(), notice, reading.history(tab.client, "", self._language))

        shown = self._told(work)
        if shown.transcript is None:
            shown = Shown(reading.empty_transcript(self._language), self._showing.at_rest(), shown.notice)
        return (*shown.update(), *self._choices(request))

    def about(self, request: gr.Request) -> tuple[Any, Any]:
        """What answers, and the profile in use. Waits for the base."""
        try:
            about = self._tab(request).client.about()
        except AgentError as error:
            return {"html": problem_html(error.problem, error.hint, self._language)}, gr.skip()
        notes = "".join(note_html(line) for line in (about_line(about, self._language), *about.notices))
        return {"html": notes}, about.profile or gr.skip()

    def new(self, request: gr.Request) -> Update:
        def work() -> Shown:
            self._refuse_while_running(self._tab(request))
            return Shown(reading.empty_transcript(self._language), self._showing.at_rest(), "")

        return self._told(work).update()

    def open(self, event: gr.EventData, request: gr.Request) -> Update:
        """Open a conversation; where a turn of it was found in another branch, that branch."""

        def work() -> Shown:
            tab = self._tab(request)
            self._refuse_while_running(tab)
            conversation_id = payloads.conversation_of(event._data)
            if conversation_id is None:
                return Shown(reading.empty_transcript(self._language), self._showing.at_rest(), "")
            turn_id = payloads.optional_turn_of(event._data)
            if turn_id and turn_id not in {turn.turn_id for turn in tab.client.path(conversation_id)}:
                tab.client.select(turn_id)
            return Shown(self._showing.transcript(tab, conversation_id), self._showing.at_rest(), "")

        return self._told(work).update()

    def select(self, event: gr.EventData, request: gr.Request) -> Update:
        """Another version of a message."""

        def work() -> Shown:
            tab = self._tab(request)
            self._refuse_while_running(tab)
            tab.client.select(payloads.turn_of(event._data))
            return self._showing.reread(tab, payloads.conversation_of(event._data))

        return self._told(work).update()

    def rate(self, event: gr.EventData, request: gr.Request) -> Update:
        def work() -> Shown:
            tab = self._tab(request)
            tab.client.rate(payloads.turn_of(event._data), payloads.rating_of(event._data))
            return self._showing.reread(tab, payloads.conversation_of(event._data))

        return self._told(work).update()

    def earlier(self, event: gr.EventData, request: gr.Request) -> Update:
        return self._told(
            lambda: self._showing.reread(
                self._tab(request), payloads.conversation_of(event._data), payloads.shown_of(event._data)
            )
        ).update()

    def rename(self, query: str, event: gr.EventData, request: gr.Request) -> Update:
        def work() -> Shown:
            tab = self._tab(request)
            renamed = payloads.conversation_of(event._data) or ""
            tab.client.rename(renamed, payloads.title_of(event._data))
            is_open = payloads.current_of(event._data) == renamed and not tab.is_running
            opened = self._showing.transcript(tab, renamed) if is_open else None
            return Shown(transcript=opened, notice="", history=reading.history(tab.client, query, self._language))

        return self._told(work).update()

    def search(self, query: str, request: gr.Request) -> Update:
        return self._told(
            lambda: Shown(history=reading.history(self._tab(request).client, query, self._language))
        ).update()

    def more(self, query: str, event: gr.EventData, request: gr.Request) -> Update:
        """A longer list of conversations."""

        def work() -> Shown:
            shown = payloads.shown_of(event._data)
            return Shown(history=reading.history(self._tab(request).client, query, self._language, shown))

        return self._told(work).update()

    def export(self, event: gr.EventData, request: gr.Request) -> tuple[Any, ...]:
        """A file for the browser to keep: its script makes it, so that nothing of a person's is ever served as one."""
        try:
            conversation_id = payloads.conversation_of(event._data) or ""
            wanted = payloads.format_of(event._data)
            made = reading.download(self._tab(request).client, conversation_id, wanted, self._language)
        except AgentError as error:
            return (*self._showing.failed(error).update(), gr.skip())
        serial = next(self._downloads)
        value = {"serial": serial, "name": made.name, "type": made.media_type, "text": made.text}
        return (*Shown().update(), value)

    def refuse(self, event: gr.EventData) -> Update:
        """A file that the composer did not take."""
        reason = "size" if isinstance(event._data, dict) and event._data.get("reason") == "size" else "kind"
        name = display_line(str(event._data.get("name", "")), 60) if isinstance(event._data, dict) else ""
        problem = say(f"page.file_{reason}", self._language, name=name)
        hint = say(f"page.file_{reason}_hint", self._language, limit=MAX_FILE_BYTES >> 10)
        return Shown(notice=problem_html(problem, hint, self._language)).update()

    def use_profile(self, name: str, request: gr.Request) -> Iterator[tuple[Any, ...]]:
        """Answer with another profile; says so while its base is loaded. For notice, profile, expert and about."""
        shown = display_line(name, 60)
        loading = note_html(say("page.profile_loading", self._language, profile=shown))
        yield {"html": loading}, gr.skip(), gr.skip(), gr.skip()
        try:
            client = self._tab(request).client
            about = client.use_profile(name)
            notice = note_html(say("page.profile_changed", self._language, profile=shown))
            experts = gr.Dropdown(choices=self._expert_choices(client), value="")
            yield (
                {"html": notice},
                about.profile or name,
                experts,
                {"html": note_html(about_line(about, self._language))},
            )
        except AgentError as error:
            problem = problem_html(error.problem, error.hint, self._language)
            _, old = self.about(request)
            yield {"html": problem}, old, gr.skip(), gr.skip()

    def knock(self) -> None:
        """Nothing happens; see `static/stream.js` for why it is asked for."""

    def leave(self, request: gr.Request) -> None:
        """The browser tab was closed."""
        self._tabs.leave(_name(request))

    # How it is done.

    def _play(
        self, tab: Tab, events: Generator[TurnEvent, None, None], live: LiveTurn, expert: str, query: str
    ) -> Iterator[Update]:
        """Show a turn while it runs, and the conversation as it is stored after it."""
        try:
            running = tab.begin(events)
        except AgentError as error:
            yield self._showing.refused(error).update()
            return
        conversation_id: str | None = None
        try:
            yield Shown(live=self._showing.live(live, running, expert), notice="").update()
            for batch in running.batches():
                for event in batch:
                    live = live_after(live, event)
                    if isinstance(event, TurnOpened):
                        conversation_id = event.conversation_id
                        yield self._showing.before(tab, event).update()
                    if isinstance(event, TurnClosed):
                        tab.context_tokens = event.context_tokens or tab.context_tokens
                yield Shown(live=self._showing.live(live, running, expert)).update()
        except AgentError as error:
            tab.end(running)  # before it is told, since the answer to that may be the next message
            yield self._showing.refused(error, opened=conversation_id is not None).update()
        finally:
            tab.end(running)
        if conversation_id is not None:
            yield self._showing.after(tab, conversation_id, live, query).update()

    def _choices(self, request: gr.Request) -> tuple[Any, Any]:
        """The experts and the profiles to choose from."""
        with suppress(AgentError):  # the notice already says that the host cannot be reached
            client = self._tab(request).client
            profiles = [(display_line(title or name, 60), name) for name, title in client.profiles()]
            return gr.Dropdown(choices=self._expert_choices(client), value=""), gr.Dropdown(choices=profiles)
        return gr.skip(), gr.skip()

    def _expert_choices(self, client: Client) -> list[tuple[str, str]]:
        experts = [(display_line(f"{name} · {purpose}", 60), name) for name, purpose in client.experts()]
        return [(say("page.auto", self._language), ""), *experts]

    def client(self, request: gr.Request) -> Client:
        """Of a tab of the browser. Raises: AgentError when the host cannot be reached."""
        return self._tab(request).client

    def _tab(self, request: gr.Request) -> Tab:
        return self._tabs.of(_name(request))

    def _told(self, work: Callable[[], Shown]) -> Shown:
        """What `work` shows, or what went wrong."""
        try:
            return work()
        except AgentError as error:
            return self._showing.failed(error)

    def _refuse_while_running(self, tab: Tab) -> None:
        if tab.is_running:
            raise UsageProblem(say("page.busy", self._language), say("page.busy_hint", self._language))


def _name(request: gr.Request) -> str:
    """What Gradio calls a tab of a browser; every load of the page is a new one."""
    return str(request.session_hash)
