"""Keys, commands and layers: what each opens, closes and ends."""

import time

import pytest
from textual.command import CommandPalette
from textual.widgets import Input, OptionList

from engine.errors import StoreProblem
from engine.values import SearchHit, TurnState
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
from ui.strings import say
from ui.terminal.app import ChatApp
from ui.terminal.commands import COMMANDS
from ui.terminal.help import HelpScreen
from ui.terminal.history import HistoryScreen
from ui.terminal.overlays import ExpertsScreen
from ui.terminal.transcript import TURNS_AT_ONCE

SCREENS = {"ctrl+l": HistoryScreen, "ctrl+t": ExpertsScreen, "f1": HelpScreen, "ctrl+p": CommandPalette}


def library() -> ScriptedClient:
    """Two stored conversations; the word "coffee" is found in a branch of the first that is not in use."""
    coffee = turn("a2", "tea", "and coffee?", "a1", answer_text="Coffee too.")
    first = turn("a1", "tea", "green tea?", answer_text="Steep it.")
    return ScriptedClient(
        stored={
            "tea": [first, turn("a3", "tea", "and water?", "a1", answer_text="Boil it.")],
            "cats": [turn("b1", "cats", "what do cats eat?", answer_text="Meat.")],
        },
        others=[coffee],
        hits={"coffee": [SearchHit("tea", "a2", "user", "green tea?", "and coffee?", "2026-03-04T05:06:07Z")]},
    )


@pytest.mark.parametrize("key", SCREENS)
async def test_escape_closes_the_top_layer_and_never_quits(key: str) -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await pilot.press(key)
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, SCREENS[key]))
        await pilot.press("escape")
        await wait_for(pilot, lambda: pilot.app.screen is chat_of(pilot).chat)
        await pilot.press("escape", "escape")
        assert pilot.app.is_running


async def test_escape_stops_the_turn_first_and_closes_the_layer_next() -> None:
    client = ScriptedClient()
    client.will("one", Gate(), "two")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "one")
        await pilot.press("f1")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await pilot.press("escape")
        await wait_until_ready(pilot)
        assert isinstance(pilot.app.screen, HelpScreen)
        await pilot.press("escape")
        await wait_for_text(pilot, "■ stopped")


async def test_ctrl_c_stops_the_turn_that_runs() -> None:
    client = ScriptedClient()
    client.will("one", Gate(), "two")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "one")
        await pilot.press("ctrl+c")
        await wait_for_text(pilot, "■ stopped")


async def test_ctrl_c_says_how_to_quit_when_nothing_runs() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await pilot.press("ctrl+c")
        await wait_for_text(pilot, "Press Ctrl+Q to quit.")
        assert pilot.app.is_running


async def test_ctrl_c_copies_what_is_selected_in_the_composer() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await pilot.press(*"copy", "shift+left", "shift+left", "ctrl+c")
        assert pilot.app.clipboard == "py"


async def test_ctrl_q_quits() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await pilot.press("ctrl+q")
        await wait_for(pilot, lambda: not pilot.app.is_running)


async def test_quitting_stops_the_turn_and_waits_for_its_end() -> None:
    client = ScriptedClient()
    client.will("partial", Gate(), "rest")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "partial")
        await pilot.press("ctrl+q")
        await wait_for(pilot, lambda: not pilot.app.is_running)
        assert client.names() == ["ask", "stop"]
        assert client.stored["c1"][-1].state == "stopped"
        assert client.stored["c1"][-1].answer_text == "partial"


async def test_quitting_does_not_wait_for_ever() -> None:
    client, rest = ScriptedClient(), Gate()
    client.will("one", rest, ignores_stop=True)
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "one")
        began = time.monotonic()
        await pilot.press("ctrl+q")
        await wait_for(pilot, lambda: not pilot.app.is_running)
        assert 1.5 < time.monotonic() - began < 4
        rest.open()


async def test_the_palette_names_every_command_and_runs_it() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client), columns=100, rows=90) as pilot:
        await pilot.press("ctrl+p")
        await wait_for_text(pilot, say("command.new", "en"))
        text = shown(pilot.app)
        assert [command.name for command in COMMANDS if say(command.help_key, "en") not in text] == []
        await type_text(pilot, "pin an expert")
        await wait_for(pilot, lambda: say("command.new", "en") not in shown(pilot.app))
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, ExpertsScreen))


async def test_the_palette_reads_chinese() -> None:
    async with run(ChatApp(ScriptedClient(), language="zh"), columns=100, rows=60) as pilot:
        await pilot.press("ctrl+p")
        await wait_for_text(pilot, "开始新对话")


async def test_the_palette_switches_between_light_and_dark() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await pilot.press("ctrl+p")
        await wait_for_text(pilot, "Answer the message again")
        await type_text(pilot, "light and dark")
        await wait_for(pilot, lambda: "Answer the message again" not in shown(pilot.app))
        await pilot.press("enter")
        await wait_for(pilot, lambda: pilot.app.theme == "macaron-light")


