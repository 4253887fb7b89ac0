"""Which addresses of the web may be reached: public ones, by http and https, and nothing on this machine or near it.

Pure. The text of an address is taken apart once, by one parser, and whoever connects uses those parts; so there are no
two opinions of what it means. What a name stands for is checked by the number that is then connected to.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import httpx

from engine.errors import UsageProblem

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MOST_CHARACTERS: Final = 2048
PORTS: Final = frozenset((80, 443, 8080, 8443))
"""Others are services that are no web pages."""
_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9_.-]*[a-z0-9])?", re.ASCII)
_END_OF_HOST: Final = re.compile("[/?#]")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_HIDDEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"))
_ALSO_REFUSED: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "168.63.129.16/32",  # what a cloud tells its machines about themselves
        "192.0.0.0/24",
        "192.88.99.0/24",
        "64:ff9b:1::/48",
        "fec0::/10",
        "::/96",
        "::ffff:0:0:0/96",
        "2002::/16",
        "2001::/23",
        "100::/64",
    )
)
_V4_IN_V6: Final = (ipaddress.IPv6Network("::ffff:0:0/96"), ipaddress.IPv6Network("64:ff9b::/96"))
"""Their last 32 bits are the IPv4 address that is reached."""


@dataclass(frozen=True, slots=True)
class Target:
    """An address of the web, taken apart."""

    url: httpx.URL
    """Without fragment."""
    host: str
    """In ASCII and lower case, as it goes into the request."""
    port: int

    @property
    def literal(self) -> Address | None:
        """The number, where the host is one."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None


def target_of(text: str, ports: frozenset[int] | None = PORTS) -> Target:
    """Without `ports` any may be used. Raises: UsageProblem."""
    written = text.strip()
    if not written or len(written) > MOST_CHARACTERS:
        raise UsageProblem(
            f"An address has 1 to {MOST_CHARACTERS} characters.", "Give one such as https://example.org."
        )
    if "\\" in written or any(unicodedata.category(character) in _HIDDEN for character in written):
        raise _refused(written, "it holds a space, a backslash or a hidden character")
    try:
        url = httpx.URL(written).copy_with(fragment=None)
        port = {"http": 80, "https": 443}.get(url.scheme, 0) if url.port is None else url.port
        host = url.raw_host.decode("ascii").lower().rstrip(".")
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise _refused(written, "it is none") from None
    if url.scheme not in ("http", "https"):
        raise _refused(written, f"{url.scheme or 'an address without a scheme'} is not http or https")
    if url.userinfo or "@" in _END_OF_HOST.split(written.partition("//")[2], maxsplit=1)[0]:
        raise _refused(written, "it holds a user name")
    if not 0 < port < 1 << 16 or (ports is not None and port not in ports):
        raise _refused(written, f"port {port} is not one of web pages")
    _check_host(written, host)
    return Target(url, host, port)


def refusal(address: Address) -> str:
    """Why this number must not be connected to; empty where it may."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id:
            return "it is on a network of this machine"
        if any(address in network for network in _V4_IN_V6):
            return refusal(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    if address.is_loopback or address.is_unspecified:
        return "it is this machine"
    if address.is_link_local:
        return "it is on the network of this machine"
    if address.is_multicast or address.is_reserved or not address.is_global:
        return "it is not a public address"
    if any(address in network for network in _ALSO_REFUSED if network.version == address.version):
        return "it is not a public address"
    return ""


def numbers_of(found: Sequence[str]) -> Sequence[Address]:
    """Raises: ValueError for text that is no number."""
    return [ipaddress.ip_address(one) for one in dict.fromkeys(found)]


def _check_host(written: str, host: str) -> None:
    if ":" in host:
        try:
            address = ipaddress.IPv6Address(host)
        except ValueError:
            raise _refused(written, "its host is no IPv6 address") from None
        if address.scope_id:
            raise _refused(written, "its host names a network of this machine")
        return
    if not _HOST.fullmatch(host) or ".." in host or len(host) > 253:
        raise _refused(written, "its host is no name")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        # 2130706433, 0x7f.1 and 0177.0.0.1 are all 127.0.0.1 to some programs and something else to others.
        try:
            ipaddress.IPv4Address(host)
        except ValueError:
            raise _refused(written, "its host is a number in an unusual form") from None


def _refused(written: str, reason: str) -> UsageProblem:
    return UsageProblem(f"{written[:200]!r} cannot be fetched: {reason}.", "Use a public http or https address.")
