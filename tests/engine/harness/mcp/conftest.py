"""Toolboxes with approvals of their own, closed when the test is over, and servers that do what a test plans."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from engine.errors import UsageProblem
from engine.harness.config import SecretName
from engine.harness.mcp import ApprovalStore, Limits, McpToolbox, ServerStatus, StdioEntry
from engine.harness.tool_calls import ToolCall
from engine.harness.tools.values import Invocation, ToolResult
from engine.runtime.protocol import NEVER, Stop
from tests.support.requirements import require_module

RAW_SERVER = Path(__file__).parent / "raw_server.py"
SDK_SERVER = Path(__file__).parent / "sdk_server.py"
LIMITS = Limits(start_s=60.0, list_s=20.0, call_s=30.0, call_most_s=60.0, stop_s=1.0)


class Box:
    """A toolbox, and what a person and a model do with it."""

    def __init__(self, toolbox: McpToolbox) -> None:
        self.toolbox = toolbox

    def status(self, name: str = "raw") -> ServerStatus:
        (found,) = [one for one in self.toolbox.servers() if one.name == name]
        return found

    def start(self, *names: str) -> None:
        """Approve that the servers start, and wait until they run or have failed."""
        for name in names or ("raw",):
            self.toolbox.approve_entry(name, self.status(name).entry_fingerprint)
        self.toolbox.refresh(starting_s=60)

    def approve_tools(self, name: str = "raw") -> None:
        listing = self.status(name).health.listing
        assert listing is not None, self.status(name)
        self.toolbox.approve_tools(name, listing.fingerprint)

    def names(self) -> list[str]:
        return [spec.tool.name for spec in self.toolbox.specs()]

    def call(self, name: str, stop: Stop = NEVER, **arguments: Any) -> ToolResult:
        return self.toolbox.run(invocation(name, json.dumps(arguments), stop))


def invocation(name: str, arguments: str = "{}", stop: Stop = NEVER) -> Invocation:
    return Invocation(ToolCall(name, arguments), "conversation", "turn", stop)


def planned(name: str = "raw", environment: dict[str, str] | None = None, **plan: Any) -> StdioEntry:
    """A server that keeps to no rules but its plan."""
    return StdioEntry(name, sys.executable, (str(RAW_SERVER), json.dumps(plan)), environment or {})


def known_secret(secrets: Mapping[str, str], name: SecretName) -> str:
    if name.name not in secrets:
        raise UsageProblem(f"There is no secret `{name.name}`.", "Store it.")
    return secrets[name.name]


@pytest.fixture
def open_box(tmp_path: Path) -> Iterator[Callable[..., Box]]:
    require_module("mcp")
    boxes: list[McpToolbox] = []

    def open_one(
        *entries: Any,
        limits: Limits = LIMITS,
        environment: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] = MappingProxyType({}),
    ) -> Box:
        store = ApprovalStore(tmp_path / "approvals.json")
        known = dict(os.environ) if environment is None else environment
        boxes.append(
            McpToolbox(
                entries,
                store,
                folder=tmp_path / "servers",
                environment=known,
                secret_of=lambda name: known_secret(secrets, name),
                limits=limits,
            )
        )
        return Box(boxes[-1])

    yield open_one
    for box in boxes:
        box.close()


@pytest.fixture
def running(open_box: Callable[..., Box]) -> Callable[..., Box]:
    """`running(tools=[…])`: one planned server, started, its tools approved."""

    def run(limits: Limits = LIMITS, **plan: Any) -> Box:
        box = open_box(planned(**plan), limits=limits)
        box.start()
        box.approve_tools()
        return box

    return run
