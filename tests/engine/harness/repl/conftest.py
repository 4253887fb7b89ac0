"""Namespaces for tests: one for all tests of a file that leave it alive, and new ones with short limits."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from engine.harness.repl.running import Outside
from engine.harness.repl.session import Repl
from engine.harness.repl.values import Limits
from engine.harness.sandbox import working_sandbox
from engine.harness.tool_calls import Tool, ToolCall
from engine.harness.tools.values import ToolResult, ToolSpec
from tests.support.requirements import require_program, unavailable

PATIENT = Limits(wall_s=30.0, grace_s=0.4)
SHORT = Limits(wall_s=1.0, grace_s=0.4)
"""For blocks that run into the limit of time; others may need longer on a busy machine."""


def spec(name: str, *parameters: str, source: str = "") -> ToolSpec:
    properties = {parameter: {"type": "string"} for parameter in parameters}
    return ToolSpec(Tool(name, f"{name}.", {"type": "object", "properties": properties}), "nothing", False, source)


@dataclass
class Tools:
    """Tools outside that answer with texts set beforehand, or with what a function makes of the call."""

    answers: Mapping[str, str | ToolResult | Callable[[ToolCall], ToolResult]]
    specs: Sequence[ToolSpec] = ()
    calls: list[ToolCall] = field(default_factory=list)

    def answer(self, call: ToolCall) -> ToolResult:
        self.calls.append(call)
        said = self.answers[call.name]
        if isinstance(said, str):
            return ToolResult(said)
        return said if isinstance(said, ToolResult) else said(call)

    def outside(self, **changes: Any) -> Outside:
        return Outside(self.specs or [spec(name) for name in self.answers], self.answer, **changes)


@pytest.fixture(scope="session")
def sandboxed() -> None:
    if sys.platform != "linux":
        pytest.skip("bubblewrap is for Linux")
    require_program("bwrap")
    if working_sandbox() is None:
        unavailable("bubblewrap is installed and does not work; `macaron doctor` tells why.")


@pytest.fixture(scope="module")
def shared(sandboxed: None) -> Iterator[Repl]:
    repl = Repl(PATIENT)
    yield repl
    repl.close()


@pytest.fixture
def new_repl(sandboxed: None) -> Iterator[Callable[..., Repl]]:
    """Makes a namespace with these limits."""
    made: list[Repl] = []

    def make(limits: Limits = PATIENT) -> Repl:
        made.append(Repl(limits))
        return made[-1]

    yield make
    for repl in made:
        repl.close()


@pytest.fixture
def repl(new_repl: Callable[..., Repl]) -> Repl:
    return new_repl()


@pytest.fixture
def hasty(new_repl: Callable[..., Repl]) -> Repl:
    return new_repl(SHORT)
