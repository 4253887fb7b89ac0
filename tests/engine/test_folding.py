"""Folding ahead of time: while nobody waits the model takes part, and what it proposes is verified."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.runtime.protocol import NEVER
from engine.values import Epoch
from tests.support.talking import Talk, make_profile, open_talk

SAID = "The train to Lyon was late again, which I found hard."
Q, A = "q" * 75, "a" * 75


def line(text: str, evidence: str = SAID) -> str:
    return json.dumps({"kind": "fact", "text": text, "evidence": evidence})


@pytest.fixture
def nearly_full(tmp_path: Path) -> Iterator[Talk]:
    """A view with room for one more turn, perhaps."""
    profile = make_profile({"L0": "I chat."}, context_tokens=2000, max_answer_tokens=200, writes_memories=True)
    with open_talk(tmp_path, profile=profile) as talk:
        talk.say(SAID, answer="Yes.")
        for number in range(9):
            talk.say(f"Q{number} {Q}", answer=f"A{number} {A}")
        assert "folded" not in talk.notices()
        yield talk


def newest(talk: Talk) -> Epoch:
    on_path = [turn.turn_id for turn in talk.turns()]
    epoch = talk.store.latest_epoch(talk.conversation_id or "", "L0", on_path)
    assert epoch is not None
    return epoch


def test_when_nobody_waits_the_model_proposes_and_the_next_turn_tells_of_the_fold(nearly_full):
    nearly_full.runtime.will_say("\n".join((line("Found the late train to Lyon hard"), line("Lives in Paris"))))
    nearly_full.idle()
    (asked,) = nearly_full.runtime.summaries
    assert f"- {SAID}" in nearly_full.runtime.decode(asked.tokens)
    epoch = newest(nearly_full)
    assert (epoch.number, epoch.reason) == (1, "folded")
    shown = "\n".join(epoch.memory.shown)
    assert "Found the late train to Lyon hard" in shown and "Paris" not in shown
    turn = nearly_full.say("Go on.")
    told = nearly_full.notices()["folded"]["turns"]
    assert told > 1 and f"Earlier turns of this conversation ({told}) are" in nearly_full.read(turn)
    assert "Found the late train to Lyon hard" in nearly_full.read(turn)
    nearly_full.say("And?")
    assert nearly_full.notices() == {}


def test_a_view_with_room_is_not_folded_and_the_model_is_not_asked_twice(nearly_full):
    nearly_full.idle()
    asked = len(nearly_full.runtime.summaries)
    nearly_full.idle()
    assert len(nearly_full.runtime.summaries) == asked
    assert newest(nearly_full).number == 1


def test_of_a_model_that_says_nothing_usable_only_the_rules_lines_are_there(nearly_full):
    nearly_full.runtime.will_say("I am not sure what you mean.")
    nearly_full.idle()
    assert f"[given] {SAID}" in newest(nearly_full).memory.shown


def test_a_message_that_comes_meanwhile_stops_it_and_the_view_stays_as_it_is(nearly_full):
    stop = threading.Event()
    nearly_full.runtime.on_request = stop.set
    nearly_full.idle(stop)
    assert newest(nearly_full).number == 0


def test_a_profile_that_does_not_ask_its_model_leaves_all_to_the_rules_and_to_the_next_turn(nearly_full):
    nearly_full.restart(profile=make_profile({"L0": "I chat."}, context_tokens=2000, max_answer_tokens=200))
    nearly_full.idle(NEVER)
    assert nearly_full.runtime.summaries == []
    assert newest(nearly_full).number == 0
