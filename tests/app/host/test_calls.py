"""Calls by name: what the Client declares is what crosses the wire."""

import inspect
import json

import pytest

from app.host.calls import NAMES, arguments_from_plain, call_named, result_from_plain
from engine.errors import UsageProblem
from engine.runtime import wire
from engine.signals.values import Correction, Signal
from engine.values import About, Attachment, Conversation, ConversationCopy, Merged, Route, TurnRecord
from ui.client import Client

TURNS = {"ask", "regenerate", "edit", "stop", "close"}
RECORD = TurnRecord(
    "t-1",
    "c-1",
    None,
    "answered",
    "咖啡?",
    "Coffee.",
    "typed",
    "2026-01-01T00:00:00+00:00",
    Route("L0", "best", {"L0": -0.5}),
    attachments=(Attachment("notes.txt", "text"),),
    rating=-1,
)
SIGNAL = Signal(7, "t-1", "correction", 0.0, "拿铁。", None, "pasted", True, "2026")
PICK = Signal(8, "t-1", "pick", 0.5, "", "t-2", "user", False, "2026")
CORRECTION = Correction(7, "t-1", "c-1", "L0", "咖啡?", "Coffee.", "拿铁。", "edit", "2026")
CONVERSATION = Conversation("c-1", "咖啡", "starter", "2026", "2026", "t-1", 1)


def test_every_call_of_a_client_that_is_no_turn_has_a_name() -> None:
    declared = {name for name, _ in inspect.getmembers(Client, inspect.isfunction) if not name.startswith("_")}
    assert set(NAMES) == declared - TURNS


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("conversations", (CONVERSATION,)),
        ("path", (RECORD,)),
        ("experts", (("L0", "talk"),)),
        ("about", About("base", "CPU", "no GPU", ("a notice",), "starter", 8192)),
        ("export_conversation", ConversationCopy(CONVERSATION, (RECORD,))),
        ("export_conversation", ConversationCopy(CONVERSATION, (RECORD,), (SIGNAL, PICK))),
        ("import_conversation", True),
        ("merge_conversation", Merged("c-1", False, 2, 1)),
        ("correct", SIGNAL),
        ("signals", (PICK, SIGNAL)),
        ("corrections", (CORRECTION,)),
        ("erase_signal", None),
        ("rename", None),
    ],
)
def test_results_come_through_the_wire_unchanged(name: str, result: object) -> None:
    sent = json.loads(json.dumps(wire.to_plain(result)))
    assert result_from_plain(call_named(name), sent) == result


def test_arguments_come_through_the_wire_unchanged() -> None:
    copy = ConversationCopy(CONVERSATION, (RECORD,))
    sent = json.loads(json.dumps({"copy": wire.to_plain(copy)}))
    assert arguments_from_plain(call_named("import_conversation"), sent) == {"copy": copy}
    asked = {"kinds": ["pick", "edit"], "limit": 3, "before": None}
    assert arguments_from_plain(call_named("signals"), asked) == {"kinds": ("pick", "edit"), "limit": 3, "before": None}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("rate", {"turn_id": "t-1", "rating": 2}),
        ("rate", {"turn_id": "t-1"}),
        ("rate", {"turn_id": 7, "rating": 1}),
        ("correct", {"turn_id": "t-1", "text": "Tea.", "kind": "thumb"}),
        ("correct", {"turn_id": "t-1", "text": "Tea.", "provenance": "spoken"}),
        ("signals", {"kinds": "pick"}),
        ("erase_signal", {"signal_id": "7"}),
        ("conversations", {"limit": "many"}),
        ("conversations", {"limit": True}),
        ("conversations", {"unknown": 1}),
        ("conversations", []),
        ("close", {}),
        ("_store", {}),
        ("loaded", {}),
    ],
)
def test_what_is_no_call_or_not_its_arguments_is_refused(name: str, arguments: object) -> None:
    with pytest.raises(UsageProblem):
        arguments_from_plain(call_named(name), arguments)
