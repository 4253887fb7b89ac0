"""Servers as they are in the world: ours over both transports, and one from the package index."""

import json
import socket
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

from engine.harness.mcp import HttpEntry, Limits, StdioEntry
from tests.engine.harness.mcp.conftest import SDK_SERVER
from tests.support.requirements import require_module, unavailable

require_module("mcp")

PATIENT = Limits(start_s=90.0, list_s=30.0, call_s=60.0, stop_s=1.0)
"""Programs of some size, on a machine that may be busy."""


def wait_until(holds):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def program():
    return StdioEntry("kitchen", sys.executable, (str(SDK_SERVER), "stdio"))


@pytest.fixture
def address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, str(SDK_SERVER), "http", str(port)], stderr=subprocess.DEVNULL)
    wait_until(lambda: answers(port))
    yield HttpEntry("kitchen", f"http://127.0.0.1:{port}/mcp")
    server.kill()  # a polite end would wait for the stream that tells of changes
    server.wait()


@pytest.mark.parametrize("transport", ["program", "address"])
def test_a_server_of_ours_lists_runs_changes_and_stops_until_approved_again(open_box, request, transport):
    box = open_box(request.getfixturevalue(transport), limits=PATIENT)
    box.start("kitchen")
    assert box.names() == []
    box.approve_tools("kitchen")
    assert box.names() == ["kitchen__add", "kitchen__draw", "kitchen__fail", "kitchen__grow"]
    assert box.call("kitchen__add", first=2, second=3).text == "5"
    assert box.call("kitchen__draw").text == "[image, image/png, 2 KiB: left out]"
    failed = box.call("kitchen__fail")
    assert failed.is_error
    assert "fail" in failed.text
    assert box.call("kitchen__add", first="two").is_error

    assert box.call("kitchen__grow").text == "grown"
    wait_until(lambda: not box.names())
    assert "changed its tools" in box.call("kitchen__add", first=2, second=3).text

    box.approve_tools("kitchen")
    assert "kitchen__multiply" in box.names()
    assert box.call("kitchen__multiply", first=2, second=3).text == "6"


def test_a_server_from_the_package_index_lists_and_runs(open_box):
    if find_spec("mcp_server_time") is None:
        unavailable("The MCP server `mcp-server-time` is not installed.")
    entry = StdioEntry("time", sys.executable, ("-m", "mcp_server_time", "--local-timezone", "UTC"))
    box = open_box(entry, limits=PATIENT)
    box.start("time")
    box.approve_tools("time")
    assert box.names() == ["time__get_current_time", "time__convert_time"]
    converted = box.call(
        "time__convert_time", source_timezone="Asia/Shanghai", time="12:00", target_timezone="Europe/Oslo"
    )
    assert not converted.is_error
    assert json.loads(converted.text)["source"]["timezone"] == "Asia/Shanghai"
    assert box.call("time__get_current_time", timezone="Middle/Earth").is_error
