"""One face's connection to its host: requests, streams of events, and another host when this one is lost.

Knows how calls, errors and events are written down, not what they mean.
"""

import json
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx

from app.host import calls
from app.host.address import HostAddress
from app.host.starting import ensure_host, find_host, read_token
from app.paths import Paths
from engine.errors import RuntimeFailed
from engine.runtime import wire

_SILENCE_S: Final = 30.0
"""A stream shows a sign of life every few seconds; after so long without one the host counts as lost."""
STARTS: Final = 2
"""How often one call may lose its host before it fails."""


class HostLost(Exception):
    """The host that was asked is gone, or does not answer."""


class HostConnection:
    """Calls may come from any thread."""

    def __init__(self, paths: Paths, address: HostAddress) -> None:
        self._paths = paths
        self._finding = threading.Lock()
        self._clients: list[httpx.Client] = []
        self.was_lost = False
        """A host was lost since the user was last told."""
        self._attach(address)

    @property
    def address(self) -> HostAddress:
        return self._address

    def get(self, path: str) -> Any:
        """What is answered, from another host if this one is lost. Raises: AgentError."""
        return self._persistently(lambda: self._http.get(path))

    def post(self, path: str, body: Any) -> Any:
        """As `get`; the call must be one that may be made twice."""
        return self._persistently(lambda: self._http.post(path, json=body))

    def call(self, name: str, /, **arguments: Any) -> Any:
        """A management call; see `app.host.calls`. It must be one that may be made twice. Raises: AgentError."""
        answer = self.post(f"/api/call/{name}", arguments)
        try:
            return calls.result_from_plain(calls.call_named(name), answer["result"])
        except (wire.WireError, KeyError, TypeError) as error:
            raise RuntimeFailed(
                f"The host answered {name} with something else: {error}.", "It may be of another version; restart it."
            ) from error

    def tell(self, path: str) -> None:
        """POST to this host and no other. Raises: HostLost, AgentError."""
        self._asked(lambda: self._http.post(path, json={}))

    def events(self, method: str, path: str, **options: Any) -> Generator[tuple[str, Any], None, None]:
        """(name, data) of a stream of server-sent events. Raises: HostLost, and whatever error the host reports."""
        name, data = "", ""
        with self._lines(method, path, options) as lines:
            for line in lines:
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    data = line.removeprefix("data: ")
                elif not line and data:
                    yield name, json.loads(data)
                    name, data = "", ""

    def find_another(self) -> None:
        """The same host if it still answers, else a new one. Raises: AgentError."""
        with self._finding:
            found = find_host(self._paths)
            if found is None or found.instance != self._address.instance:
                self.was_lost = True
                found = found or ensure_host(self._paths)
            self._attach(found)  # the same one too: its token may have been rotated

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def _attach(self, address: HostAddress) -> None:
        self._address = address
        # Earlier ones are kept until the end: another thread may still read from one.
        self._http = httpx.Client(
            base_url=address.url,
            headers={"Authorization": f"Bearer {read_token(address)}"},
            timeout=httpx.Timeout(_SILENCE_S, read=None),
            trust_env=False,
        )
        self._clients.append(self._http)

    def _persistently(self, send: Callable[[], httpx.Response]) -> Any:
        for _ in range(STARTS):
            try:
                return self._asked(send).json()
            except HostLost:
                self.find_another()
        try:
            return self._asked(send).json()
        except HostLost:
            raise lost_for_good() from None

    def _asked(self, send: Callable[[], httpx.Response]) -> httpx.Response:
        """Raises: HostLost, and whatever error the host reports."""
        try:
            answer = send()
        except httpx.TransportError as error:
            raise HostLost from error
        _raise_error(answer)
        return answer

    @contextmanager
    def _lines(self, method: str, path: str, options: dict[str, Any]) -> Iterator[Iterator[str]]:
        try:
            with self._http.stream(method, path, timeout=httpx.Timeout(_SILENCE_S), **options) as answer:
                if answer.status_code >= 400:
                    answer.read()
                    _raise_error(answer)
                yield answer.iter_lines()
        except httpx.TransportError as error:
            raise HostLost from error


def lost_for_good() -> RuntimeFailed:
    return RuntimeFailed(
        "The host ended again and again.", "Run `macaron doctor`; the host's log says what happened last."
    )


def _raise_error(answer: httpx.Response) -> None:
    """Raises: HostLost, and whatever error the host reports."""
    if answer.status_code < 400:
        return
    if answer.status_code == 401:  # the token was rotated; it is read again with the address
        raise HostLost
    try:
        told = answer.json()["error"]
        error = wire.error_from_plain(told)
    except (ValueError, KeyError, TypeError, wire.WireError):
        text = f"The host refused: {answer.status_code} {answer.text[:200]}"
        raise RuntimeFailed(text, "Restart the host: `macaron serve --stop`, then try again.") from None
    raise error
