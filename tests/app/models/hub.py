"""A model hub on loopback: the addresses that a pull asks, served from memory, and every way to serve them badly.

Counts what it sends, so that a test can say which bytes were fetched again.
"""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
BLOCK = 16 << 10


@dataclass
class Repo:
    """Files by their path; `large` ones are kept as the hub keeps weights, with a SHA-256."""

    files: Mapping[str, bytes]
    licence: str = "apache-2.0"
    gated: bool | str = False
    private: bool = False
    card: Mapping[str, Any] = field(default_factory=dict)
    claims: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 that the hub claims for a file, where that is not the true one."""


@dataclass(frozen=True)
class Asked:
    """One request for bytes: the range asked for, and the bytes of the body that were sent."""

    path: str
    start: int
    end: int
    token: str
    sent: int


@dataclass
class Answer:
    """What the hub is about to send; a fault changes it."""

    status: int
    headers: dict[str, str]
    body: bytes
    cut: int | None = None
    """Close the connection after this many bytes of the body."""
    stall_s: float = 0.0
    """Wait this long before the last half of the body."""


Fault = Callable[[Answer, int, int, bytes], None]
"""(answer, start, end, whole file): changes the answer to a request for these bytes."""


class Hub:
    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.asked: list[Asked] = []
        self.paths: list[str] = []
        """Every path that was asked for, faults and all."""
        self.faults: list[Fault] = []
        """One for each request for bytes, the first first; then none."""
        self.always: Fault | None = None
        """For every request for which `faults` has none."""
        self.token = "hf_right"
        self.block_pause_s = 0.0
        self._ended = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def sent_bytes(self) -> int:
        """Of files."""
        return sum(asked.sent for asked in self.asked)

    def close(self) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def pause(self, seconds: float) -> None:
        self._ended.wait(seconds)

    def repo_json(self, name: str) -> dict[str, Any]:
        repo = self.repos[name]
        siblings = []
        for path, content in repo.files.items():
            blob_id = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            one: dict[str, Any] = {"rfilename": path, "size": len(content), "blobId": blob_id}
            if path.endswith((".gguf", ".safetensors", ".bin")):
                sha256 = repo.claims.get(path) or hashlib.sha256(content).hexdigest()
                one["lfs"] = {"sha256": sha256, "size": len(content), "pointerSize": 134}
            siblings.append(one)
        card = {"license": repo.licence, **repo.card}
        return {"id": name, "modelId": name, "sha": COMMIT, "gated": repo.gated, "private": repo.private,
                "siblings": siblings, "cardData": card, "tags": [], "downloads": 0, "likes": 0}  # fmt: skip


@contextmanager
def serving() -> Iterator[Hub]:
    hub = Hub()
    try:
        yield hub
    finally:
        hub.close()


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.paths.append(path)
            if match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/([^/]+))?", path):
                self._describe(match[1], match[2])
            elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
                self._give(match[1], match[3])
            else:
                self._send(Answer(404, {}, b"{}"))

        def _describe(self, name: str, revision: str | None) -> None:
            repo = hub.repos.get(name)
            if repo is None or (repo.private and not self._may()):
                self._send(Answer(401, {"X-Error-Message": "Repository not found"}, b"{}"))
            elif revision not in (None, "main", COMMIT):
                self._send(Answer(404, {"X-Error-Code": "RevisionNotFound"}, b"{}"))
            else:
                self._send(Answer(200, {"Content-Type": "application/json"}, json.dumps(hub.repo_json(name)).encode()))

        def _give(self, name: str, file: str) -> None:
            repo = hub.repos[name]
            if (repo.gated or repo.private) and not self._may():
                self._send(Answer(401, {"X-Error-Code": "GatedRepo"}, b""))
                return
            content = repo.files[file]
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            start, end = (int(asked[1]), int(asked[2])) if asked else (0, len(content) - 1)
            headers = {"ETag": '"one"', "Accept-Ranges": "bytes"}
            if asked:
                headers["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
            answer = Answer(206 if asked else 200, headers, content[start : end + 1])
            if file.endswith(".gguf"):
                fault = hub.faults.pop(0) if hub.faults else hub.always
                if fault:
                    fault(answer, start, end, content)
            hub.asked.append(Asked(file, start, end, self.headers.get("Authorization", ""), 0))
            place = len(hub.asked) - 1

            def count(sent: int) -> None:
                hub.asked[place] = Asked(file, start, end, self.headers.get("Authorization", ""), sent)

            self._send(answer, count)

        def _may(self) -> bool:
            return self.headers.get("Authorization") == f"Bearer {hub.token}"

        def _send(self, answer: Answer, count: Callable[[int], None] = lambda sent: None) -> None:
            self.close_connection = True
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                if value:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            body = answer.body if answer.cut is None else answer.body[: answer.cut]
            sent = 0
            try:
                for begin in range(0, len(body), BLOCK):
                    if answer.stall_s and begin >= len(body) // 2:
                        self.wfile.flush()
                        hub.pause(answer.stall_s)
                        answer.stall_s = 0.0
                    block = body[begin : begin + BLOCK]
                    self.wfile.write(block)
                    sent += len(block)
                    count(sent)
                    if hub.block_pause_s:
                        hub.pause(hub.block_pause_s)
            except OSError:
                pass  # who asked has gone

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    return Handler


# Faults


def flip(at: int) -> Fault:
    """One bit of byte `at` of the file arrives wrong, where it is asked for."""

    def fault(answer: Answer, start: int, end: int, content: bytes) -> None:
        begin = 0 if answer.status == 200 else start
        if begin <= at < begin + len(answer.body):
            body = bytearray(answer.body)
            body[at - begin] ^= 1
            answer.body = bytes(body)

    return fault


def short(by: int) -> Fault:
    """The connection closes `by` bytes too early."""

    def fault(answer: Answer, start: int, end: int, content: bytes) -> None:
        answer.cut = max(0, len(answer.body) - by)

    return fault


def announce(change: int) -> Fault:
    """The body is longer or shorter than the range, and is announced so."""

    def fault(answer: Answer, start: int, end: int, content: bytes) -> None:
        answer.body = answer.body + b"x" * change if change > 0 else answer.body[:change]

    return fault


def chunked_and_longer(answer: Answer, start: int, end: int, content: bytes) -> None:
    """No length is announced, and more comes than was asked for."""
    body = answer.body + b"y" * 1000
    answer.body = f"{len(body):x}".encode() + b"\r\n" + body + b"\r\n0\r\n\r\n"
    answer.headers |= {"Transfer-Encoding": "chunked", "Content-Length": ""}


def other_range(answer: Answer, start: int, end: int, content: bytes) -> None:
    """Other bytes than asked for, and honestly said so."""
    other = min(7, len(content) - (end - start + 1))
    answer.body = content[other : other + end - start + 1]
    answer.headers["Content-Range"] = f"bytes {other}-{other + end - start}/{len(content)}"


def other_total(answer: Answer, start: int, end: int, content: bytes) -> None:
    answer.headers["Content-Range"] = f"bytes {start}-{end}/{len(content) + 1}"


def whole(answer: Answer, start: int, end: int, content: bytes) -> None:
    """The range is ignored."""
    answer.status, answer.body = 200, content
    answer.headers.pop("Content-Range", None)


def status(code: int, retry_after: str | None = None) -> Fault:
    def fault(answer: Answer, start: int, end: int, content: bytes) -> None:
        answer.status, answer.body = code, b"no"
        answer.headers.pop("Content-Range", None)
        if retry_after is not None:
            answer.headers["Retry-After"] = retry_after

    return fault


def redirect(location: str) -> Fault:
    def fault(answer: Answer, start: int, end: int, content: bytes) -> None:
        answer.status, answer.body = 302, b""
        answer.headers["Location"] = location

    return fault


def stall(seconds: float) -> Fault:
    def fault(answer: Answer, start: int, end: int, content: bytes) -> None:
        answer.stall_s = seconds

    return fault


def etag(name: str) -> Fault:
    def fault(answer: Answer, start: int, end: int, content: bytes) -> None:
        answer.headers["ETag"] = f'"{name}"'

    return fault


def instead(other: bytes) -> Fault:
    """Another file under this address, of the same length."""

    def fault(answer: Answer, start: int, end: int, content: bytes) -> None:
        answer.body = other[start : end + 1]

    return fault


def both(*faults: Fault) -> Fault:
    def fault(answer: Answer, start: int, end: int, content: bytes) -> None:
        for one in faults:
            one(answer, start, end, content)

    return fault
