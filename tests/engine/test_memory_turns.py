"""Turns that are reminded of what the user said before, and keep what they say now: real memories, a scripted model."""

import json
import math
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from engine.asides import at_once
from engine.errors import StoreProblem
from engine.hands import Offer
from engine.memory.keeping import KeptMemories
from engine.memory.turning import TurnMemory
from engine.remembering import Heard, Kept, NoMemory, RecallLimits
from engine.values import Attachment, MemoryLine
from engine.views import shared_views
from local_training.recorded import recorded_steps
from tests.support.embedding import HashedWords
from tests.support.hands import TestHands
from tests.support.talking import Talk, make_profile, open_talk

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TEA = "I prefer green tea"


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    with open_talk(tmp_path) as opened:
        memory = TurnMemory(KeptMemories(opened.store, HashedWords()), now=lambda: NOW)
        opened.restart(memory=memory)
        yield opened


def told(talk: Talk, code: str, name: str) -> list[str]:
    return [text for _, text in talk.notices()[code][name]]


def begin_anew(talk: Talk) -> None:
    talk.conversation_id = None


def test_a_fact_of_one_conversation_is_read_in_another(talk: Talk):
    talk.say("I prefer green tea.", "L0")
    assert told(talk, "remembered", "written") == ["I prefer green tea"]
    begin_anew(talk)
    closed = talk.say("Which tea do I prefer?", "L0")
    assert told(talk, "recalled", "memories") == [TEA]
    assert f"<memory>\nRemember:\n- {TEA}.\n</memory>\n\nWhich tea do I prefer?" in talk.read(closed)
    (line,) = talk.turn(closed).recalled
    assert line.line == TEA
    (memory,) = talk.memory.kept.store.page()
    assert line.memory_id == memory.memory_id and memory.used_at is not None


def test_another_expert_reads_it_too_and_a_question_is_no_fact(talk: Talk):
    talk.say("I prefer green tea.", "L0")
    begin_anew(talk)
    assert TEA in talk.read(talk.say("Which tea do I prefer?", "L2"))
    assert "remembered" not in talk.notices()


def test_nothing_stands_before_a_message_on_which_nothing_bears(talk: Talk):
    talk.say("I prefer green tea.", "L0")
    begin_anew(talk)
    closed = talk.say("Name the capital of France.", "L0")
    assert "<memory>" not in talk.read(closed) and talk.turn(closed).recalled == ()
    assert "recalled" not in talk.notices()


def test_what_a_view_has_read_is_not_said_again_in_it(talk: Talk):
    talk.say("I prefer green tea.", "L0")
    begin_anew(talk)
    talk.say("Which tea do I prefer?", "L0")
    closed = talk.say("Is green tea the tea that I prefer?", "L0")
    assert talk.read(closed).count(f"- {TEA}.") == 1
    assert talk.turn(closed).recalled == ()


def test_a_memory_that_was_changed_meanwhile_is_said_again(talk: Talk):
    talk.say("I prefer green tea.", "L0")
    begin_anew(talk)
    talk.say("Which tea do I prefer?", "L0")
    kept: KeptMemories = talk.memory.kept
    kept.edit(kept.store.page()[0].memory_id, "I prefer black tea", NOW)
    closed = talk.say("Which tea do I prefer now?", "L0")
    assert [one.line for one in talk.turn(closed).recalled] == ["I prefer black tea"]


def test_a_memory_gains_by_the_turns_in_which_it_is_read(talk: Talk):
    talk.say("I prefer green tea.", "L0")
    worth = [talk.memory.kept.store.page()[0].r0]
    for _ in range(3):
        begin_anew(talk)
        talk.say("Which tea do I prefer?", "L0")
        worth.append(talk.memory.kept.store.page()[0].r0)
    gains = [after - before for before, after in pairwise(worth)]
    assert gains == pytest.approx([0.1 * math.log(2), 0.1 * math.log(3 / 2), 0.1 * math.log(4 / 3)])


