"""A home in which something was said already, so that every test can see that nothing of it gets lost."""

from pathlib import Path

import pytest

from app.opening import open_store
from app.paths import Paths
from engine.values import Answer, Route, TurnRecord
from tests.app.running import profile_like_starter
from tests.support.hosting import end_host

SAID = "What do you know about 咖啡?"
ANSWERED = "Coffee is a drink; 拿铁 is one with milk."


@pytest.fixture
def earlier(home: Path) -> TurnRecord:
    """An answered turn in the test's home."""
    with open_store(Paths(home)) as store:
        turn = store.open_turn(SAID, conversation_id=None, parent_turn_id=None, profile="starter")
        store.close_turn(Answer(turn.turn_id, "answered", ANSWERED, Route("L0", "default")))
        return store.turn(turn.turn_id)


@pytest.fixture(scope="session")
def brief_profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter with answers of at most 24 tokens, for tests in which an answer only has to be there."""
    folder = tmp_path_factory.mktemp("profiles") / "brief"
    return profile_like_starter(folder, [("max_answer_tokens = 512", "max_answer_tokens = 24")])


def stored_turns(home: Path) -> list[TurnRecord]:
    """Every turn on the branches in use, oldest conversation first. The file must be in order. Ends the host."""
    end_host(home)
    with open_store(Paths(home)) as store:
        assert store.integrity() == "ok"
        leaves = [conversation.leaf_turn_id for conversation in reversed(store.conversations())]
        return [turn for leaf in leaves if leaf is not None for turn in store.path(leaf)]
