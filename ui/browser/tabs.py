"""What the page keeps of each open tab: its Client, the turn it has running, what was pasted into it.

Knows no Gradio and no HTML. Which conversation is open is the browser's to remember, so a tab that was forgotten here
goes on after its next click.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final

from engine.errors import AgentError, RuntimeFailed, UsageProblem, boundary
from engine.events import TurnEvent
from ui.browser.reading import TURNS_SHOWN
from ui.client import Client
from ui.pasting import PastedText
from ui.strings import say

BATCH_EVERY_S: Final = 0.1
"""How often a running turn is shown anew; events that come in between are shown together."""
TICK_EVERY_S: Final = 1.0
"""How often it is shown although nothing came, for the clock."""


class RunningTurn:
    """Pulls the events of one turn on a thread of its own, so that a slow browser never slows the agent."""

    def __init__(self, events: Generator[TurnEvent, None, None], after: Callable[[], None], language: str) -> None:
        self.started = time.monotonic()
        self._language = language
        self._events = events
        self._after = after
        self._came: SimpleQueue[TurnEvent | AgentError | None] = SimpleQueue()
        threading.Thread(target=self._pull, name="page-turn", daemon=True).start()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def batches(self) -> Iterator[list[TurnEvent]]:
        """What came since the last batch, at most every `BATCH_EVERY_S`; empty when nothing came for a while.

        Raises: AgentError when the turn could not begin or its events broke off.
        """
        is_over = False
        while not is_over:
            batch: list[TurnEvent] = []
            for came in self._wait():
                if came is None:
                    is_over = True
                elif isinstance(came, AgentError):
                    raise came
                else:
                    batch.append(came)
            yield batch
            if not is_over:
                time.sleep(BATCH_EVERY_S)

    def _wait(self) -> Iterator[TurnEvent | AgentError | None]:
        with suppress(Empty):
            yield self._came.get(timeout=TICK_EVERY_S)
        with suppress(Empty):
            while True:
                yield self._came.get_nowait()

    def _pull(self) -> None:
        try:
            problem = say("error.unexpected", self._language)
            with boundary(RuntimeFailed, problem, say("page.unexpected_hint", self._language)):
                for event in self._events:
                    self._came.put(event)
        except AgentError as error:
            self._came.put(error)
        finally:
            self._events.close()
            self._came.put(None)
        self._after()


class Tab:
    def __init__(self, client: Client, language: str) -> None:
        self.client = client
        self.pasted = PastedText()
        self.context_tokens: int | None = None
        """Size of the context; None until a turn has told it."""
        self.shown_turns = TURNS_SHOWN
        """How many turns of the open conversation were wanted last."""
        self._language = language
        self._running: RunningTurn | None = None
        self._lock = threading.Lock()

    @property
    def is_running(self) -> bool:
        return self._running is not None

    def begin(self, events: Generator[TurnEvent, None, None]) -> RunningTurn:
        """Raises: UsageProblem when this tab has a turn running."""
        with self._lock:
            if self._running is not None:
                raise UsageProblem(say("page.busy", self._language), say("page.busy_hint", self._language))
            self._running = RunningTurn(events, self._idle, self._language)
            return self._running

    def end(self, running: RunningTurn) -> None:
        with self._lock:
            if self._running is running:
                self._running = None

    def stop(self) -> None:
        if self.is_running:
            self.client.stop()

    def leave(self) -> None:
        """The tab was closed: nobody waits for its turn any more."""
        with suppress(AgentError):  # a host that cannot be told has lost the turn too
            self.stop()
        self.client.close()

    def _idle(self) -> None:
        # Summaries are made later instead when they cannot be made now; nobody waits for them.
        with suppress(AgentError):
            self.client.idle()


class Tabs:
    """The open tabs of a page by the name Gradio gives each. Calls may come from any thread."""

    def __init__(self, connect: Callable[[], Client], language: str) -> None:
        self._connect = connect
        self._language = language
        self._tabs: dict[str, Tab] = {}
        self._lock = threading.Lock()

    def of(self, name: str) -> Tab:
        """Raises: AgentError when the host cannot be reached."""
        with self._lock:
            if name not in self._tabs:
                self._tabs[name] = Tab(self._connect(), self._language)
            return self._tabs[name]

    def leave(self, name: str) -> None:
        with self._lock:
            tab = self._tabs.pop(name, None)
        if tab is not None:
            tab.leave()
