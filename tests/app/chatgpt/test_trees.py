"""A tree of messages becomes a tree of turns: every branch, the one in use, and nothing twice."""

import random
from datetime import UTC, datetime
from typing import Any

import pytest

from app.chatgpt.trees import Grown, grow
from engine.errors import UsageProblem
from engine.store import copies
from engine.values import TurnRecord
from tests.support.chatgpt_export import BEGAN, Chat

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def grown(data: Any) -> Grown:
    found = grow(data, "starter", NOW)
    assert found is not None
    copies.check(found.copy)
    return found


def paths(found: Grown) -> list[list[tuple[str, str]]]:
    """What was said on every branch, from its beginning to its end."""
    turns = {turn.turn_id: turn for turn in found.copy.turns}
    parents = {turn.parent_turn_id for turn in turns.values()}
    return [said_to(found, turn) for turn in turns.values() if turn.turn_id not in parents]


def said_to(found: Grown, end: TurnRecord | None) -> list[tuple[str, str]]:
    turns = {turn.turn_id: turn for turn in found.copy.turns}
    said = []
    while end is not None:
        said.append((end.user_text, end.answer_text))
        end = turns[end.parent_turn_id] if end.parent_turn_id else None
    return said[::-1]


def in_use(found: Grown) -> list[tuple[str, str]]:
    turns = {turn.turn_id: turn for turn in found.copy.turns}
    return said_to(found, turns[found.copy.conversation.leaf_turn_id or ""])


@pytest.fixture
def chat() -> Chat:
    return Chat("chat")


def test_a_conversation_is_what_was_said_and_when(chat: Chat):
    chat.user("Hi.")
    chat.assistant("Hello.")
    chat.user("And?")
    chat.assistant("So.")
    found = grown(chat.data)
    assert paths(found) == [[("Hi.", "Hello."), ("And?", "So.")]] and in_use(found) == paths(found)[0]
    first, _ = found.copy.turns
    assert (first.state, first.provenance, first.created_at) == ("answered", "imported", "2024-03-01T12:01:00+00:00")
    assert first.route and (first.route.expert, first.route.reason) == ("ChatGPT gpt-4o", "imported")
    assert found.copy.conversation.title == "Tea" and found.left_out == {}


def test_a_regenerated_answer_and_an_edited_message_make_siblings(chat: Chat):
    asked = chat.user("Hi.")
    first = chat.assistant("Hello.")
    chat.user("And?")
    kept = chat.assistant("So.")
    chat.assistant("Hey.", after=asked)
    chat.assistant("Then so.", after=chat.user("And then?", after=first))
    chat.current = kept
    found = grown(chat.data)
    assert paths(found) == [
        [("Hi.", "Hello."), ("And?", "So.")],
        [("Hi.", "Hello."), ("And then?", "Then so.")],
        [("Hi.", "Hey.")],
    ]
    assert in_use(found) == [("Hi.", "Hello."), ("And?", "So.")]


def test_an_answer_in_several_messages_is_one_and_what_they_share_is_in_each_branch(chat: Chat):
    chat.user("Work it out.")
    chat.assistant("Let me see.")
    code = {"content_type": "code", "text": "1 + 1"}
    chat.add("assistant", code, recipient="python")
    fork = chat.add("tool", {"content_type": "execution_output", "text": "2"})
    chat.assistant("Two.")
    chat.assistant("It is two.", after=fork)
    shared = "Let me see.\n\n```python\n1 + 1\n```\n\n```output\n2\n```"
    assert paths(grown(chat.data)) == [
        [("Work it out.", f"{shared}\n\nTwo.")],
        [("Work it out.", f"{shared}\n\nIt is two.")],
    ]


def test_what_says_nothing_is_passed_through(chat: Chat):
    chat.add("system", "")
    chat.add("user", {"content_type": "user_editable_context", "user_profile": "I like tea."})
    chat.user("Hi.")
    chat.add("assistant", {"content_type": "thoughts", "thoughts": [{"content": "Hm."}]})
    chat.assistant("")
    chat.assistant("Hello.")
    chat.add("system", "Note.")
    chat.user("And?")
    found = grown(chat.data)
    assert paths(found) == [[("Hi.", "Hello."), ("And?", "")]]
    assert [turn.state for turn in found.copy.turns] == ["answered", "interrupted"]
    assert found.left_out == {"hidden": 2, "reasoning": 1}


def test_a_conversation_that_begins_with_an_answer_has_a_turn_without_a_question(chat: Chat):
    chat.assistant("Welcome.")
    chat.user("Hi.")
    chat.add("assistant", "Hel", status="in_progress")
    found = grown(chat.data)
    assert paths(found) == [[("", "Welcome."), ("Hi.", "Hel")]]
    assert [turn.state for turn in found.copy.turns] == ["answered", "stopped"]


