"""Any turn can be selected, and edited, answered again, branched from, copied and rated."""

from typing import Any

import pytest
from textual.pilot import Pilot

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
from tests.ui.scripted import Gate, ScriptedClient, turn
from ui.terminal.app import ChatApp


def three_turns() -> ScriptedClient:
    """A conversation of three turns, the last of which has thought."""
    path = [
        turn("a", "c", "one?", answer_text="First."),
        turn("b", "c", "two?", "a", answer_text="Second."),
        turn("d", "c", "three?", "b", answer_text="<think>hm</think>\n\nThird."),
    ]
    return ScriptedClient(stored={"c": path})


def selected_text(pilot: Pilot[Any]) -> str | None:
    view = chat_of(pilot).chat.selected
    return view.user_text if view is not None else None


async def test_alt_up_and_alt_down_move_through_the_turns_and_back_to_the_prompt() -> None:
    async with run(ChatApp(three_turns(), conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        seen = []
        for key in ("alt+up", "alt+up", "alt+up", "alt+up", "alt+down", "alt+down", "alt+down"):
            await pilot.press(key)
            seen.append(selected_text(pilot))
        assert seen == ["three?", "two?", "one?", "one?", "two?", "three?", None]
        assert composer_of(pilot).has_focus


async def test_the_selected_turn_is_marked_and_the_foot_names_its_keys() -> None:
    async with run(ChatApp(three_turns(), conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        await pilot.press("alt+up", "alt+up")
        await wait_for_text(pilot, "E edit  R again  B branch")
        assert [line for line in shown(pilot.app).splitlines() if line.startswith("▌")][1] == "▌  two?"


async def test_escape_leaves_the_selection() -> None:
    async with run(ChatApp(three_turns(), conversation_id="c")) as pilot:
        await wait_for_text(pilot, "Third.")
        await pilot.press("alt+up", "escape")
        assert composer_of(pilot).has_focus


async def test_a_click_on_a_turn_does_not_make_letters_act() -> None:
    client = three_turns()
    async with run(ChatApp(client, conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        await pilot.click(turns_of(pilot)[0])
        await type_text(pilot, "rebe")
        assert composer_of(pilot).text == "rebe"
        assert client.names() == ["conversation", "path", "tree", "signals"]


async def test_selecting_nothing_does_nothing() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await wait_for_text(pilot, "Ask anything")
        await pilot.press("alt+up", "alt+down", "alt+left")
        await wait_for_text(pilot, "There is no message to edit yet.")
        assert composer_of(pilot).has_focus


async def test_the_selected_message_is_edited_and_what_followed_is_left() -> None:
    client = three_turns()
    client.will("Two and a half.")
    async with run(ChatApp(client, conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        await pilot.press("alt+up", "alt+up", "e")
        assert composer_of(pilot).text == "two?"
        await type_text(pilot, "!")
        await pilot.press("enter")
        await wait_for_text(pilot, "L2 · best by 1.8 · 2/2")
        assert (client.last("edit").turn_id, client.last("edit").text) == ("b", "two?!")
        assert [view.user_text for view in turns_of(pilot)] == ["one?", "two?!"]
        assert "branch 2/2" in shown(pilot.app)


async def test_the_selected_message_is_answered_again() -> None:
    client = three_turns()
    client.will("Another first.")
    async with run(ChatApp(client, conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        await pilot.press("alt+up", "alt+up", "alt+up", "r")
        await wait_for_text(pilot, "· 2/2")
        assert client.last("regenerate").turn_id == "a"
        assert [view.user_text for view in turns_of(pilot)] == ["one?"]
        assert composer_of(pilot).has_focus


async def test_the_next_message_follows_the_turn_that_was_branched_from() -> None:
    client = three_turns()
    async with run(ChatApp(client, conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        await pilot.press("alt+up", "alt+up", "alt+up", "b")
        await wait_for_text(pilot, "Going on after “one?”")
        await type_text(pilot, "elsewhere")
        await pilot.press("enter")
        await wait_for_text(pilot, "· 2/2")
        ask = client.last("ask")
        assert (ask.text, ask.conversation_id, ask.turn_id) == ("elsewhere", "c", "a")
        assert [view.user_text for view in turns_of(pilot)] == ["one?", "elsewhere"]
        await send(pilot, "and on")
        await wait_until_ready(pilot)
        await wait_for(pilot, lambda: client.last("ask").text == "and on")
        assert client.last("ask").turn_id is None


async def test_escape_gives_up_the_branch_and_keeps_what_was_written() -> None:
    client = three_turns()
    async with run(ChatApp(client, conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        await type_text(pilot, "text")
        await pilot.press("alt+up", "alt+up", "b", "escape")
        assert "Going on after" not in shown(pilot.app)
        assert composer_of(pilot).text == "text"
        await pilot.press("enter")
        await wait_for(pilot, lambda: "ask" in client.names())
        assert client.last("ask").turn_id is None


async def test_a_refused_branch_stays_a_branch() -> None:
    client = three_turns()
    client.will(refused=StoreProblem("No.", ""))
    async with run(ChatApp(client, conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        await pilot.press("alt+up", "alt+up", "b", "x", "enter")
        await wait_for_text(pilot, "Problem: No.")
        assert "Going on after “two?”" in shown(pilot.app)
        await pilot.press("enter")
        await wait_for(pilot, lambda: client.names().count("ask") == 2)
        assert client.last("ask").turn_id == "b"


async def test_an_answer_is_copied_without_its_thoughts() -> None:
    async with run(ChatApp(three_turns(), conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        await send(pilot, "/copy")
        await wait_for_text(pilot, "Copied.")
        assert pilot.app.clipboard == "Third."
        await pilot.press("alt+up", "alt+up", "y")
        assert pilot.app.clipboard == "Second."


async def test_what_is_copied_holds_no_control_sequence() -> None:
    client = ScriptedClient(stored={"c": [turn("a", "c", "q", answer_text="do \x1b]52;c;eA==\x07this\x1b[2J")]})
    async with run(ChatApp(client, conversation_id="c")) as pilot:
        await wait_for_text(pilot, "do this")
        await send(pilot, "/copy")
        await wait_for(pilot, lambda: pilot.app.clipboard == "do this")


async def test_a_thumb_is_given_taken_back_and_shown_in_words() -> None:
    client = three_turns()
    async with run(ChatApp(client, conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        await pilot.press("alt+up", "alt+up", "plus")
        await wait_for_text(pilot, "L2 · best by 1.8 · thumb up (+1)")
        await pilot.press("minus")
        await wait_for_text(pilot, "thumb down (-1)")
        await pilot.press("minus")
        await wait_for(pilot, lambda: "thumb down" not in shown(pilot.app))
        ratings = [(call.turn_id, call.value) for call in client.calls if call.name == "rate"]
        assert ratings == [("b", 1), ("b", -1), ("b", 0)]


async def test_the_last_answer_is_rated_by_command() -> None:
    client = three_turns()
    async with run(ChatApp(client, conversation_id="c", language="zh"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        await send(pilot, "/thumb up")
        await wait_for_text(pilot, "赞（+1）")
        await send(pilot, "/thumb none")
        await wait_for(pilot, lambda: "赞（+1）" not in shown(pilot.app))
        await send(pilot, "/thumb sideways")
        await wait_for_text(pilot, "请输入 /thumb up")
        assert [call.value for call in client.calls if call.name == "rate"] == [1, 0]


async def test_a_stored_thumb_is_shown() -> None:
    client = ScriptedClient(stored={"c": [turn("a", "c", "q", answer_text="x", rating=-1)]})
    async with run(ChatApp(client, conversation_id="c")) as pilot:
        await wait_for_text(pilot, "thumb down (-1)")


@pytest.mark.parametrize("command", ["/thumb up", "/rename Tea", "/export", "/tree", "/profile", "/regenerate"])
async def test_an_error_of_any_command_is_shown_and_the_chat_goes_on(command: str) -> None:
    client = three_turns()
    async with run(ChatApp(client, conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        client.management_error = StoreProblem("The host is gone.", "Start it again.")
        if command == "/regenerate":
            client.will(refused=client.management_error)
        await send(pilot, command)
        await wait_for_text(pilot, "Problem: The host is gone.")
        assert "What to do: Start it again." in shown(pilot.app)
        client.management_error = None
        await wait_until_ready(pilot)
        await send(pilot, "still here?")
        await wait_for_text(pilot, "An answer.")


async def test_nothing_is_changed_while_an_answer_is_written() -> None:
    client, rest = three_turns(), Gate()
    client.will("writing", rest)
    async with run(ChatApp(client, conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        await send(pilot, "go")
        await wait_for_text(pilot, "writing")
        before = client.names()
        await pilot.press("alt+up", "alt+up", "e", "r", "b", "alt+left", "ctrl+b")
        await wait_for_text(pilot, "Press Esc to stop it first")
        assert client.names() == before
        assert composer_of(pilot).text == ""
        rest.open()
        await wait_until_ready(pilot)


async def test_the_palette_acts_on_the_selected_turn() -> None:
    async with run(ChatApp(three_turns(), conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Third.")
        await pilot.press("alt+up", "alt+up", "ctrl+p")
        await wait_for_text(pilot, "Copy the answer")
        await type_text(pilot, "copy the answer")
        await wait_for(pilot, lambda: "Rename the conversation" not in shown(pilot.app))
        await pilot.press("enter")
        await wait_for(pilot, lambda: pilot.app.clipboard == "Second.")
