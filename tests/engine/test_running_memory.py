"""What stands for folded turns, from what is stored; with a model's proposals where that stands up to the verifier."""

import pytest

from engine.memory.writing.proposals import Proposal
from engine.running_memory import RunningMemories
from tests.support.talking import Talk

RAIN = "The rain in Rome lasted for an hour."


@pytest.fixture
def memories(talk: Talk) -> RunningMemories:
    return RunningMemories(talk.store, talk.runtime, 4000)


def said(talk: Talk, *texts: str):
    for text in texts:
        last = talk.say(text, "L0", answer="Yes.")
    return talk.path(last)


def test_it_takes_an_eighth_of_the_context_and_not_more_than_a_thousand_tokens(talk):
    assert [RunningMemories(talk.store, talk.runtime, size).tokens for size in (2048, 8192, 32768)] == [256, 1024, 1024]


def test_before_anything_was_folded_nothing_is_known(talk, memories):
    turns = said(talk, "I live in Oslo.")
    assert memories.known(talk.conversation_id, turns)[1] == 0
    assert [line.text for line in memories.write(talk.conversation_id, turns).memory.lines] == [
        "I live in Oslo",
        "Yes.",
    ]


@pytest.mark.parametrize(
    ("slot", "expected"),
    [
        pytest.param("", ["I live in Oslo", "Rain lasted for an hour in Rome"], id="beside"),
        pytest.param("home", ["I live in Oslo", RAIN], id="pushes-out-what-is-pinned"),
    ],
)
def test_a_models_proposals_are_left_out_where_they_push_out_what_must_not_be_lost(talk, memories, slot, expected):
    turns = said(talk, "I live in Oslo.", RAIN)
    proposals = {turns[1].turn_id: [Proposal("Rain lasted for an hour in Rome", "fact", RAIN, slot, author="model")]}
    written = memories.write(talk.conversation_id, turns, proposals).memory
    assert [line.text for line in written.lines if line.kind != "answered"] == expected