def test_turns_keep_their_names_when_the_conversation_grows(chat: Chat):
    chat.user("Hi.")
    chat.assistant("Hello.")
    before = grown(chat.data).copy
    chat.add("system", "Note.")
    chat.assistant("So.", after=chat.user("And?"))
    after = grown(chat.data).copy
    assert after.turns[: len(before.turns)] == before.turns
    assert after.conversation.conversation_id == before.conversation.conversation_id


@pytest.mark.parametrize("name", ["parent", "children"])
def test_either_half_of_the_tree_is_enough(chat: Chat, name: str):
    chat.assistant("Hello.", after=chat.user("Hi."))
    whole = grown(chat.data)
    for node in chat.nodes.values():
        del node["children" if name == "parent" else "parent"]
    assert grown(chat.data) == whole


def test_nothing_is_lost_where_parents_are_missing_or_there_are_two_roots(chat: Chat):
    chat.assistant("Hello.", after=chat.user("Hi."))
    chat.assistant("So.", after=chat.user("And?"))
    del chat.nodes["chat-2"]  # the first answer
    chat.nodes["other"] = {"message": None, "parent": None, "children": []}
    chat.assistant("Hey.", after=chat.user("You.", after="other"))
    assert paths(grown(chat.data)) == [[("Hi.", "")], [("And?", "So.")], [("You.", "Hey.")]]


@pytest.mark.parametrize("current", [None, 5, "nowhere", "chat-root", "chat-1"])
def test_where_no_end_of_a_branch_is_in_use_the_last_one_is(chat: Chat, current: Any):
    chat.assistant("Hello.", after=chat.user("Hi."))
    found = grown(chat.data | {"current_node": current})
    assert found.copy.conversation.leaf_turn_id in (None, found.copy.turns[-1].turn_id)


@pytest.mark.parametrize("moment", [None, float("nan"), "soon", -1, 1e300, BEGAN])
def test_odd_times_become_those_of_what_is_around(chat: Chat, moment: Any):
    for node in (chat.user("Hi."), chat.assistant("Hello."), chat.user("And?")):
        chat.nodes[node]["message"]["create_time"] = moment
    found = grown(chat.data)
    assert {turn.created_at for turn in found.copy.turns} == {"2024-03-01T12:00:00+00:00"}
    nothing = grown(chat.data | {"create_time": None, "update_time": None})
    assert nothing.copy.turns[0].created_at in ("2024-03-01T12:00:00+00:00", NOW.isoformat())


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({"conversation_id": "a", "mapping": {}}, id="no messages"),
        pytest.param({"conversation_id": "a", "mapping": {"x": None, "y": 5, "z": {"message": []}}}, id="no nodes"),
        pytest.param(Chat("a").data, id="only a root"),
    ],
)
def test_a_conversation_in_which_nothing_was_said_is_none(data: Any):
    assert grow(data, "starter", NOW) is None


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(None, "mapping", id="null"),
        pytest.param([], "mapping", id="list"),
        pytest.param({"mapping": [1]}, "mapping", id="list of messages"),
        pytest.param({"mapping": {}}, "no id", id="no id"),
        pytest.param({"mapping": {}, "id": 7}, "no id", id="id that is a number"),
    ],
)
def test_what_is_no_conversation_is_refused_with_the_reason(data: Any, words: str):
    with pytest.raises(UsageProblem, match=words) as caught:
        grow(data, "starter", NOW)
    assert caught.value.hint


@pytest.mark.parametrize("parents", [("b", "a"), ("a", "b"), ("b", "b")])
def test_messages_in_a_circle_are_refused(chat: Chat, parents: tuple[str, str]):
    chat.user("Hi.")
    for node, parent in zip("ab", parents, strict=True):
        chat.nodes[node] = {"message": chat.nodes["chat-1"]["message"], "parent": parent, "children": []}
    with pytest.raises(UsageProblem, match="circle"):
        grow(chat.data, "starter", NOW)


def test_a_branch_as_deep_as_one_likes_is_read(chat: Chat):
    for _ in range(20_000):
        chat.user("Hi.")
    assert len(grown(chat.data).copy.turns) == 20_000


def test_many_branches_of_one_long_answer_do_not_multiply_without_end(chat: Chat):
    chat.user("Hi.")
    for _ in range(3000):
        end = chat.assistant("x" * 100)
        chat.assistant("y", after=end)
        chat.last = end
    with pytest.raises(UsageProblem, match="more than"):
        grow(chat.data, "starter", NOW)


def test_any_tree_gives_every_message_that_was_said():
    for seed in range(200):
        chance, chat = random.Random(seed), Chat("chat")
        for number in range(chance.randint(1, 30)):
            chat.add(
                chance.choice(["user", "assistant", "system"]), f"<{number}>", after=chance.choice(list(chat.nodes))
            )
        found = grow(chat.data, "starter", NOW)
        texts = "" if found is None else " ".join(f"{turn.user_text} {turn.answer_text}" for turn in found.copy.turns)
        for node in list(chat.nodes.values())[1:]:
            message = node["message"]
            assert (message["content"]["parts"][0] in texts) is (message["author"]["role"] != "system"), seed
