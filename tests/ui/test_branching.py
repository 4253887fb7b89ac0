"""The branches of a conversation on the screen: versions beside a turn, and the tree of all of them."""

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Tree

from engine.errors import StoreProblem
from tests.ui.driving import (
    chat_of,
    composer_of,
    run,
    send,
    shown,
    turns_of,
    type_text,
    wait_for,
    wait_for_text,
    wait_until_ready,
)
from tests.ui.scripted import ScriptedClient, turn
from ui.terminal.app import ChatApp
from ui.terminal.tree import TreeScreen


def tea() -> ScriptedClient:
    """hi → green? (in use), or black? → milk?"""
    first = turn("a", "tea", "hi", answer_text="Hello.")
    return ScriptedClient(
        stored={"tea": [first, turn("b", "tea", "green?", "a", answer_text="Steep it.")]},
        others=[
            turn("c", "tea", "black?", "a", answer_text="Boil it."),
            turn("d", "tea", "milk?", "c", answer_text="A drop.", state="stopped"),
        ],
    )


def messages(pilot: Pilot[Any]) -> list[str]:
    return [view.user_text for view in turns_of(pilot)]


async def test_a_turn_shows_which_of_its_versions_it_is() -> None:
    async with run(ChatApp(tea(), conversation_id="tea"), rows=40) as pilot:
        await wait_for_text(pilot, "L2 · best by 1.8 · 1/2")
        assert "branch 1/2" in shown(pilot.app)
        assert shown(pilot.app).count("1/2") == 2  # on its turn and in the status line, not on the first turn


async def test_alt_right_and_alt_left_step_between_versions() -> None:
    client = tea()
    async with run(ChatApp(client, conversation_id="tea"), rows=40) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await pilot.press("alt+right")
        await wait_for_text(pilot, "A drop.")
        assert messages(pilot) == ["hi", "black?", "milk?"]
        assert "branch 2/2" in shown(pilot.app)
        assert client.last("select").turn_id == "c"
        await pilot.press("alt+up", "alt+up", "alt+left")
        await wait_for_text(pilot, "Steep it.")
        assert messages(pilot) == ["hi", "green?"]
        selected = chat_of(pilot).chat.selected
        assert selected is not None and selected.user_text == "green?"


async def test_turns_that_both_branches_have_stay_as_they_are() -> None:
    async with run(ChatApp(tea(), conversation_id="tea"), rows=40) as pilot:
        await wait_for_text(pilot, "Steep it.")
        kept = turns_of(pilot)[0]
        await pilot.press("alt+right")
        await wait_for_text(pilot, "A drop.")
        assert turns_of(pilot)[0] is kept


async def test_stepping_past_the_last_version_says_so() -> None:
    async with run(ChatApp(tea(), conversation_id="tea"), rows=40) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await pilot.press("alt+left")
        await wait_for_text(pilot, "There is no further version on this side.")
        await pilot.press("alt+up", "alt+up", "alt+right")
        await wait_for_text(pilot, "This message has one version only.")


async def test_versions_of_the_first_message_are_stepped_through_too() -> None:
    client = ScriptedClient(
        stored={"c": [turn("a", "c", "hi", answer_text="Hello.")]},
        others=[turn("z", "c", "hey", answer_text="Hey.")],
    )
    async with run(ChatApp(client, conversation_id="c")) as pilot:
        await wait_for_text(pilot, "Hello.")
        await pilot.press("alt+right")
        await wait_for_text(pilot, "Hey.")
        assert messages(pilot) == ["hey"]


async def test_the_next_message_goes_on_with_the_branch_in_use() -> None:
    client = tea()
    async with run(ChatApp(client, conversation_id="tea"), rows=40) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await pilot.press("alt+right")
        await wait_for_text(pilot, "A drop.")
        await pilot.press("up")
        assert composer_of(pilot).text == "milk?"
        await send(pilot, "sugar?")
        await wait_until_ready(pilot)
        await wait_for(pilot, lambda: messages(pilot) == ["hi", "black?", "milk?", "sugar?"])


