"""The Client whose agent lives in a host. The host may be lost at any time: then another one is started.

A turn that was running is told to have been interrupted, with what was said so far; everything else is asked again.
"""

import threading
import uuid
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from app.adapters.remote import RemoteShelf
from app.harness.remote import RemoteTools
from app.host.address import HostAddress
from app.host.connection import STARTS, HostConnection, HostLost, lost_for_good
from app.host.starting import ensure_host
from app.host.watching import HostWatcher, Listener
from app.interview.remote import RemoteInterview
from app.memory.remote import RemoteMemories
from app.paths import Paths
from app.remote_library import RemoteLibrary
from app.suggestions.remote import RemoteSuggestions
from engine.errors import AgentError, RuntimeFailed
from engine.events import (
    ApprovalAsked,
    Event,
    Notice,
    Reading,
    RouteChosen,
    TextDelta,
    ToolCalled,
    ToolReturned,
    TurnClosed,
    TurnEvent,
    TurnOpened,
)
from engine.runtime import wire
from engine.runtime.protocol import Usage
from engine.values import About, Attachment, Provenance, Route, Timing

_EVENTS: Final[dict[str, type[Event]]] = {
    kind.__name__: kind
    for kind in (
        TurnOpened,
        RouteChosen,
        Notice,
        Reading,
        TextDelta,
        ToolCalled,
        ApprovalAsked,
        ToolReturned,
        TurnClosed,
    )
}


class RemoteClient(RemoteLibrary):
    """See `ui.client.Client`. Calls may come from any thread. Make one per face, or per tab of the page."""

    def __init__(
        self, paths: Paths, address: HostAddress, *, notices: Sequence[str] = (), attended: bool = False
    ) -> None:
        """`notices` are sentences that this face shows besides those of the host. `attended`: a person is there who can
        permit what tools would do; otherwise it is refused."""
        super().__init__(HostConnection(paths, address))
        self.shelf = RemoteShelf(self._connection)
        self.tools = RemoteTools(self._connection)
        self.memories = RemoteMemories(self._connection)
        self.suggestion_shelf = RemoteSuggestions(self._connection)
        self.interview_shelf = RemoteInterview(self._connection)
        self._attended = attended
        self._lock = threading.Lock()
        self._running: dict[str, str | None] = {}
        """Turns of this client by key, with their id once they have opened."""
        self._watcher: HostWatcher | None = None
        self._notices = tuple(notices)

    @property
    def address(self) -> HostAddress:
        return self._connection.address

    # Turns

    def ask(
        self,
        text: str,
        *,
        conversation_id: str | None = None,
        parent_turn_id: str | None = None,
        expert: str | None = None,
        provenance: Provenance = "typed",
        attachments: Sequence[Attachment] = (),
        off_record: bool = False,
    ) -> Generator[TurnEvent, None, None]:
        yield from self._turn(
            kind="ask",
            text=text,
            conversation_id=conversation_id,
            parent_turn_id=parent_turn_id,
            expert=expert,
            provenance=provenance,
            attachments=wire.to_plain(attachments),
            off_record=off_record,
        )

    def regenerate(self, turn_id: str, *, expert: str | None = None) -> Generator[TurnEvent, None, None]:
        yield from self._turn(kind="regenerate", turn_id=turn_id, expert=expert)

    def edit(
        self, turn_id: str, text: str, *, expert: str | None = None, provenance: Provenance = "typed"
    ) -> Generator[TurnEvent, None, None]:
        yield from self._turn(kind="edit", turn_id=turn_id, text=text, expert=expert, provenance=provenance)

    def stop(self, turn_id: str | None = None) -> None:
        with self._lock:
            keys = [key for key, known in self._running.items() if turn_id in (None, known)]
        for key in keys:
            self._stop(key)

    # Management that a library has no use for

    def idle(self) -> None:
        """The host sees for itself when nobody waits."""

    def about(self) -> About:
        about = cast(About, self._call("about"))
        return replace(about, notices=(*about.notices, *self._notices))

    def experts(self) -> Sequence[tuple[str, str]]:
        return cast(Sequence[tuple[str, str]], self._call("experts"))

    def profiles(self) -> Sequence[tuple[str, str]]:
        return cast(Sequence[tuple[str, str]], self._call("profiles"))

    def use_profile(self, name: str) -> About:
        return cast(About, self._call("use_profile", name=name))

    def watch(self, listener: Listener | None = None) -> None:
        """Stay connected, so that the host does not end while this face is open; tell `listener` what happens there."""
        self._watcher = self._watcher or HostWatcher(self._connection, listener)

    def host(self) -> dict[str, Any]:
        """What the host is doing; see `app.host.routes.facts`."""
        return cast(dict[str, Any], self._connection.get("/api/host"))

    def end_host(self) -> None:
        """Ask the host to end: running turns are stopped and keep their text."""
        with suppress(HostLost):
            self._connection.tell("/api/host/stop")

    def close(self) -> None:
        """Stop this client's turns. The host goes on."""
        if self._watcher is not None:
            self._watcher.stop()
        with suppress(AgentError):
            self.stop()
        self._connection.close()

    # One turn

    def _turn(self, **wanted: Any) -> Generator[TurnEvent, None, None]:
        key = uuid.uuid4().hex
        with self._lock:
            self._running[key] = None
        is_over = False
        try:
            yield from self._events(key, wanted)
            is_over = True
        finally:
            if not is_over:
                self._stop(key)
            with self._lock:
                del self._running[key]

    def _events(self, key: str, wanted: dict[str, Any]) -> Iterator[TurnEvent]:
        """The events of a turn, over as many connections as it takes."""
        connection = self._connection
        seen: list[TurnEvent] = []
        for _ in range(STARTS + 1):
            address = connection.address
            try:
                for event in self._received(key, wanted, seen):
                    if event.turn_id:
                        seen.append(event)
                    yield event
                    if isinstance(event, TurnOpened):
                        yield from self._opened(key, event)
                return
            except HostLost:
                connection.find_another()
            if seen and connection.address != address:
                connection.was_lost = False
                yield _interrupted(seen)
                return
        raise lost_for_good()

    def _received(self, key: str, wanted: dict[str, Any], seen: Sequence[TurnEvent]) -> Iterator[TurnEvent]:
        """What comes after `seen`. Asking again with the same key begins nothing twice.

        Raises: HostLost, the error that refused the turn.
        """
        if seen:
            told = self._connection.events("GET", f"/api/turns/{key}/events", params={"after": seen[-1].number})
        else:
            told = self._connection.events(
                "POST", "/api/turns", json={"key": key, "attended": self._attended, **wanted}
            )
        for name, data in told:
            if name == "error":
                raise wire.error_from_plain(data)
            if name == "waiting":
                yield Notice(turn_id="", number=-1, code="waiting", values={"ahead": data["ahead"]})
                continue
            event = event_from_plain(data)
            yield event
            if isinstance(event, TurnClosed):
                return
        raise HostLost

    def _opened(self, key: str, event: TurnOpened) -> Iterator[TurnEvent]:
        """Remember which turn this is; tell that the host was lost since the last one, if it was."""
        with self._lock:
            self._running[key] = event.turn_id
        if self._connection.was_lost:
            self._connection.was_lost = False
            yield Notice(turn_id=event.turn_id, number=event.number, code="host_restarted", values={})

    def _stop(self, key: str) -> None:
        # The turn may be over, or its host gone: either way it runs no more.
        with suppress(HostLost, AgentError):
            self._connection.tell(f"/api/turns/{key}/stop")


