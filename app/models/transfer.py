"""Bytes of one file from a hub over HTTP: one range at a time, in whole chunks, every answer distrusted.

Knows ranges and redirects; knows neither the disk nor what the bytes should be. What may be tried again is a `Fault`.
"""

import re
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

import httpx

from app.models.redirects import LookUp, headers_for, next_address, system_look_up
from engine.errors import ModelProblem

_MOST_REDIRECTS: Final = 5
_BLOCK_BYTES: Final = 1 << 16
_CONTENT_RANGE: Final = re.compile(r"bytes (\d+)-(\d+)/(\d+)")
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_NO_ACCESS: Final = frozenset({401, 403})


class DownloadFailed(ModelProblem):
    """The file could not be fetched; parts that are good stay on the disk."""


class Fault(Exception):
    """What went wrong this time; another try may succeed, after `wait_s` if the source says so."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class Pace:
    """Patience, in seconds and tries."""

    connect_s: float = 10.0
    stall_s: float = 30.0
    """How long nothing may arrive."""
    tries: int = 6
    """In a row, without one whole chunk in between."""
    first_wait_s: float = 1.0
    """Before the second try; doubled before each further one."""
    longest_wait_s: float = 60.0
    longest_asked_wait_s: float = 300.0
    """How long a source may ask us to wait."""


PATIENT: Final = Pace()


@dataclass(frozen=True, slots=True)
class Chunk:
    number: int
    data: bytes
    etag: str


class Source:
    """One file at a hub. Close it after use."""

    def __init__(
        self, url: str, *, endpoint: str, token: str | None, size_bytes: int, chunk_bytes: int, pace: Pace
    ) -> None:
        self._url = url
        self._endpoint = endpoint
        self._token = token
        self._size = size_bytes
        self._chunk = chunk_bytes
        timeout = httpx.Timeout(pace.stall_s, connect=pace.connect_s)
        agent = {"User-Agent": "macaron-tall", "Accept-Encoding": "identity"}
        self._client = httpx.Client(follow_redirects=False, timeout=timeout, headers=agent)
        # A proxy resolves the names itself; those this machine knows may be stand-ins or missing.
        self._look_up: LookUp | None = None if urllib.request.getproxies().get("https") else system_look_up

    def close(self) -> None:
        self._client.close()

    def chunks(self, first: int, last: int) -> Iterator[Chunk]:
        """The chunks from `first` to `last`, and others if the source gives the whole file instead.

        Raises: Fault, DownloadFailed, RedirectRefused.
        """
        start, end = first * self._chunk, min((last + 1) * self._chunk, self._size) - 1
        try:
            with self._open(start, end) as response:
                begin, length = judge(response.status_code, response.headers, start, end, self._size)
                etag = response.headers.get("etag", "")
                yield from self._cut(response.iter_raw(_BLOCK_BYTES), begin, length, etag)
        except httpx.TimeoutException as error:
            raise Fault("nothing arrives any more") from error
        except httpx.TransportError as error:
            raise Fault(f"the connection broke ({type(error).__name__})") from error
        except httpx.HTTPError as error:
            raise DownloadFailed(f"The hub gave an answer that cannot be used: {error}.", "Try a mirror.") from error

    def _cut(self, blocks: Iterator[bytes], begin: int, length: int, etag: str) -> Iterator[Chunk]:
        """The body in whole chunks. It must hold `length` bytes, of which the first is byte `begin` of the file."""
        waiting, number, taken = bytearray(), begin // self._chunk, 0
        for block in blocks:
            taken += len(block)
            if taken > length:
                raise Fault("more arrived than was announced")
            waiting += block
            while waiting and len(waiting) >= (wanted := min(self._chunk, self._size - number * self._chunk)):
                yield Chunk(number, bytes(waiting[:wanted]), etag)
                del waiting[:wanted]
                number += 1
        if taken < length:
            raise Fault("less arrived than was announced")

    @contextmanager
    def _open(self, start: int, end: int) -> Iterator[httpx.Response]:
        """The answer to a request for these bytes, wherever the hub leads."""
        url = self._url
        for _ in range(_MOST_REDIRECTS + 1):
            headers = {"Range": f"bytes={start}-{end}", **headers_for(url, self._endpoint, self._token)}
            with self._client.stream("GET", url, headers=headers) as response:
                if not response.has_redirect_location:
                    yield response
                    return
                url = next_address(url, response.headers["location"], self._endpoint, self._look_up)
        raise DownloadFailed("The hub leads in a circle.", "Use another mirror.")


def judge(status: int, headers: Mapping[str, str], start: int, end: int, size: int) -> tuple[int, int]:
    """(first byte, how many) of the body of an answer to a request for the bytes from `start` to `end` of `size`.

    Raises: Fault, DownloadFailed.
    """
    if status in _NO_ACCESS:
        raise DownloadFailed(
            "The hub does not give this file without access to it.",
            "Ask for access on the page of the model, then store your token with `macaron models token set`.",
        )
    if status in _AGAIN:
        raise Fault(f"the hub answered {status}", asked_wait_s(headers.get("retry-after", ""), time.time()))
    if status not in (200, 206):
        raise DownloadFailed(f"The hub answered {status} to a request for this file.", "Try again later, or a mirror.")
    if headers.get("content-encoding", "identity") != "identity":
        raise Fault("the hub changed the encoding of the file")
    begin, length = (0, size) if status == 200 else (start, end - start + 1)
    if status == 206:
        found = _CONTENT_RANGE.fullmatch(headers.get("content-range", ""))
        if found is None or [int(number) for number in found.groups()] != [start, end, size]:
            raise Fault(f"the hub gave other bytes ({headers.get('content-range', 'no range')}) than asked for")
    if headers.get("content-length", str(length)) != str(length):
        raise Fault(f"the hub announced {headers['content-length']} bytes instead of {length}")
    return begin, length


def asked_wait_s(retry_after: str, now_s: float) -> float | None:
    """The seconds that a header Retry-After asks for, as a number or as a date; None where it asks for nothing."""
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - now_s)
    except (ValueError, TypeError, OverflowError):
        return None