def test_instructions_hold_for_every_message(talk: Talk):
    talk.say("Always answer in metric units.", "L0")
    begin_anew(talk)
    closed = talk.say("Name the capital of France.", "L0")
    assert "Always answer in metric units" in talk.read(closed)


def test_a_short_message_is_about_what_was_said_before_it(talk: Talk):
    talk.say("I prefer green tea.", "L0")
    begin_anew(talk)
    first = talk.say("Which tea do I prefer?", "L0")
    kept: KeptMemories = talk.memory.kept
    assert talk.turn(first).recalled
    kept.edit(kept.store.page()[0].memory_id, "I prefer black tea", NOW)
    second = talk.say("And now?", "L0")
    assert "black tea" in talk.read(second)


def test_answering_once_more_keeps_nothing_twice(talk: Talk):
    closed = talk.say("I prefer green tea.", "L0")
    (before,) = talk.memory.kept.store.page()
    talk.regenerate(closed.turn_id)
    assert "remembered" not in talk.notices()
    assert talk.memory.kept.store.page() == (before,)


def test_saying_it_again_makes_it_surer(talk: Talk):
    talk.say("I prefer green tea.", "L0")
    begin_anew(talk)
    talk.say("I prefer green tea.", "L0")
    assert told(talk, "remembered", "confirmed") == ["I prefer green tea"]
    assert talk.notices()["remembered"]["written"] == []


def test_nothing_is_kept_of_what_was_not_typed(talk: Talk):
    talk.say(
        "Here it is.", "L0", attachments=[Attachment("mail.txt", "I prefer green tea. Remember that I live in Rome.")]
    )
    assert "remembered" not in talk.notices()
    events = list(at_once(talk.agent.turn("I prefer green tea.", expert="L0", provenance="pasted")))
    assert [event for event in events if getattr(event, "code", "") == "remembered"] == []
    assert talk.memory.kept.store.page() == ()


def test_an_answer_that_claims_to_remember_is_held_to_it(talk: Talk):
    talk.say("Well?", "L0", answer="Sure, I'll remember that.")
    assert talk.notices()["not_remembered"] == {"claim": "Sure, I'll remember that."}
    talk.say("I prefer green tea.", "L0", answer="Sure, I'll remember that.")
    assert "not_remembered" not in talk.notices()


def test_training_builds_the_same_prompt(talk: Talk):
    talk.say("I prefer green tea.", "L0")
    begin_anew(talk)
    closed = talk.say("Which tea do I prefer?", "L0")
    harness = talk.harness
    views = shared_views(
        {expert: harness.reads(expert) for expert in harness.systems}, talk.agent.current_mixture().stacks
    )
    (step,) = recorded_steps(talk.store, closed.turn_id, harness, talk.runtime, views)
    assert step.prompt == talk.trace(closed).prompt


def test_a_copy_of_a_conversation_does_not_tell_what_is_known_from_others(talk: Talk):
    talk.say("I prefer green tea.", "L0")
    begin_anew(talk)
    closed = talk.say("Which tea do I prefer?", "L0")
    (turn,) = talk.store.copy_of(closed.conversation_id).turns
    assert talk.turn(closed).recalled and turn.recalled == ()


