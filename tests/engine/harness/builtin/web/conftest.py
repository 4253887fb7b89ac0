"""A web server on this machine, and a reach that allows it."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from engine.harness.builtin.web.fetching import Reach

Handle = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Server:
    """What it answers, by path, and what it was asked."""

    port: int
    answers: dict[str, Handle] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    agents: list[Mapping[str, str]] = field(default_factory=list)

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def answer(self, path: str, body: bytes | str, content_type: str = "text/html", status: int = 200, **headers: str):
        data = body.encode() if isinstance(body, str) else body

        def handle(request: BaseHTTPRequestHandler) -> None:
            request.send_response(status)
            request.send_header("Content-Type", content_type)
            request.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                request.send_header(name.replace("_", "-"), value)
            request.end_headers()
            request.wfile.write(data)

        self.answers[path] = handle

    def redirect(self, path: str, location: str, status: int = 302) -> None:
        self.answer(path, "", status=status, Location=location)


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            served.hosts.append(self.headers["Host"])
            served.agents.append(dict(self.headers))
            handle = served.answers.get(self.path.partition("?")[0])
            if handle is None:
                self.send_error(404)
                return
            try:
                handle(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that leaves early is part of what is tested."""

    with Quiet(("127.0.0.1", 0), Handler) as listening:
        served = Server(listening.server_address[1])
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield served
        finally:
            listening.shutdown()
            thread.join()


@pytest.fixture
def near() -> Reach:
    """Only this machine, any port; names are not looked up."""

    def refusal(address: object) -> str:
        return "" if getattr(address, "is_loopback", False) else "it is elsewhere"

    def look_up(host: str, port: int) -> list[str]:
        raise OSError(f"{host} was looked up")

    return Reach(look_up, refusal, ports=None)
