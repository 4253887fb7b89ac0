"""The engine child: llama.cpp alone in a process, served through its standard streams.

Started by `ChildRuntime` as `python -P -m engine.runtime.engine_child`. Reads frames from standard input and writes
frames to standard output; both end with the host, whatever the host's end was. Holds no conversation: the host can
start another child at any time and go on.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

from engine.errors import AgentError, RuntimeFailed, boundary
from engine.runtime import memory_limit, wire
from engine.runtime.protocol import Finished, LoadPlan, Piece, Request, ScoreRequest, Token

HEARTBEAT_S: Final = 1.0


class _Child:
    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        """Where llama.cpp cannot be loaded, every request is answered with the reason."""
        self._refusal: AgentError | None = None
        self._source = source
        self._sink = sink
        self._writing = threading.Lock()
        try:
            from engine.runtime.llama import LlamaRuntime  # loads the native library, which may not be there

            self._runtime = LlamaRuntime()
        except AgentError as error:
            self._refusal = error
        self._stops: dict[int, threading.Event] = {}
        self._operations: dict[str, Callable[[dict[str, Any], threading.Event], Iterator[tuple[Any, bytes]]]] = {
            "load": self._load,
            "generate": self._generate,
            "score": self._score,
            "embed": self._embed,
            "encode": self._encode,
            "decode": self._decode,
            "pieces": self._pieces,
            "drop": self._drop,
            "views": self._views,
        }

    def serve(self) -> None:
        """Until the host closes the pipe or says so."""
        threading.Thread(target=self._beat, daemon=True).start()
        while True:
            try:
                message, _ = wire.read_frame(self._source)
            except wire.WireError:
                # The host is gone, perhaps killed. A decode may be running for seconds; nobody waits for it.
                os._exit(0)
            if message["op"] == "close":
                break
            if message["op"] == "stop":
                if stop := self._stops.get(message["id"]):
                    stop.set()
                continue
            self._start(message)
        if self._refusal is None:
            self._runtime.close()

    def _start(self, message: dict[str, Any]) -> None:
        stop = self._stops[message["id"]] = threading.Event()
        arguments = (message["id"], self._operations[message["op"]], message, stop)
        if message["op"] in ("encode", "decode", "pieces"):
            self._answer(*arguments)  # microseconds, and the host may send many
        else:
            threading.Thread(target=self._answer, args=arguments, daemon=True).start()

    def _answer(
        self,
        number: int,
        operation: Callable[..., Iterator[tuple[Any, bytes]]],
        message: dict[str, Any],
        stop: threading.Event,
    ) -> None:
        try:
            if self._refusal is not None:
                raise self._refusal
            with boundary(RuntimeFailed, "The engine failed", "Try again; restart the program if it recurs."):
                for value, block in operation(message, stop):
                    self._send({"id": number, "value": value}, block)
            self._send({"id": number, "end": True})
        except AgentError as error:
            self._send({"id": number, "error": wire.error_to_plain(error)})
        finally:
            self._stops.pop(number, None)

    def _send(self, message: dict[str, Any], block: bytes = b"") -> None:
        with self._writing:
            try:
                wire.write_frame(self._sink, message, block)
            except OSError:
                os._exit(0)

    def _beat(self) -> None:
        pause = threading.Event()
        while not pause.wait(HEARTBEAT_S):
            self._send({"id": 0, "memory_bytes": memory_limit.private_bytes()})

    # Operations; each yields what goes back

    def _load(self, message: dict[str, Any], stop: threading.Event) -> Iterator[tuple[Any, bytes]]:
        yield wire.to_plain(self._runtime.load(wire.from_plain(LoadPlan, message["plan"]))), b""

    def _generate(self, message: dict[str, Any], stop: threading.Event) -> Iterator[tuple[Any, bytes]]:
        requests = [wire.from_plain(Request, request) for request in message["requests"]]
        for piece in self._runtime.generate(requests, stop):
            yield piece_to_plain(piece), b""

    def _score(self, message: dict[str, Any], stop: threading.Event) -> Iterator[tuple[Any, bytes]]:
        yield wire.to_plain(self._runtime.score(wire.from_plain(ScoreRequest, message["request"]), stop)), b""

    def _embed(self, message: dict[str, Any], stop: threading.Event) -> Iterator[tuple[Any, bytes]]:
        vectors = self._runtime.embed(message["texts"])
        yield list(vectors.shape), vectors.tobytes()

    def _encode(self, message: dict[str, Any], stop: threading.Event) -> Iterator[tuple[Any, bytes]]:
        yield self._runtime.encode(message["text"]), b""

    def _decode(self, message: dict[str, Any], stop: threading.Event) -> Iterator[tuple[Any, bytes]]:
        yield self._runtime.decode(message["tokens"]), b""

    def _pieces(self, message: dict[str, Any], stop: threading.Event) -> Iterator[tuple[Any, bytes]]:
        pieces = self._runtime.pieces(message["tokens"])
        yield [len(piece) for piece in pieces], b"".join(pieces)

    def _drop(self, message: dict[str, Any], stop: threading.Event) -> Iterator[tuple[Any, bytes]]:
        self._runtime.drop(message["prefix"])
        yield None, b""

    def _views(self, message: dict[str, Any], stop: threading.Event) -> Iterator[tuple[Any, bytes]]:
        yield self._runtime.views(), b""


def piece_to_plain(piece: Piece) -> list[Any]:
    """[kind, fields...]; short, since there is one per token."""
    if isinstance(piece, Token):
        return ["T", piece.index, piece.token, piece.text, piece.logprob, piece.top]
    if isinstance(piece, Finished):
        return ["F", wire.to_plain(piece)]
    return ["P", piece.index, piece.done, piece.total, piece.reused]


def main() -> None:
    # Native code may print; the pipe must hold frames only. Whatever is printed goes to standard error.
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    if limit:
        memory_limit.limit_private_bytes(limit)
    _Child(sys.stdin.buffer, sink).serve()


if __name__ == "__main__":
    main()