async def test_help_explains_the_keys_of_the_screen_it_was_opened_from() -> None:
    async with run(ChatApp(library())) as pilot:
        await pilot.press("f1")
        await wait_for_text(pilot, "Shift+Enter")
        await pilot.press("escape", "ctrl+l")
        await wait_for_text(pilot, "green tea?")
        await pilot.press("f1")
        await wait_for_text(pilot, "continue the conversation")
        assert "Shift+Enter" not in shown(pilot.app)


async def test_help_lists_every_command() -> None:
    async with run(ChatApp(ScriptedClient()), columns=80, rows=40) as pilot:
        await send(pilot, "/help")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await pilot.press("end")
        await wait_for_text(pilot, "/quit")
        text = shown(pilot.app)
        assert [command.name for command in COMMANDS if command.usage not in text] == []


async def test_an_unknown_command_names_the_known_ones_and_sends_nothing() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client), columns=120, rows=24) as pilot:
        await send(pilot, "/nosuch thing")
        await wait_for_text(pilot, "There is no command /nosuch.")
        assert "/new, /off-record, /expert, /history, /regenerate," in shown(pilot.app)
        assert composer_of(pilot).text == "/nosuch thing"
        assert client.calls == []


async def test_a_command_that_was_mistyped_is_told_the_nearest() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client), columns=120, rows=24) as pilot:
        await send(pilot, "/exprot json")
        await wait_for_text(pilot, "There is no command /exprot. Did you mean /export?")
        assert client.calls == []


async def test_a_note_takes_the_place_of_the_one_before() -> None:
    async with run(ChatApp(ScriptedClient()), columns=120, rows=24) as pilot:
        await send(pilot, "hello")
        await wait_until_ready(pilot)
        await send(pilot, "/nosuch")
        await wait_for_text(pilot, "There is no command /nosuch.")
        await send(pilot, "/qqq")
        await wait_for_text(pilot, "There is no command /qqq.")
        text = shown(pilot.app)
        assert "There is no command /nosuch." not in text
        assert "hello" in text and "An answer." in text


async def test_two_slashes_send_a_text_that_begins_with_a_slash() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "//etc/hosts is a file")
        await wait_for(pilot, lambda: client.names() == ["ask"])
        assert client.calls[0].text == "/etc/hosts is a file"


async def test_slash_commands_do_what_the_keys_do() -> None:
    client = ScriptedClient()
    client.will("one")
    client.will("two")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "one")
        await wait_until_ready(pilot)
        await send(pilot, "/regenerate")
        await wait_for_text(pilot, "two")
        await wait_until_ready(pilot)
        await send(pilot, "/edit")
        await wait_for(pilot, lambda: composer_of(pilot).text == "hi")
        await pilot.press("escape")
        await send(pilot, "/new")
        await wait_for_text(pilot, "Ask anything")
        await send(pilot, "/quit")
        await wait_for(pilot, lambda: not pilot.app.is_running)


async def test_an_expert_is_pinned_from_the_list_and_freed_again() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await pilot.press("ctrl+t")
        await wait_for_text(pilot, "L2 · code")
        await pilot.press("down", "down", "down", "enter")
        await wait_for_text(pilot, "pinned to L2")
        await send(pilot, "hi")
        await wait_for(pilot, lambda: "ask" in client.names())
        assert client.calls[-1].expert == "L2"
        await wait_until_ready(pilot)
        await pilot.press("ctrl+t")
        await wait_for_text(pilot, "L2 · code (current)")
        await pilot.press("up", "up", "up", "enter")
        await wait_for(pilot, lambda: chat_of(pilot).chat.pinned is None)


async def test_an_expert_is_pinned_by_name() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await send(pilot, "/expert l3")
        await wait_for_text(pilot, "L3 answers from now on")
        assert chat_of(pilot).chat.pinned == "L3"
        await send(pilot, "/expert auto")
        await wait_for(pilot, lambda: chat_of(pilot).chat.pinned is None)


async def test_an_unknown_expert_is_refused_with_the_known_ones() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await send(pilot, "/expert L9")
        await wait_for_text(pilot, "There is no expert L9. Experts: L0, L1, L2, L3.")
        assert chat_of(pilot).chat.pinned is None


async def test_a_conversation_is_chosen_from_the_list_and_continued() -> None:
    client = library()
    async with run(ChatApp(client)) as pilot:
        await pilot.press("ctrl+l")
        await wait_for_text(pilot, "what do cats eat?")
        await pilot.press("down", "enter")
        await wait_for_text(pilot, "Meat.")
        await send(pilot, "and dogs?")
        await wait_for(pilot, lambda: "ask" in client.names())
        assert client.calls[-1].conversation_id == "cats"
        await wait_until_ready(pilot)


async def test_a_message_found_on_another_branch_is_shown_on_its_branch() -> None:
    client = library()
    async with run(ChatApp(client)) as pilot:
        await pilot.press("ctrl+l")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))
        await type_text(pilot, "coffee")
        await wait_for_text(pilot, "and coffee?")
        await pilot.press("enter")
        await wait_for_text(pilot, "Coffee too.")
        assert "Boil it." not in shown(pilot.app)
        assert chat_of(pilot).chat.conversation_id == "tea"


