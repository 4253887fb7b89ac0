"""What a face asks of memories crosses the wire unchanged, and a host that runs is the one that is asked."""

import inspect
import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.host.calls import (
    ADAPTER_NAMES,
    JOB_NAMES,
    MEMORY_NAMES,
    NAMES,
    TOOL_NAMES,
    arguments_from_plain,
    call_named,
    result_from_plain,
)
from app.memory.remote import RemoteMemories
from app.memory.shelf import StoredMemories
from app.opening import open_store
from app.paths import Paths
from app.remote_client import connect
from engine.errors import HomeBusy, UnknownName, UsageProblem
from engine.forgetting import Forgotten, Place
from engine.memory.hygiene import Finding, HygieneReport
from engine.memory.values import Draft, Memory, MemoryDetails, Standing
from engine.runtime import wire
from tests.app.memory.conftest import Printed
from tests.support.hosting import end_host, host_pid
from ui.memory_shelf import MemoryShelf

MEMORY = Memory(
    memory_id=7,
    text="我喜欢喝茶",
    kind="preference",
    evidence="我喜欢喝茶。",
    turn_id="t-1",
    conversation_id="c-1",
    trust="typed",
    r0=0.7,
    validation=0.8,
    slot="liking:茶",
    due_on="",
    state="active",
    supersedes=(3, 5),
    created_at="2026",
    used_at=None,
    validated_at="2027",
)
BY_HAND = replace(
    MEMORY, memory_id=8, turn_id=None, conversation_id=None, state="pending", source="user", supersedes=()
)
REPORT = HygieneReport({"fact": 2}, {"typed": 1, "tainted": 1}, (Finding("past", 1, (8,)),), None)


def test_every_call_of_the_shelf_has_a_name_of_its_own() -> None:
    declared = {name for name, _ in inspect.getmembers(MemoryShelf, inspect.isfunction) if not name.startswith("_")}
    assert set(MEMORY_NAMES) == declared
    assert not set(MEMORY_NAMES) & {*NAMES, *ADAPTER_NAMES, *JOB_NAMES, *TOOL_NAMES}


@pytest.mark.parametrize("shelf", [RemoteMemories, StoredMemories])
def test_every_shelf_takes_what_is_declared(shelf: type) -> None:
    for name in MEMORY_NAMES:
        declared, made = (inspect.signature(getattr(one, name)) for one in (MemoryShelf, shelf))
        assert str(made) == str(declared)


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("memories", (MEMORY, BY_HAND)),
        ("memory", MemoryDetails(MEMORY, 0.5, (BY_HAND,), "我喜欢喝茶。", "2026")),
        ("memory_standing", Standing(1, 2, 3, "2026")),
        ("memory_report", REPORT),
        ("add_memory", BY_HAND),
        ("forget_memory", None),
        ("forget_memory", Forgotten((Place("messages", 2),), memory_ids=(7,), is_done=True)),
    ],
)
def test_results_come_through_unchanged(name: str, result: object) -> None:
    sent = json.loads(json.dumps(wire.to_plain(result)))
    assert result_from_plain(call_named(name), sent) == result


def test_a_draft_arrives_as_it_was_sent() -> None:
    draft = Draft("我喜欢喝茶", "fact", "我喜欢喝茶", None, "tainted", due_on="2026-12-01", source="imported")
    sent = json.loads(json.dumps({"drafts": wire.to_plain((draft,))}))
    assert arguments_from_plain(call_named("propose_memories"), sent) == {"drafts": (draft,)}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memories", {"states": ["gone"]}),
        ("memories", {"states": "active"}),
        ("memory", {"memory_id": "7"}),
        ("add_memory", {"text": "Tea", "kind": "order"}),
        ("add_memory", {}),
        ("set_memory_pause", {"is_paused": 1}),
        ("propose_memories", {"drafts": [{"text": 7}]}),
    ],
)
def test_what_are_not_the_arguments_of_a_call_is_refused(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageProblem):
        arguments_from_plain(call_named(name), arguments)


def test_while_a_host_runs_all_of_it_goes_through_the_host(home: Path, printed: Printed, tmp_path: Path) -> None:
    with closing(connect(Paths(home))) as client:
        pid = host_pid(home)
        with pytest.raises(HomeBusy), open_store(Paths(home)):
            pytest.fail("the home is the host's")
        printed("add", "I live in Oslo")
        moved = client.memories.add_memory("I live in Bergen")
        assert client.memories.memory(moved.memory_id).history[0].text == "I live in Oslo"
        assert [one["text"] for one in printed("search", "Where do I live?", "--json")["memories"]] == [moved.text]
        edited = client.memories.edit_memory(moved.memory_id, "I live in Bergen, by the sea")
        assert client.memories.memories(kinds=("fact",), trusts=("confirmed",), limit=5) == (edited,)
        (waiting,) = client.memories.propose_memories([Draft("I like tea", "fact", "I like tea", None, source="user")])
        assert client.memories.memory_report().findings[0] == Finding("waiting", 1, (waiting.memory_id,))
        assert client.memories.approve_memory(waiting.memory_id).state == "active"
        printed("pause")
        assert client.memories.memory_standing().paused_since is not None
        assert client.memories.set_memory_pause(False).paused_since is None
        printed("export", "--output", str(tmp_path / "out.jsonl"))
        assert printed("import", str(tmp_path / "out.jsonl"), "--json")["known"] == 2
        gone = client.memories.forget_memory(edited.memory_id)
        assert gone is not None and gone.is_done and edited.memory_id in gone.memory_ids
        assert [one["text"] for one in printed("list", "--json")["memories"]] == ["I like tea"]
        with pytest.raises(UnknownName):
            client.memories.memory(99)
        assert host_pid(home) == pid
    end_host(home)
