"""Approvals: exactly what was shown, kept in one small file that is whole or not there."""

import json
import os
import stat
import sys

import pytest

from engine.errors import StoreProblem
from engine.harness.mcp.approvals import Approval, ApprovalStore


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "approvals.json"


def test_nothing_is_approved_at_first(path):
    store = ApprovalStore(path)
    assert store.of("time") is None
    assert not store.may_start("time", "e1")
    assert not store.may_offer("time", "e1", "t1")


def test_an_approval_is_of_one_entry_and_one_list_and_outlives_the_process(path):
    ApprovalStore(path).approve_entry("time", "e1")
    ApprovalStore(path).approve_tools("time", "e1", "t1")
    later = ApprovalStore(path)
    assert later.of("time") == Approval("e1", "t1")
    assert later.may_start("time", "e1")
    assert later.may_offer("time", "e1", "t1")
    assert not later.may_offer("time", "e1", "t2")
    assert not later.may_offer("time", "e2", "t1")
    assert not later.may_start("other", "e1")


def test_another_entry_under_the_same_name_must_have_its_tools_approved_again(path):
    store = ApprovalStore(path)
    store.approve_tools("time", "e1", "t1")
    store.approve_entry("time", "e2")
    assert store.of("time") == Approval("e2", None)


def test_approving_the_same_entry_again_keeps_its_tools(path):
    store = ApprovalStore(path)
    store.approve_tools("time", "e1", "t1")
    store.approve_entry("time", "e1")
    assert store.may_offer("time", "e1", "t1")


def test_revoking_forgets_one_server_only(path):
    store = ApprovalStore(path)
    store.approve_entry("time", "e1")
    store.approve_entry("files", "e2")
    store.revoke("time")
    store.revoke("never there")
    assert store.of("time") is None
    assert store.may_start("files", "e2")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{", id="cut"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param("[]", id="list"),
        pytest.param('{"version": 2, "servers": {"time": {"entry": "e1", "tools": "t1"}}}', id="newer"),
        pytest.param('{"version": 1, "servers": {"time": {"entry": "e1", "tools": true}}}', id="wrong_type"),
        pytest.param('{"version": 1, "servers": {"time": "*"}}', id="wildcard"),
        pytest.param('{"version": 1, "servers": {}}' + " " * 2_000_000, id="huge"),
    ],
)
def test_a_file_that_cannot_be_read_approves_nothing(path, text):
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    assert ApprovalStore(path).of("time") is None


def test_a_damaged_file_is_replaced_by_the_next_approval(path):
    path.parent.mkdir()
    path.write_text("{", encoding="utf-8")
    ApprovalStore(path).approve_entry("time", "e1")
    assert json.loads(path.read_text(encoding="utf-8"))["servers"] == {"time": {"entry": "e1", "tools": None}}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_the_file_is_its_owners_alone_and_nothing_is_left_beside_it(path):
    ApprovalStore(path).approve_entry("天气", "e1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert ApprovalStore(path).may_start("天气", "e1")


def test_a_file_that_cannot_be_written_is_said_and_approves_nothing(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    store = ApprovalStore(tmp_path / "file" / "approvals.json")
    with pytest.raises(StoreProblem, match="cannot be written"):
        store.approve_entry("time", "e1")
    assert not store.may_start("time", "e1")


def test_a_write_that_fails_half_way_leaves_the_old_file(path, monkeypatch):
    store = ApprovalStore(path)
    store.approve_entry("time", "e1")

    def no_more_space(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_more_space)
    with pytest.raises(StoreProblem):
        store.approve_entry("files", "e2")
    assert store.may_start("time", "e1")
    assert [one.name for one in path.parent.iterdir()] == [path.name]