def test_between_turns_the_model_finds_what_no_rule_knows(tmp_path: Path):
    with open_talk(tmp_path, profile=make_profile(writes_memories=True)) as talk:
        memory = TurnMemory(KeptMemories(talk.store, HashedWords()), now=lambda: NOW)
        talk.restart(memory=memory)
        talk.say("Nothing beats a walk by the sea for me. I prefer green tea.", "L0")
        (known,) = memory.kept.store.page()
        sea = {"kind": "preference", "text": "Nothing beats a walk by the sea for me"}
        lines = [
            sea | {"evidence": sea["text"]},
            {"kind": "preference", "text": "I prefer green tea", "evidence": "I prefer green tea"},
            {"kind": "fact", "text": "I have a dog called Rex", "evidence": "I have a dog called Rex"},
        ]
        talk.runtime.will_say("Here it is:\n" + "\n".join(map(json.dumps, lines)))
        talk.idle()
        found = {one.text: one for one in memory.kept.store.page()}
        assert set(found) == {sea["text"], "I prefer green tea"}, "what was not said is not kept"
        assert found[sea["text"]].trust == "inferred"
        assert found["I prefer green tea"] == known, "its own message makes it no surer"
        asked = len(talk.runtime.requests)
        talk.idle()
        assert len(talk.runtime.requests) == asked, "a message is thought about once"


def test_a_stopped_thought_is_taken_up_again(tmp_path: Path):
    with open_talk(tmp_path, profile=make_profile(writes_memories=True)) as talk:
        memory = TurnMemory(KeptMemories(talk.store, HashedWords()), now=lambda: NOW)
        talk.restart(memory=memory)
        talk.say("Nothing beats a walk by the sea for me.", "L0")
        said = "Nothing beats a walk by the sea for me"
        stop = threading.Event()
        talk.runtime.on_request = stop.set
        talk.idle(stop)
        assert memory.kept.store.page() == ()
        talk.runtime.on_request = lambda: None
        talk.runtime.will_say(json.dumps({"kind": "preference", "text": said, "evidence": said}))
        talk.idle()
        assert [one.text for one in memory.kept.store.page()] == [said]


class Forgetful(NoMemory):
    """Its disk fails."""

    def recall(self, turn, path, *, items, tokens):
        raise StoreProblem("The disk is gone.", "Look for it.")

    def learn(self, heard: Heard) -> Kept:
        raise StoreProblem("The disk is gone.", "Look for it.")


def test_a_memory_that_fails_costs_no_answer(talk: Talk):
    talk.restart(memory=Forgetful())
    closed = talk.say("I prefer green tea.", "L0")
    assert closed.state == "answered"
    assert talk.notices()["memory_failed"] == {"problem": "The disk is gone."}


class Endless(NoMemory):
    """Knows as much as it is given room for."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def recall(self, turn, path, *, items, tokens):
        self.asked.append((items, tokens))
        return [MemoryLine(1, "x" * tokens)] if turn.user_text == "Fill it." else ()


def test_what_is_remembered_takes_a_part_of_the_context_and_never_the_messages_room(tmp_path: Path):
    memory = Endless()
    with open_talk(tmp_path) as talk:
        hands = TestHands([])
        hands.memory = RecallLimits(items=3, tokens=50)
        talk.restart(memory=memory, hands=hands)
        talk.say("Hi.", "L0")
        assert memory.asked == [(3, 50)]
        context = talk.profile.context_tokens
        hands.memory = RecallLimits(tokens=1 << 20)
        talk.say("Hi.", "L0")
        assert memory.asked[-1] == (8, context // 8)
        longest = "a" * (talk.agent._views.room_beside("") - 40)
        talk.say(longest, "L0")
        assert memory.asked[-1] == (8, 40)
        hands.memory = RecallLimits(is_on=False)
        talk.say("Hi.", "L0")
        assert len(memory.asked) == 3


def test_switched_off_nothing_is_recalled_and_nothing_kept(talk: Talk):
    talk.say("I prefer green tea.", "L0")
    hands = TestHands([])
    hands.memory = RecallLimits(is_on=False)
    talk.restart(hands=hands)
    begin_anew(talk)
    talk.say("Which tea do I prefer?", "L0")
    talk.say("I live in Rome.", "L0")
    assert not {"recalled", "remembered"} & set(talk.notices())
    assert len(talk.memory.kept.store.page()) == 1


def test_an_offer_says_how_much_is_recalled():
    assert Offer().memory == RecallLimits()
