"""A server over HTTP on loopback, in a thread of the test, whose every answer the test decides."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from engine.harness.mcp import HttpEntry

TOOLS = {"tools": [{"name": "echo", "description": "It repeats.", "inputSchema": {"type": "object"}}]}

Answer = tuple[int, dict[str, str], bytes]


class RawHttp:
    """`on_call` makes the answer to a call; everything before it goes as it should."""

    def __init__(self) -> None:
        self.on_call: Callable[[dict[str, Any]], Answer] = self.echo
        self.seen_headers: list[dict[str, str]] = []
        self.url = ""

    def entry(self, **headers: str) -> HttpEntry:
        return HttpEntry("far", self.url, headers)

    def answer(self, message: dict[str, Any]) -> Answer:
        match message["method"]:
            case "initialize":
                greeting = {
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "raw", "version": "1"},
                }
                return as_json(message, result=greeting)
            case "tools/list":
                return as_json(message, result=TOOLS)
            case "tools/call":
                return self.on_call(message)
            case method if method.startswith("notifications/"):
                return 202, {}, b""
        return as_json(message, error={"code": -32601, "message": "Method not found"})

    def echo(self, message: dict[str, Any]) -> Answer:
        return as_json(message, result=text(json.dumps(message["params"].get("arguments", {}))))


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


def as_json(message: dict[str, Any], **outcome: Any) -> Answer:
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}).encode()
    return 200, {"Content-Type": "application/json"}, body


@contextmanager
def raw_http() -> Iterator[RawHttp]:
    server = RawHttp()

    class Handler(BaseHTTPRequestHandler):
        """HTTP/1.0, so that no connection outlives its answer."""

        def do_POST(self) -> None:
            server.seen_headers.append({name.lower(): value for name, value in self.headers.items()})
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, body = server.answer(message)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client has read enough

        def do_GET(self) -> None:
            self.send_error(405)

        do_DELETE = do_GET

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{listener.server_address[1]}/mcp"
    serving = threading.Thread(target=listener.serve_forever, args=(0.02,))
    serving.start()
    try:
        yield server
    finally:
        listener.shutdown()
        serving.join()
        listener.server_close()
