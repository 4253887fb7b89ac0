"""Python in the sandbox: runs blocks in one namespace and passes calls of tools on.

Its text is given to the interpreter in there, which sees no package of ours; nothing imports it, and it imports the
standard library only. It guards nothing: what it runs can change all of it, so limits that matter are kept outside.
The frames it reads and writes are described in `wire.py`.
"""

import ast
import builtins
import io
import json
import keyword
import linecache
import os
import resource
import signal
import struct
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

HEADER = struct.Struct(">I")


class ToolError(Exception):
    """A tool could not do what it was asked; the text says why."""


class Wire:
    """Frames over two pipes."""

    def __init__(self, read_end: int, write_end: int) -> None:
        self._read_end = read_end
        self._write_end = write_end

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode("ascii")
        data = memoryview(HEADER.pack(len(body)) + body)
        while data:
            data = data[os.write(self._write_end, data) :]

    def receive(self) -> dict[str, Any]:
        (length,) = HEADER.unpack(self._exactly(HEADER.size))
        message: dict[str, Any] = json.loads(self._exactly(length))
        return message

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = os.read(self._read_end, count - len(data))
            if not more:
                os._exit(0)  # nobody is there any more
            data += more
        return data


class Session:
    """One namespace, and what its blocks ask of the program outside."""

    def __init__(self, wire: Wire, most_characters: int) -> None:
        self._wire = wire
        self._most_characters = most_characters
        # Where another thread talks, the main one waits for it here and may be interrupted.
        self._lock = threading.Lock()
        self._run_id = ""
        self._is_running = False
        self._is_talking = False
        self._is_interrupted = False
        self._proxies: dict[str, Callable[..., str]] = {}
        # A module of its own, so that classes defined by blocks are found where they say they are.
        self._module = types.ModuleType("__main__")
        sys.modules["__main__"] = self._module
        self._names = self._module.__dict__
        self._names.update(tools=Tools(self._proxies), save_tool=self.save_tool, ToolError=ToolError)
        signal.signal(signal.SIGINT, self._on_interrupt)

    def serve(self) -> None:
        self._wire.send({"kind": "ready"})
        while True:
            asked = self._wire.receive()
            value, error = self._block(asked)
            with self._lock:
                self._wire.send({"kind": "done", "run_id": asked["run_id"], "value": value, "error": error})

    def save_tool(self, function: Any, example: str) -> str:
        """Propose a function that you wrote as a tool. `example` is Python that calls it and must hold, as a text."""
        if not isinstance(function, types.FunctionType):
            raise TypeError("save_tool takes a function that you defined with def, and its example as a text")
        if not isinstance(example, str):
            raise TypeError('the example is a text with Python in it, such as "assert double(2) == 4"')
        code = function.__code__
        block = code.co_filename.removeprefix("<block ").removesuffix(">")
        if not block.isdigit():
            raise TypeError("save_tool takes a function that you defined in a block of this conversation")
        message = {"kind": "save", "name": function.__name__, "block": int(block), "line": code.co_firstlineno}
        return self._ask({**message, "example": example})

    def _block(self, asked: dict[str, Any]) -> tuple[str | None, str | None]:
        """(value, error), both as text."""
        self._run_id = asked["run_id"]
        self._offer(asked["tools"])
        sys.stdout = sys.stderr = fresh_output()
        outcome: tuple[str | None, str | None] | None = None
        try:
            self._is_interrupted = False
            self._is_running = True
            outcome = self._evaluate(asked["code"], f"<block {asked['block']}>")
            self._is_running = False
        except KeyboardInterrupt:  # it came between two of these lines
            self._is_running = False
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        with self._lock:
            self._run_id = ""
        return outcome or (None, "KeyboardInterrupt")

    def _evaluate(self, code: str, name: str) -> tuple[str | None, str | None]:
        try:
            # So that tracebacks show the lines.
            linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
            tree = ast.parse(code, name)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, name, "exec"), self._names)
            if not isinstance(last, ast.Expr):
                return None, None
            value = eval(compile(ast.Expression(last.value), name, "eval"), self._names)
            if value is None:
                return None, None
            self._names["_"] = value
            return self._shortened(repr(value)), None
        except SystemExit:
            return None, "SystemExit: a block cannot end the Python process; its variables are kept"
        except BaseException as problem:
            return None, self._shortened(told(problem))

    def _shortened(self, text: str) -> str:
        """Bounded, so that it fits a frame; the program outside cuts further and says so."""
        half = self._most_characters
        return text if len(text) <= 2 * half else text[:half] + text[-half:]

    # Tools

    def _offer(self, tools: list[dict[str, Any]]) -> None:
        """Make the proxies be these, under their own names too where the block's author has not taken them."""
        for name, proxy in self._proxies.items():
            if self._names.get(name) is proxy:
                del self._names[name]
        self._proxies.clear()
        for tool in tools:
            name = tool["name"]
            self._proxies[name] = self._proxy(name, tool["description"], tool["parameters"])
            if is_plain(name):
                self._names.setdefault(name, self._proxies[name])

    def _proxy(self, name: str, description: str, parameters: list[str]) -> Callable[..., str]:
        def call(*values: Any, **arguments: Any) -> str:
            if len(values) > len(parameters):
                raise TypeError(f"{name}() takes {len(parameters)} arguments: {', '.join(parameters)}")
            for parameter, value in zip(parameters, values, strict=False):
                if parameter in arguments:
                    raise TypeError(f"{name}() got two values for {parameter}")
                arguments[parameter] = value
            return self._ask({"kind": "call", "name": name, "arguments": json.dumps(arguments)})

        call.__name__ = call.__qualname__ = name
        call.__doc__ = f"{name}({', '.join(parameters)})\n\n{description}"
        return call

    def _ask(self, message: dict[str, Any]) -> str:
        """The answer from outside. Raises: ToolError."""
        is_main = threading.current_thread() is threading.main_thread()
        with self._lock:
            if not self._run_id:
                raise ToolError("no block is running, so no tool can be called")
            # An interrupt half-way through a frame would leave both sides out of step.
            self._is_talking = is_main
            try:
                self._wire.send({**message, "run_id": self._run_id})
                reply = self._wire.receive()
            finally:
                self._is_talking = False
        if is_main and self._is_interrupted:
            self._is_interrupted = False
            raise KeyboardInterrupt
        if reply["is_error"]:
            raise ToolError(reply["text"])
        text: str = reply["text"]
        return text

    def _on_interrupt(self, number: int, frame: object) -> None:
        if self._is_talking:
            self._is_interrupted = True
        elif self._is_running:
            raise KeyboardInterrupt


