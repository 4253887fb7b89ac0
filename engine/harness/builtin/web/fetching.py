"""Fetch one page: every name is resolved once, its numbers are checked, and the checked number is connected to.

So an answer of the name service that changes between the check and the connection changes nothing. The size, the time
and the number of redirects are bounded; proxies and other settings of the environment are not used.
"""

import socket
import ssl
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import httpx

from engine.errors import UsageProblem
from engine.harness.builtin.web.addresses import PORTS, Address, Target, numbers_of, refusal, target_of

MOST_BYTES: Final = 3 << 20
MOST_REDIRECTS: Final = 5
WAIT_S: Final = 8.0
"""For the next bytes."""
CONNECT_S: Final = 5.0
_MOST_TRIED: Final = 3
"""Numbers of one name."""
USER_AGENT: Final = "Mozilla/5.0 (compatible; macaron-tall)"
_TEXT_TYPES: Final = frozenset(
    (
        *("text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/csv", "text/xml"),
        *("application/xml", "application/json", "application/ld+json", "application/rss+xml", "application/atom+xml"),
    )
)
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_CHUNK_BYTES: Final = 1 << 16


def look_up(host: str, port: int) -> Sequence[str]:
    """All numbers of a name, as the system says. Raises: OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for _, _, _, _, address in found]


@dataclass(frozen=True, slots=True)
class Reach:
    """What may be connected to. The default is what a program may that reads pages of strangers; tests, whose servers
    are on this machine, give their own."""

    look_up: Callable[[str, int], Sequence[str]] = look_up
    refusal: Callable[[Address], str] = refusal
    ports: frozenset[int] | None = PORTS
    """None for any."""
    certificates: ssl.SSLContext | None = None
    """Which servers are believed to be who they say; None for those that are commonly believed."""


PUBLIC: Final = Reach()


@dataclass(frozen=True, slots=True)
class Page:
    address: str
    """Where it was found in the end."""
    content_type: str
    charset: str
    """As its sender says; empty where it does not."""
    data: bytes
    is_cut: bool


def fetch(address: str, reach: Reach = PUBLIC, is_given_up: Callable[[], bool] = lambda: False) -> Page:
    """Raises: UsageProblem, which says what stood in the way."""
    target = target_of(address, reach.ports)
    timeout = httpx.Timeout(WAIT_S, connect=CONNECT_S)
    verify = reach.certificates or True
    with httpx.Client(trust_env=False, follow_redirects=False, timeout=timeout, verify=verify) as client:
        for _ in range(MOST_REDIRECTS + 1):
            numbers = _checked_numbers(target, reach)
            with _answer(client, target, numbers) as response:
                if response.status_code not in _REDIRECTS:
                    return _page(target, response, is_given_up)
                target = _redirected(target, response, reach)
    raise UsageProblem(f"{address:.200} leads on more than {MOST_REDIRECTS} times.", "Fetch another page.")


def _checked_numbers(target: Target, reach: Reach) -> Sequence[Address]:
    """The numbers to connect to. One that is refused refuses them all: nobody needs a name that is half public."""
    literal = target.literal
    try:
        numbers = [literal] if literal is not None else numbers_of(reach.look_up(target.host, target.port))
    except (OSError, ValueError) as error:
        raise UsageProblem(f"The name {target.host} cannot be looked up.", "Check the address.") from error
    if not numbers:
        raise UsageProblem(f"The name {target.host} has no address.", "Check the address.")
    for number in numbers:
        if reason := reach.refusal(number):
            raise UsageProblem(f"{target.host} cannot be fetched: {reason}.", "Use a public http or https address.")
    return numbers[:_MOST_TRIED]


@contextmanager
def _answer(client: httpx.Client, target: Target, numbers: Sequence[Address]) -> Iterator[httpx.Response]:
    """The answer of the server at the first of these numbers that lets itself be connected to; its body is to come."""
    with failures_named(target.host):
        response = _sent(client, target, numbers)
        try:
            yield response
        finally:
            response.close()


def _sent(client: httpx.Client, target: Target, numbers: Sequence[Address]) -> httpx.Response:
    for number in numbers[:-1]:
        try:
            return client.send(_request(client, target, number), stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            continue  # a network without IPv6, as there are many
    return client.send(_request(client, target, numbers[-1]), stream=True)


def _request(client: httpx.Client, target: Target, number: Address) -> httpx.Request:
    default = {"http": 80, "https": 443}[target.url.scheme]
    host = f"[{target.host}]" if ":" in target.host else target.host
    return client.build_request(
        "GET",
        target.url.copy_with(host=str(number)),
        headers={
            "Host": host if target.port == default else f"{host}:{target.port}",
            "User-Agent": USER_AGENT,
            "Accept": "text/html, text/plain, application/json;q=0.9, */*;q=0.1",
            "Accept-Encoding": "gzip",
        },
        # Certificates are checked against the name that was asked for, not against the number.
        extensions={"sni_hostname": target.host},
    )


@contextmanager
def failures_named(host: str) -> Iterator[None]:
    """What goes wrong on the way to a server and back, as our errors. Raises: UsageProblem."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise UsageProblem(f"{host} did not answer in time.", "Try again later.") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError, zlib.error) as error:
        raise UsageProblem(
            f"{host} could not be read: {str(error)[:200]}.", "Check the address, or try later."
        ) from error


def bounded(response: httpx.Response, most_bytes: int, is_given_up: Callable[[], bool]) -> tuple[bytes, bool]:
    """The body and whether it was cut. A few bytes that unpack to very many are cut at the same size.

    Raises: UsageProblem for a packing that was not asked for.
    """
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "gzip", "x-gzip", ""):
        raise UsageProblem(f"The answer is packed as {packing[:40]}, which was not asked for.", "Fetch another page.")
    unpacker = zlib.decompressobj(47) if "gzip" in packing else None
    data = bytearray()
    for chunk in response.iter_raw(_CHUNK_BYTES):
        data += chunk if unpacker is None else unpacker.decompress(chunk, most_bytes + 1 - len(data))
        if len(data) > most_bytes or is_given_up():
            return bytes(data[:most_bytes]), True
    return bytes(data), False


def _redirected(target: Target, response: httpx.Response, reach: Reach) -> Target:
    """Where the server leads on to, checked as the first address was. Raises: UsageProblem."""
    location = response.headers.get("location", "")
    try:
        following = str(target.url.join(location))
    except (httpx.InvalidURL, ValueError):
        raise UsageProblem(f"{target.host} leads on to no address.", "Fetch another page.") from None
    checked = target_of(following, reach.ports)
    if target.url.scheme == "https" and checked.url.scheme == "http":
        raise UsageProblem(f"{target.host} leads on to an address without encryption.", f"That would be {checked.url}.")
    return checked


def _page(target: Target, response: httpx.Response, is_given_up: Callable[[], bool]) -> Page:
    if response.status_code != 200:
        raise UsageProblem(f"{target.host} answered with {response.status_code}.", "Check the address.")
    content_type, _, rest = response.headers.get("content-type", "").partition(";")
    content_type = content_type.strip().lower()
    if content_type not in _TEXT_TYPES:
        raise UsageProblem(
            f"{target.url} is {content_type[:60] or 'of no known kind'}, not text.",
            "Only pages of text can be fetched.",
        )
    charset = rest.lower().partition("charset=")[2].partition(";")[0].strip("\"' ")
    data, is_cut = bounded(response, MOST_BYTES, is_given_up)
    return Page(str(target.url), content_type, charset, data, is_cut)