async def test_history_opens_with_the_words_behind_the_command() -> None:
    async with run(ChatApp(library())) as pilot:
        await send(pilot, "/history coffee")
        await wait_for_text(pilot, "and coffee?")
        assert pilot.app.screen.query_one(Input).value == "coffee"


async def test_a_search_without_hits_says_so() -> None:
    async with run(ChatApp(library(), language="zh")) as pilot:
        await send(pilot, "/history 咖啡")
        await wait_for_text(pilot, "没有找到“咖啡”。")
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, HistoryScreen)
        assert pilot.app.screen.query_one(OptionList).option_count == 0


async def test_no_conversations_yet_is_said() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await pilot.press("ctrl+l")
        await wait_for_text(pilot, "No conversations yet.")


@pytest.mark.parametrize(("key", "language"), [("ctrl+l", "en"), ("ctrl+t", "zh")])
async def test_a_management_error_is_shown_and_the_chat_goes_on(key: str, language: str) -> None:
    client = ScriptedClient(management_error=StoreProblem("The store is locked.", "Close the other window."))
    async with run(ChatApp(client, language=language)) as pilot:
        await pilot.press(key)
        await wait_for_text(pilot, "The store is locked.")
        assert "Close the other window." in shown(pilot.app)
        assert pilot.app.is_running


async def test_opening_a_conversation_shows_its_path() -> None:
    async with run(ChatApp(library(), conversation_id="tea")) as pilot:
        await wait_for_text(pilot, "Boil it.")
        text = shown(pilot.app)
        assert text.index("green tea?") < text.index("Steep it.") < text.index("and water?") < text.index("Boil it.")
        assert "Ask anything" not in text
        await pilot.press("up")
        assert composer_of(pilot).text == "and water?"


async def test_a_conversation_that_cannot_be_opened_leaves_an_empty_chat() -> None:
    client = ScriptedClient(management_error=StoreProblem("There is no such conversation.", "List them."))
    async with run(ChatApp(client, conversation_id="gone")) as pilot:
        await wait_for_text(pilot, "There is no such conversation.")
        assert chat_of(pilot).chat.conversation_id is None


@pytest.mark.parametrize("state", ["failed", "interrupted", "running"])
async def test_a_last_turn_that_did_not_end_can_be_retried(state: TurnState) -> None:
    stored = {"c": [turn("x1", "c", "why?", state=state, answer_text="Bec", problem="It broke.", hint="Retry.")]}
    client = ScriptedClient(stored=stored)
    async with run(ChatApp(client, conversation_id="c")) as pilot:
        await wait_for_text(pilot, "Press Ctrl+R to answer this message again.")
        assert "Bec" in shown(pilot.app)
        assert "Problem: It broke." in shown(pilot.app)
        await pilot.press("ctrl+r")
        await wait_for_text(pilot, "An answer.")
        assert client.last("regenerate").turn_id == "x1"
        await wait_until_ready(pilot)
        assert len(turns_of(pilot)) == 1


async def test_a_long_conversation_shows_its_end_and_more_when_the_user_scrolls_up() -> None:
    count = TURNS_AT_ONCE + 12
    path = [turn(f"n{n}", "long", f"question {n}", f"n{n - 1}" if n else None, answer_text="yes") for n in range(count)]
    client = ScriptedClient(stored={"long": path})
    async with run(ChatApp(client, conversation_id="long")) as pilot:
        await wait_for_text(pilot, f"question {count - 1}")
        assert len(turns_of(pilot)) == TURNS_AT_ONCE
        chat_of(pilot).chat.query_one("#transcript").scroll_home(animate=False)
        await wait_for(pilot, lambda: len(turns_of(pilot)) == count)
        await wait_for_text(pilot, "question 12")
        assert turns_of(pilot)[0].turn_id == "n0"


async def test_each_conversation_keeps_its_draft() -> None:
    async with run(ChatApp(library(), conversation_id="tea")) as pilot:
        await wait_for_text(pilot, "Boil it.")
        await pilot.press(*"draft", "ctrl+n")
        await wait_for(pilot, lambda: composer_of(pilot).text == "")
        await pilot.press("ctrl+l")
        await wait_for_text(pilot, "green tea?")
        await pilot.press("enter")
        await wait_for(pilot, lambda: composer_of(pilot).text == "draft")


async def test_a_conversation_is_not_left_while_it_is_being_answered() -> None:
    client, rest = library(), Gate()
    client.will("one", rest)
    async with run(ChatApp(client, conversation_id="tea")) as pilot:
        await wait_for_text(pilot, "Boil it.")
        await send(pilot, "hi")
        await wait_for_text(pilot, "one")
        for key in ("ctrl+n", "ctrl+l", "ctrl+r", "ctrl+e"):
            await pilot.press(key)
        await wait_for_text(pilot, "Press Esc to stop it first")
        assert pilot.app.screen is chat_of(pilot).chat
        assert "one" in shown(pilot.app)
        assert client.names() == ["conversation", "path", "tree", "signals", "ask"]
        rest.open()
        await wait_until_ready(pilot)
