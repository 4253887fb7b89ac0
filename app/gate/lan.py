"""A listener that other machines can reach: only with an API key, only to ask the model, on a port of its own."""

import ipaddress
import socket
from collections.abc import Collection
from dataclasses import dataclass

from app.gate.policy import Policy
from app.gate.secrets import Secrets
from app.gate.serving import open_listener, port_of
from engine.errors import UsageProblem


@dataclass(frozen=True, slots=True)
class LanListener:
    """Serve `Gate(app, policy, authenticate=secrets.api_access_of)` on `socket`. The face token must not work here."""

    socket: socket.socket
    policy: Policy


def lan_listener(address: str, port: int, secrets: Secrets, names: Collection[str] = ()) -> LanListener:
    """`names` are the host names by which others call this machine; an address that stands for all needs them.

    Raises: UsageProblem without an API key, or for an address that is none; AgentError when the port is taken.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError as error:
        raise UsageProblem(
            f"{address!r} is no IP address.", "Give that of a network card, such as 192.168.1.5."
        ) from error
    if secrets.api_key.read() is None:
        raise UsageProblem(
            f"Nothing may listen on {address} without an API key: everyone on the network could use the model.",
            "Make one with `macaron key`, then start again.",
        )
    if parsed.is_unspecified and not names:
        raise UsageProblem(
            f"{address} stands for every address of this machine, so it is not known by which names others call it.",
            "Give the address of one network card, or the names.",
        )
    own = [] if parsed.is_unspecified else [f"[{parsed}]" if parsed.version == 6 else str(parsed)]
    listener = open_listener(str(parsed), port)
    return LanListener(listener, Policy(port_of(listener), names=(*own, *names), lock_out=True))
