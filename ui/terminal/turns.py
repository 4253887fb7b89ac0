"""Carry a turn's events from the client's thread to the screen. Knows no widget: it posts messages."""

from collections.abc import Callable, Generator
from contextlib import closing
from threading import Event as Flag

from textual.message import Message

from engine.errors import AgentError, boundary
from engine.events import TurnEvent, TurnOpened
from ui.client import Client
from ui.strings import say


class TurnProgress(Message):
    """One event of the running turn."""

    def __init__(self, event: TurnEvent) -> None:
        super().__init__()
        self.event = event


class TurnOver(Message):
    """The turn's thread has ended; with an error when the client raised one instead of closing the turn."""

    def __init__(self, error: AgentError | None) -> None:
        super().__init__()
        self.error = error


class CallFailed(Message):
    """Something that was asked of the client beside the turn ended with an error."""

    def __init__(self, error: AgentError) -> None:
        super().__init__()
        self.error = error


def pump(
    client: Client,
    begin: Callable[[], Generator[TurnEvent, None, None]],
    post: Callable[[Message], object],
    stop_wanted: Flag,
    language: str,
) -> None:
    """Run one turn to its end, posting each event, then exactly one `TurnOver`. Blocks; call it in a thread."""
    failure: AgentError | None = None
    try:
        edge = boundary(AgentError, say("error.unexpected", language), say("error.unexpected_hint", language))
        with edge, closing(begin()) as events:
            for event in events:
                post(TurnProgress(event))
                # A stop that came before the turn was open found nothing to stop.
                if isinstance(event, TurnOpened) and stop_wanted.is_set():
                    client.stop()
    except AgentError as error:
        failure = error
    post(TurnOver(failure))
