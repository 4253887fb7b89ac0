"""uvicorn's HTTP protocol with deadlines and a bound on connections. Knows no request and no application.

A connection is closed when its request head is not complete in time, when its client takes no byte of an answer for a
while, or when it goes on sending a body that was already answered. How slowly a body may come is the gate's affair.
"""

import asyncio
import sys
from dataclasses import dataclass
from typing import Any, Final, Literal

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_BYTES: Final = 32 << 10
_Phase = Literal["", "head", "unread", "stalled"]


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    connections: int = 2048
    """At once; the next one is closed unheard."""
    head_s: float = 10.0
    """From the first byte of a request, or from the connection, until its head is complete."""
    idle_s: int = 15
    """Between an answer and the next request."""
    unread_s: float = 2.0
    """For the rest of a body that was refused. Closing at once would take the answer away from a client that sends."""
    stalled_s: float = 30.0
    """For a client whose answer waits to be taken."""


class GuardedProtocol(H11Protocol):
    limits = ConnectionLimits()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._phase: _Phase = ""
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
            return
        self._enter("head")

    def connection_lost(self, exc: Exception | None) -> None:
        self._enter("")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._phase in ("", "head"):
            self._enter("head" if self.conn.their_state is h11.IDLE else "")
        elif self._phase == "unread" and self.conn.their_state is not h11.SEND_BODY:
            self._enter("")

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._enter("unread" if self.conn.their_state is h11.SEND_BODY else "")

    def pause_writing(self) -> None:
        super().pause_writing()
        self._enter("stalled")

    def resume_writing(self) -> None:
        super().resume_writing()
        self._enter("")

    def send_400_response(self, msg: str) -> None:
        # Called while h11's error is being handled; it alone knows that there were two Hosts, or too much.
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        if "Host" in str(error):
            status, msg = 421, "This request must name one host."
        body = f"{msg}\n".encode("ascii")
        headers = [
            ("content-type", "text/plain; charset=utf-8"),
            ("content-length", str(len(body))),
            ("x-content-type-options", "nosniff"),
            ("connection", "close"),
        ]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _enter(self, phase: _Phase) -> None:
        if phase == self._phase:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._phase, self._deadline = phase, None
        seconds = {
            "": None,
            "head": self.limits.head_s,
            "unread": self.limits.unread_s,
            "stalled": self.limits.stalled_s,
        }
        if (delay_s := seconds[phase]) is not None:
            # What a stalled client has not taken by then is not worth keeping.
            end = self.transport.abort if phase == "stalled" else self.transport.close
            self._deadline = self.loop.call_later(delay_s, end)
