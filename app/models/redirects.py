"""Where a download may be led, and who may see the token. Rules only; connects to nothing.

A hub hands out its files from other hosts. Those must be https and public; the token stays with the hub.
"""

import ipaddress
import socket
from collections.abc import Callable, Iterable, Mapping
from typing import Final
from urllib.parse import urljoin, urlsplit

from engine.errors import AgentError, ModelProblem, UsageProblem

LookUp = Callable[[str], Iterable[str]]
"""The addresses of a host name."""

_LOCAL_ENDS: Final = (".localhost", ".local", ".internal", ".home.arpa")
_PORTS: Final = {"http": 80, "https": 443}
_STAND_INS: Final = ipaddress.ip_network("198.18.0.0/15")
"""Addresses by which some proxies stand in for every name they serve."""


class RedirectRefused(ModelProblem):
    """The source leads somewhere a download must not go."""


def check_endpoint(url: str) -> str:
    """The address of a hub without its last slash. Plain http is for this machine and its own network only.

    Raises: UsageProblem.
    """
    url = url.strip().rstrip("/")
    hint = "Set `hub` in settings.toml, or HF_ENDPOINT, to an address that begins with https://."
    try:
        scheme, host, _ = origin(url)
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageProblem(f"The address of the hub, {url!r}, is not valid.", hint) from error
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageProblem(f"The address of the hub must be a plain one, not {scheme}://…{parts.path}.", hint)
    if scheme == "http" and _is_public(host):
        raise UsageProblem(f"The hub at {url} would be reached without encryption.", hint)
    return url


def origin(url: str) -> tuple[str, str, int]:
    """(scheme, host, port). Raises: ValueError when it is no address of the web."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is no address of the web")
    return parts.scheme, parts.hostname.rstrip("."), parts.port or _PORTS[parts.scheme]


def headers_for(url: str, endpoint: str, token: str | None) -> Mapping[str, str]:
    """The token, where `url` is the hub itself and nobody between can read it."""
    if token is None or origin(url) != origin(endpoint):
        return {}
    scheme, host, _ = origin(url)
    return {"Authorization": f"Bearer {token}"} if scheme == "https" or _is_this_machine(host) else {}


def next_address(url: str, location: str, endpoint: str, look_up: LookUp | None) -> str:
    """Where `url` leads with this `location`. `look_up` None leaves names to a proxy.

    Raises: RedirectRefused.
    """
    target = urljoin(url, location)
    try:
        scheme, host, _ = origin(target)
        has_user = "@" in urlsplit(target).netloc
        if origin(target) in (origin(endpoint), origin(url)) and not has_user:
            return target
    except ValueError as error:
        raise _refused(location, "that is no address of the web") from error
    if scheme != "https":
        raise _refused(target, "that is not encrypted")
    if has_user:
        raise _refused(target, "the address carries a user name")
    if not _is_public(host):
        raise _refused(target, "that is this machine or its own network")
    try:
        addresses = list(look_up(host)) if look_up else []
    except OSError:
        addresses = []  # the connection will say so
    if any(not _is_public_address(address, is_of_name=True) for address in addresses):
        raise _refused(target, "its name stands for this machine or its own network")
    return target


def system_look_up(host: str) -> Iterable[str]:
    """The addresses the system knows for `host`. Raises: OSError."""
    return {str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}


def _refused(target: str, why: str) -> AgentError:
    parts = urlsplit(target)
    shown = f"{parts.scheme}://{parts.hostname or ''}" if parts.scheme else target
    return RedirectRefused(
        f"The hub leads to {shown[:120]}; {why}, so nothing was fetched from there.",
        "Check the address of the hub (`hub` in settings.toml, HF_ENDPOINT), or use another mirror.",
    )


def _is_public(host: str) -> bool:
    """Whether a host, as a name or as an address in any spelling, can be outside this machine and its network."""
    name = host.lower().rstrip(".")
    if (
        name == "localhost"
        or name.endswith(_LOCAL_ENDS)
        or ("." not in name and ":" not in name and not name.isdigit())
    ):
        return False
    address = _as_address(name)
    return address is None or _is_public_address(address)


def _is_this_machine(host: str) -> bool:
    address = _as_address(host)
    return host == "localhost" or (address is not None and ipaddress.ip_address(address).is_loopback)


def _as_address(host: str) -> str | None:
    """The address that a host spells, such as 127.0.0.1 for `2130706433` and `0x7f.1`; None for a name."""
    try:
        return str(ipaddress.ip_address(host.partition("%")[0]))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, UnicodeError):
        return None


def _is_public_address(address: str, *, is_of_name: bool = False) -> bool:
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    return found.is_global or (is_of_name and found in _STAND_INS)
