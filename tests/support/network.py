"""Keep tests on this machine: connections and name look-ups beyond loopback fail the test.

Sees only sockets of this Python process, not those of children or of native code.
"""

import ipaddress
import socket
from collections.abc import Callable
from typing import Any

import pytest

LOCAL_NAMES = frozenset({"", "localhost", "ip6-localhost"})


def is_local(host: object) -> bool:
    """Whether a host of `connect` or `getaddrinfo` is this machine; None is the wildcard of a listener."""
    if host is None:
        return True
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def refuse_network(patch: pytest.MonkeyPatch) -> None:
    """Guard `connect`, `connect_ex`, `sendto` and `getaddrinfo` until `patch` is undone."""
    patch.setattr(socket.socket, "connect", _guarded(socket.socket.connect))
    patch.setattr(socket.socket, "connect_ex", _guarded(socket.socket.connect_ex))
    patch.setattr(socket.socket, "sendto", _guarded(socket.socket.sendto))
    look_up = socket.getaddrinfo

    def guarded_look_up(host: Any, *arguments: Any, **options: Any) -> Any:
        _refuse_unless_local(host)
        return look_up(host, *arguments, **options)

    patch.setattr(socket, "getaddrinfo", guarded_look_up)


def _guarded(call: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(self: socket.socket, *arguments: Any) -> Any:
        # `sendto` may have flags before the address, which is last in all three calls.
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _refuse_unless_local(arguments[-1][0])
        return call(self, *arguments)

    return guarded


def _refuse_unless_local(host: object) -> None:
    # pytest's failure is no `Exception`, so code under test cannot take it for being offline.
    if not is_local(host):
        pytest.fail(f"A test tried to reach {host!r}; only loopback is allowed.")