class Tools:
    """The tools of this conversation: `tools.name(argument=…)`, or `tools["name"]` where the name is no Python name."""

    def __init__(self, proxies: dict[str, Callable[..., str]]) -> None:
        self._proxies = proxies

    def __getattr__(self, name: str) -> Callable[..., str]:
        if name in self._proxies:
            return self._proxies[name]
        raise AttributeError(f"there is no tool {name!r}; there are: {', '.join(self._proxies) or 'none'}")

    def __getitem__(self, name: str) -> Callable[..., str]:
        return self.__getattr__(name)

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._proxies))

    def __dir__(self) -> list[str]:
        return list(self._proxies)

    def __repr__(self) -> str:
        return f"<tools: {', '.join(self._proxies) or 'none'}>"


def fresh_output() -> io.TextIOWrapper:
    """Where blocks print to, whatever an earlier one made of it; both streams, so that their order stays."""
    raw = io.FileIO(1, "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace", "\n", line_buffering=True)


def is_plain(name: str) -> bool:
    """Whether a tool may go by its bare name: a Python name that means nothing else."""
    return name.isidentifier() and not keyword.iskeyword(name) and not hasattr(builtins, name)


def told(problem: BaseException) -> str:
    """The traceback, without the lines of this file."""
    own = told.__code__.co_filename
    whole = traceback.TracebackException.from_exception(problem)
    part: traceback.TracebackException | None = whole
    while part is not None:
        part.stack[:] = [frame for frame in part.stack if frame.filename != own]
        part = part.__cause__ or part.__context__
    return "".join(whole.format()).strip()


def limit(limits: dict[str, int]) -> None:
    """Each limit is soft and hard alike, so that what runs afterwards cannot raise it again."""
    for name, most in limits.items():
        resource.setrlimit(getattr(resource, name), (most, most))


def main() -> None:
    given = json.loads(sys.argv[1])
    limit(given["limits"])
    sys.argv[:] = [""]
    Session(Wire(given["read_end"], given["write_end"]), given["most_characters"]).serve()


if __name__ == "__main__":
    main()