async def test_the_tree_shows_all_branches_and_marks_the_one_in_use() -> None:
    async with run(ChatApp(tea(), conversation_id="tea")) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await pilot.press("ctrl+b")
        await wait_for_text(pilot, "○ milk? · ■ stopped")
        text = shown(pilot.app)
        for line in ("● hi", "● green? · 1/2", "○ black? · 2/2"):
            assert line in text
        assert "B branch" in text


async def test_enter_in_the_tree_goes_there() -> None:
    client = tea()
    async with run(ChatApp(client, conversation_id="tea"), rows=40) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await send(pilot, "/tree")
        await wait_for_text(pilot, "○ black?")
        await pilot.press("down", "enter")
        await wait_for_text(pilot, "A drop.")
        assert client.last("select").turn_id == "c"
        selected = chat_of(pilot).chat.selected
        assert selected is not None and selected.user_text == "black?"


async def test_b_in_the_tree_lets_the_next_message_follow_that_turn() -> None:
    client = tea()
    async with run(ChatApp(client, conversation_id="tea"), rows=40) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await send(pilot, "/branch")
        await wait_for_text(pilot, "○ milk?")
        await pilot.press("down", "down", "b")
        await wait_for_text(pilot, "Going on after “milk?”")
        await type_text(pilot, "sugar?")
        await pilot.press("enter")
        await wait_until_ready(pilot)
        await wait_for(pilot, lambda: "ask" in client.names())
        assert client.last("ask").turn_id == "d"
        await wait_for(pilot, lambda: messages(pilot) == ["hi", "black?", "milk?", "sugar?"])


async def test_the_tree_begins_at_the_selected_turn() -> None:
    async with run(ChatApp(tea(), conversation_id="tea"), rows=40) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await pilot.press("alt+up", "alt+up", "ctrl+b")
        await wait_for_text(pilot, "○ milk?")
        tree = pilot.app.screen.query_one(Tree)
        await wait_for(pilot, lambda: tree.cursor_node is not None and tree.cursor_node.data == "a")


async def test_a_tree_without_a_conversation_is_refused_in_words() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await wait_for_text(pilot, "Ask anything")
        await pilot.press("ctrl+b")
        await wait_for_text(pilot, "There is no conversation yet.")


async def test_a_version_that_cannot_be_shown_leaves_the_branch_as_it_is() -> None:
    client = tea()
    async with run(ChatApp(client, conversation_id="tea"), rows=40) as pilot:
        await wait_for_text(pilot, "Steep it.")
        client.management_error = StoreProblem("The store is locked.", "Wait.")
        await pilot.press("alt+right")
        await wait_for_text(pilot, "The store is locked.")
        assert messages(pilot) == ["hi", "green?"]


async def test_G6_labels_of_the_tree_are_plain_text() -> None:
    hostile = "\x1b]52;c;eA==\x07[@click=app.quit]x[/] \u202eevil"
    client = ScriptedClient(stored={"c": [turn("a", "c", hostile, answer_text="x")]})
    async with run(ChatApp(client, conversation_id="c"), columns=120) as pilot:
        await wait_for(pilot, lambda: turns_of(pilot))
        await pilot.press("ctrl+b")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, TreeScreen))
        await wait_for_text(pilot, "● [@click=app.quit]x[/] evil")
        assert not set(shown(pilot.app)) & set("\x1b\x07\u202e")
        await pilot.click(Tree, offset=(6, 1))
        assert pilot.app.is_running


async def test_a_tree_of_many_turns_opens() -> None:
    path = [turn(f"n{n}", "long", f"q {n}", f"n{n - 1}" if n else None, answer_text="yes") for n in range(300)]
    async with run(ChatApp(ScriptedClient(stored={"long": path}), conversation_id="long")) as pilot:
        await wait_for_text(pilot, "q 299")
        await pilot.press("ctrl+b")
        await wait_for_text(pilot, "● q 299")
