"""`macaron servers` on a home where no host runs, with a real server of the SDK in harness.toml."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli.servers import servers
from app.harness.server_commands import run_approve
from app.paths import Paths
from engine.errors import AgentError, UnknownName, UsageProblem

SERVER = Path(__file__).parents[1] / "engine" / "harness" / "mcp" / "sdk_server.py"
Printed = Callable[..., Any]


@pytest.fixture(autouse=True)
def configured(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    home.mkdir(exist_ok=True)
    write(home)
    return home


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """Run the verb and read what it printed; with --json the value."""

    def _printed(*arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert (servers.main([*arguments], prog_name="macaron servers", standalone_mode=False) or 0) == code
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in arguments else out

    return _printed


def write(home: Path, more: str = "") -> None:
    words = json.dumps([str(SERVER), "stdio"])
    text = f"[mcpServers.kitchen]\ncommand = {json.dumps(sys.executable)}\nargs = {words}\n{more}"
    (home / "harness.toml").write_text(text, encoding="utf-8")


def test_nothing_starts_before_a_person_has_read_what_it_is(printed: Printed) -> None:
    assert "waits for you" in printed("list")
    assert str(SERVER) in printed("show", "kitchen")
    with pytest.raises(UsageProblem, match="by a person"):
        printed("approve", "kitchen")
    with pytest.raises(UsageProblem, match="may not start yet"):
        printed("restart", "kitchen")
    with pytest.raises(UsageProblem, match="has changed meanwhile"):
        printed("approve", "kitchen", "--entry", "0" * 64)
    with pytest.raises(UnknownName, match="no MCP server"):
        printed("show", "cellar")


def test_what_was_read_is_approved_in_two_steps_and_taken_back(printed: Printed, configured: Path) -> None:
    (waiting,) = printed("list", "--json")["servers"]
    assert (waiting["state"], waiting["tools"], waiting["offered"]) == ("waits", "", [])
    with pytest.raises(UsageProblem) as half:
        printed("approve", "kitchen", "--entry", waiting["entry"])
    assert "macaron servers restart kitchen --json" in half.value.hint
    started = printed("restart", "kitchen", "--json")
    assert (started["state"], started["may_offer"]) == ("tools_wait", False)
    assert [tool["name"] for tool in started["offered"]] == ["add", "draw", "fail", "grow"]
    approved = printed("approve", "kitchen", "--tools", started["tools"], "--json")
    assert (approved["state"], approved["may_offer"]) == ("running", True)
    write(configured, 'env = { PLACE = "cellar" }\n')
    (changed,) = printed("list", "--json")["servers"]
    assert (changed["state"], changed["may_start"]) == ("waits", False)
    write(configured)
    assert "is not started again" in printed("revoke", "kitchen")
    assert "waits for you" in printed("list")


def test_a_person_at_a_terminal_is_shown_the_command_and_then_the_tools(
    configured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths, asked = Paths(configured), []

    def answer(says: bool) -> Callable[[str], bool]:
        def _answer(question: str) -> bool:
            asked.append((question, capsys.readouterr().out))
            return says

        return _answer

    environment = {"LC_ALL": "C.UTF-8"}
    assert run_approve(paths, environment, "kitchen", "", "", answer(False), as_json=False) == 1
    assert run_approve(paths, environment, "kitchen", "", "", answer(True), as_json=False) == 0
    assert [question.split(" ")[0] for question, _ in asked] == ["Start", "Start", "Offer"]
    assert str(SERVER) in asked[1][1] and "Add two numbers." in asked[2][1]


def test_a_server_that_cannot_be_used_is_listed_with_the_reason(configured: Path, printed: Printed) -> None:
    write(configured, "\n[mcpServers.saved]\ncommand = 'true'\n")
    assert "not used" in printed("list")
    with pytest.raises(UsageProblem, match="cannot be used"):
        printed("approve", "saved")


def test_a_server_whose_secret_is_not_set_does_not_start_and_says_so(
    configured: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(configured, 'env = { API_TOKEN = "${env:KITCHEN_TOKEN}" }\n')
    (waiting,) = printed("list", "--json")["servers"]
    with pytest.raises(AgentError, match="KITCHEN_TOKEN is not set"):
        printed("approve", "kitchen", "--entry", waiting["entry"])
    monkeypatch.setenv("KITCHEN_TOKEN", "a b c")
    assert printed("restart", "kitchen", "--json")["state"] == "tools_wait"
