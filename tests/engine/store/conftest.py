"""A store in a folder of its own, and the few words that the tests of the store share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.store import Store
from engine.values import Answer, TurnRecord

Say = Callable[..., TurnRecord]


@pytest.fixture
def database_path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "macaron.db"


@pytest.fixture
def store(database_path: Path) -> Iterator[Store]:
    with Store.open(database_path) as opened:
        yield opened


@pytest.fixture
def say(store: Store) -> Say:
    """Open a turn after `parent` (or as a first turn) and answer it."""

    def _say(text: str, parent: TurnRecord | None = None, answer: str = "Yes.") -> TurnRecord:
        return add_turn(store, text, parent, answer)

    return _say


def add_turn(store: Store, text: str, parent: TurnRecord | None = None, answer: str = "Yes.") -> TurnRecord:
    turn = store.open_turn(
        text,
        conversation_id=parent.conversation_id if parent else None,
        parent_turn_id=parent.turn_id if parent else None,
        profile="starter",
    )
    store.close_turn(Answer(turn.turn_id, "answered", answer, route=None))
    return store.turn(turn.turn_id)


def bytes_below(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
