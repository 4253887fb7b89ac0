"""Stay connected to the host as long as a face is open: it does not end under us, and it tells what others do.

Starts no host: one that is lost is started by whoever next wants something of it.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from app.host.connection import HostConnection, HostLost
from engine.errors import AgentError

Listener = Callable[[str, Mapping[str, Any]], None]
"""Called with the name and values of each event, on the watcher's thread."""

_AGAIN_S: Final = 1.0


class HostWatcher:
    """Follows the host's feed on a thread of its own until it is stopped."""

    def __init__(self, connection: HostConnection, listener: Listener | None = None) -> None:
        self._connection = connection
        self._listener = listener
        self._stopped = threading.Event()
        threading.Thread(target=self._watch, name="host watcher", daemon=True).start()

    def stop(self) -> None:
        """Without waiting: the thread ends with the connection, or with the next event."""
        self._stopped.set()

    def _watch(self) -> None:
        while not self._stopped.is_set():
            try:
                for name, values in self._connection.events("GET", "/api/events"):
                    if self._stopped.is_set():
                        return
                    if self._listener is not None:
                        self._listener(name, values)
            except (HostLost, AgentError):
                pass
            self._stopped.wait(_AGAIN_S)
