"""An application with one route of every kind behind a gate, on a real socket, and raw bytes to talk to it.

`calls` lists every handler that ran, so that a test can prove that none did.
"""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import FastAPI, Request, WebSocket
from fastapi.middleware.cors import CORSMiddleware
from fastapi.staticfiles import StaticFiles
from starlette.responses import PlainTextResponse, StreamingResponse

from app.gate.bodies import BodyLimits
from app.gate.gate import Authenticate, Gate
from app.gate.policy import Policy, values
from app.gate.protocol import ConnectionLimits
from app.gate.serving import Server, listen, port_of

FACE, API = b"face-secret", b"api-secret"
EVERY_ROUTE = (
    *("/health", "/v1/models", "/api/turns", "/api/effect", "/docs", "/openapi.json", "/events"),
    *("/static/app.js", "/gradio_api/info", "/gradio_api/file=x", "/no/such/route", "/"),
)


@dataclass
class Sample:
    calls: list[str] = field(default_factory=list)
    port: int = 0
    app: FastAPI = field(default_factory=FastAPI)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def ask(self, *lines: str, body: bytes = b"", host: str | None = None, secret: bytes = FACE) -> "Reply":
        """One request on a connection of its own: its first line, and headers besides Host and the secret."""
        head = [lines[0], f"Host: {host or self.host}", "Connection: close", *lines[1:]]
        if secret:
            head.append(f"Authorization: Bearer {secret.decode('latin-1')}")
        return self.say("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body)

    def say(self, data: bytes) -> "Reply":
        """These bytes, on a connection of their own."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(data)
            return Reply.read(connection)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @classmethod
    def read(cls, connection: socket.socket) -> "Reply":
        """All of it, or until the server closes; status 0 when it says nothing."""
        data = b""
        try:
            while not _is_whole(data) and (chunk := connection.recv(65536)):
                data += chunk
        except ConnectionResetError:
            pass
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return cls(int(first.split()[1]) if first else 0, headers, body)


def _is_whole(data: bytes) -> bool:
    head, blank, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?im)^content-length: (\d+)", head)
    return bool(blank and length) and len(body) >= int(length[1])


def secret_access(headers):
    """As the host's, with secrets that a test can write down."""
    return {b"Bearer " + FACE: "face", b"Bearer " + API: "api"}.get(b"".join(values(headers, b"authorization")))


def make_app(sample: Sample, folder: Path, with_cors: bool = False) -> FastAPI:
    app = sample.app = FastAPI()
    folder.mkdir(exist_ok=True)
    (folder / "app.js").write_text("// nothing", encoding="utf-8")

    def seen(name: str) -> dict[str, str]:
        sample.calls.append(name)
        return {"handler": name}

    @app.get("/health")
    async def health() -> dict[str, str]:
        return seen("health")

    @app.get("/v1/models")
    async def models() -> dict[str, str]:
        return seen("models")

    @app.post("/v1/echo")
    async def echo(request: Request) -> dict[str, int]:
        sample.calls.append("echo")
        return {"bytes": len(await request.body())}

    @app.post("/v1/parsed")
    async def parsed(request: Request) -> dict[str, str]:
        await request.json()
        return seen("parsed")

    @app.api_route("/api/effect", methods=["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    async def effect() -> dict[str, str]:
        return seen("effect")

    @app.get("/api/turns")
    async def turns(request: Request) -> dict[str, str]:
        return seen(f"turns as {request.state.access}")

    @app.get("/events")
    async def events() -> StreamingResponse:
        sample.calls.append("events")
        return StreamingResponse(_endless(sample), media_type="text/event-stream")

    @app.get("/v1/patient")
    async def patient(request: Request) -> None:
        while not await request.is_disconnected():
            await asyncio.sleep(0.02)
        sample.calls.append("hung up")

    @app.post("/gradio_api/upload")
    async def upload() -> dict[str, str]:
        return seen("upload")

    @app.get("/gradio_api/{rest:path}")
    async def gradio(rest: str) -> dict[str, str]:
        return seen("gradio")

    @app.get("/client")
    async def client(request: Request) -> PlainTextResponse:
        return PlainTextResponse(" ".join(sorted(request.headers)))

    @app.websocket("/socket")
    async def web_socket(web_socket: WebSocket) -> None:
        sample.calls.append("socket")
        await web_socket.accept()

    app.mount("/static", StaticFiles(directory=folder), name="static")
    if with_cors:
        app.add_middleware(
            CORSMiddleware, allow_origins=["*"], allow_credentials=True, allow_methods=["*"], allow_headers=["*"]
        )
    return app


async def _endless(sample: Sample) -> AsyncIterator[bytes]:
    try:
        while True:
            yield b"data: tick\n\n"
            await asyncio.sleep(0.2)
    finally:
        sample.calls.append("events ended")


@contextmanager
def serve(
    folder: Path,
    *,
    with_cors: bool = False,
    authenticate: Authenticate = secret_access,
    limits: ConnectionLimits | None = None,
    body_limits: BodyLimits | None = None,
    port: int = 0,
    **rules,
) -> Iterator[Sample]:
    """The sample on a free port; `rules` are fields of its policy."""
    sample = Sample()
    listener = listen(port, fallback=False)
    sample.port = port_of(listener)
    app = make_app(sample, folder / "static", with_cors)
    gate = Gate(app, Policy(sample.port, **rules), authenticate, public={"/health"}, limits=body_limits)
    with Server(gate, [listener], limits).running():
        yield sample
