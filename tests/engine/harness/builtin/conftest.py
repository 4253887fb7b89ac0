"""Calls as a model makes them, without a model."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from engine.harness.tool_calls import ToolCall
from engine.harness.tools.values import Invocation
from engine.runtime.protocol import NEVER, Stop

Call = Callable[..., Invocation]


@pytest.fixture
def call() -> Call:
    """`call("read_file", path="notes/a.txt")`: the call, in a turn of its own unless one is given."""
    turns = itertools.count(1)

    def _call(tool: str, *, turn_id: str = "", stop: Stop = NEVER, **arguments: Any) -> Invocation:
        return Invocation(ToolCall(tool, json.dumps(arguments)), "c-1", turn_id or f"t-{next(turns)}", stop)

    return _call