def connect(
    paths: Paths, *, profile: str | None = None, notices: Sequence[str] = (), attended: bool = False
) -> RemoteClient:
    """Attach to the host of this home; start one when none runs.

    A profile that is named is the one that answers from now on, for every face.

    Raises: AgentError with the reason why that is not possible.
    """
    if profile is not None and Path(profile).expanduser().is_dir() and Path(profile).name != profile:
        profile = str(Path(profile).expanduser().absolute())  # the host has a working folder of its own
    client = RemoteClient(paths, ensure_host(paths, profile=profile), notices=notices, attended=attended)
    if profile is not None:
        client.use_profile(profile)
    return client


def event_from_plain(data: Any) -> TurnEvent:
    """Raises: RuntimeFailed for an event this version does not know."""
    try:
        kind = _EVENTS[data["event"]]
        fields = {name: value for name, value in data.items() if name not in ("v", "event")}
        return cast(TurnEvent, wire.from_plain(kind, fields))
    except (wire.WireError, KeyError, TypeError) as error:
        raise RuntimeFailed(
            f"The host told something this program does not know: {error}.", "It may be of another version; restart it."
        ) from error


def _interrupted(seen: Sequence[TurnEvent]) -> TurnClosed:
    """How a turn ended whose host was lost. The store says the same of it."""
    opened = next(event for event in seen if isinstance(event, TurnOpened))
    route: Route | None = next((event.route for event in seen if isinstance(event, RouteChosen)), None)
    return TurnClosed(
        turn_id=opened.turn_id,
        number=seen[-1].number + 1,
        conversation_id=opened.conversation_id,
        state="interrupted",
        text="".join(event.text for event in seen if isinstance(event, TextDelta)),
        route=route,
        usage=Usage(),
        usage_other=Usage(),
        timing=Timing(),
        context_tokens=0,
        problem="The host ended unexpectedly; it has been started again. Your message is kept.",
        hint="Answer again.",
    )
