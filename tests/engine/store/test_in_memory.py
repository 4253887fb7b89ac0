"""A store that is in no file: the same as the others while it is open, and nothing after that."""

import threading

import pytest

from engine.errors import StoreProblem
from engine.store import Store
from engine.values import Answer, Route
from tests.engine.store.conftest import add_turn


def test_it_keeps_what_is_said_while_it_is_open(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store.in_memory()
    turn = add_turn(store, "Where is the 咖啡?", answer="Here.")
    assert store.path(turn.turn_id)[0].answer_text == "Here."
    assert [hit.turn_id for hit in store.search("咖啡")] == [turn.turn_id]
    assert store.copy_of(turn.conversation_id).turns[0].user_text == "Where is the 咖啡?"
    assert store.integrity() == "ok"
    store.close()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StoreProblem):
        store.conversations()


def test_two_have_nothing_in_common():
    one, other = Store.in_memory(), Store.in_memory()
    add_turn(one, "Hello.")
    assert other.conversations() == ()


def test_threads_read_and_write_side_by_side():
    store = Store.in_memory()
    problems: list[BaseException] = []

    def talk(number: int) -> None:
        try:
            for step in range(20):
                opened = store.open_turn(
                    f"{number}.{step}", conversation_id=None, parent_turn_id=None, profile="starter"
                )
                store.close_turn(Answer(opened.turn_id, "answered", "Yes.", Route("L0", "best")))
                assert store.turn(opened.turn_id).answer_text == "Yes."
                store.copy_of(opened.conversation_id)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == [] and len(store.conversations(limit=1000)) == 80
