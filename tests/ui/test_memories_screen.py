"""The screen of memories in the chat: what it lists and tells, and what its keys change."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from engine.memory.values import Draft
from tests.ui.driving import chat_of, run, send, shown, type_text, wait_for, wait_for_text
from tests.ui.scripted import ScriptedClient
from tests.ui.shelves import open_memories
from ui.terminal.app import ChatApp
from ui.terminal.confirming import ConfirmScreen
from ui.terminal.help import HelpScreen
from ui.terminal.memories import AT_ONCE, MemoriesScreen
from ui.terminal.memory_details import MemoryScreen
from ui.terminal.overlays import WordsScreen


@pytest.fixture
def client(tmp_path: Path) -> Iterator[ScriptedClient]:
    with open_memories(tmp_path) as opened:
        yield opened


def put(client: ScriptedClient, *texts: str) -> None:
    assert client.memories is not None
    for text in texts:
        client.memories.add_memory(text)


def wait_for_review(client: ScriptedClient, *texts: str) -> None:
    assert client.memories is not None
    client.memories.propose_memories([Draft(text, "fact", text, None, source="imported") for text in texts])


def kept(client: ScriptedClient, *states: Any) -> list[str]:
    assert client.memories is not None
    return [memory.text for memory in client.memories.memories(states=states or ("active",))]


async def look(pilot: Pilot[Any], text: str, command: str = "/memory") -> None:
    """Open the screen and wait for `text` on it."""
    await send(pilot, command)
    await wait_for(pilot, lambda: isinstance(pilot.app.screen, MemoriesScreen))
    await wait_for_text(pilot, text)


async def write(pilot: Pilot[Any], text: str) -> None:
    """Put `text` in the place of what the field holds."""
    await wait_for(pilot, lambda: isinstance(pilot.app.screen, WordsScreen))
    pilot.app.screen.query_one(Input).value = text
    await pilot.press("enter")


async def test_what_is_known_is_listed_the_newest_first(client: ScriptedClient) -> None:
    put(client, "I like tea", "我住在深圳")
    wait_for_review(client, "I own a boat")
    async with run(ChatApp(client), columns=100) as pilot:
        await look(pilot, "Memory · 2 known, 1 wait for you")
        text = shown(pilot.app)
        assert text.index("我住在深圳") < text.index("· preference · I like tea")
        assert "I own a boat" not in text


async def test_where_nothing_is_known_it_says_how_to_begin(client: ScriptedClient) -> None:
    async with run(ChatApp(client, language="zh"), columns=100) as pilot:
        await look(pilot, "还没有记住任何内容")
        await pilot.press("e", "x", "a", "enter", "escape")
        await wait_for(pilot, lambda: pilot.app.screen is chat_of(pilot).chat)


async def test_one_is_shown_with_its_words_and_what_was_before_it(client: ScriptedClient) -> None:
    put(client, "I live in Oslo", "I live in Bergen")
    async with run(ChatApp(client), columns=100, rows=40) as pilot:
        await look(pilot, "I live in Bergen")
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, MemoryScreen))
        await wait_for_text(pilot, "before it")
        text = shown(pilot.app)
        for told in ("I live in Oslo", "you, by hand", "confirmed by you", "last recalled"):
            assert told in text, told
        await pilot.press("escape")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, MemoriesScreen))


async def test_forgetting_asks_first_and_who_does_not_agree_keeps_it(client: ScriptedClient) -> None:
    put(client, "I like tea")
    async with run(ChatApp(client), columns=100) as pilot:
        await look(pilot, "I like tea")
        for key, told in (("escape", "Nothing was changed."), ("enter", "Forgotten: I like tea")):
            await pilot.press("x")
            await wait_for(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
            assert "for good?" in shown(pilot.app)
            await pilot.press(key)
            await wait_for_text(pilot, told)
    assert kept(client) == []


async def test_one_is_edited_in_a_line_of_its_own(client: ScriptedClient) -> None:
    put(client, "I like tea")
    async with run(ChatApp(client), columns=100) as pilot:
        await look(pilot, "I like tea")
        await pilot.press("e")
        await write(pilot, "I like green tea")
        await wait_for_text(pilot, "Changed: I like green tea")
        await pilot.press("e")
        await write(pilot, " ")
        await wait_for_text(pilot, "Write what should be remembered.")
        await pilot.press("escape")
        await wait_for_text(pilot, "Nothing was changed.")
    assert kept(client) == ["I like green tea"]


async def test_one_is_added(client: ScriptedClient) -> None:
    async with run(ChatApp(client, language="zh"), columns=100) as pilot:
        await look(pilot, "还没有记住任何内容")
        await pilot.press("n")
        await write(pilot, "我喜欢喝茶")
        await wait_for_text(pilot, "已记住：我喜欢喝茶")
    assert kept(client) == ["我喜欢喝茶"]


async def test_what_waits_is_approved_edited_or_rejected_with_one_key_each(client: ScriptedClient) -> None:
    wait_for_review(client, "I own a boat", "I own a cat", "I own a dog")
    async with run(ChatApp(client), columns=100) as pilot:
        await look(pilot, "0 known, 3 wait for you")
        await pilot.press("w")
        await wait_for_text(pilot, "what waits for you (3)")
        await wait_for_text(pilot, "I own a dog")
        await pilot.press("x")
        await wait_for_text(pilot, "Rejected, and gone: I own a dog")
        await wait_for_text(pilot, "what waits for you (2)")
        await pilot.press("a")
        await wait_for_text(pilot, "Remembered: I own a cat")
        await pilot.press("e")
        await write(pilot, "I own a small boat")
        await wait_for_text(pilot, "Changed: I own a small boat")
        await pilot.press("w")
        await wait_for_text(pilot, "2 known, 0 wait for you")
    assert kept(client) == ["I own a small boat", "I own a cat"]


async def test_what_cannot_be_done_in_its_state_is_said(client: ScriptedClient) -> None:
    put(client, "I like tea")
    async with run(ChatApp(client), columns=100) as pilot:
        await look(pilot, "I like tea")
        await pilot.press("a")
        await wait_for_text(pilot, "It needs no approval; its state is: known.")


async def test_a_search_lists_what_is_found_and_its_letters_are_no_keys(client: ScriptedClient) -> None:
    put(client, "I like tea", "I own an axe", "I live in Oslo")
    async with run(ChatApp(client), columns=100) as pilot:
        await look(pilot, "I live in Oslo")
        await pilot.press("slash")
        await wait_for(pilot, lambda: pilot.app.screen.query_one(Input).has_focus)
        await type_text(pilot, "axe")
        await wait_for(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count == 1)
        assert "I own an axe" in shown(pilot.app)
        await pilot.press("enter", "x")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("enter")
        await wait_for_text(pilot, "Forgotten: I own an axe")
    assert kept(client) == ["I live in Oslo", "I like tea"]


async def test_a_command_with_words_searches_at_once(client: ScriptedClient) -> None:
    put(client, "I like tea", "I live in Oslo")
    async with run(ChatApp(client), columns=100) as pilot:
        await look(pilot, "I like tea", "/memory tea")
        assert "Oslo" not in shown(pilot.app)
        pilot.app.screen.query_one(Input).value = "zeppelin"
        await wait_for_text(pilot, "Nothing found for: zeppelin")


async def test_remembering_is_paused_and_goes_on(client: ScriptedClient) -> None:
    assert client.memories is not None
    async with run(ChatApp(client), columns=100) as pilot:
        await look(pilot, "0 known")
        await pilot.press("p")
        await wait_for_text(pilot, "paused since")
        assert client.memories.memory_standing().paused_since is not None
        await pilot.press("p")
        await wait_for_text(pilot, "is remembered again")
        await wait_for(pilot, lambda: "paused since" not in shown(pilot.app))
    assert client.memories.memory_standing().paused_since is None


async def test_the_rest_of_a_long_list_is_read_when_it_is_needed(client: ScriptedClient) -> None:
    wait_for_review(client, *(f"I know person {number}" for number in range(AT_ONCE + 3)))
    async with run(ChatApp(client), columns=100) as pilot:
        await look(pilot, "0 known")
        await pilot.press("w")
        options = pilot.app.screen.query_one(OptionList)
        await wait_for(pilot, lambda: options.option_count == AT_ONCE)
        await pilot.press("end")
        await wait_for(pilot, lambda: options.option_count == AT_ONCE + 3)


async def test_control_sequences_in_a_memory_reach_no_terminal(client: ScriptedClient) -> None:
    put(client, "\x1b[2Jevil [@click=app.quit]x[/]")
    async with run(ChatApp(client), columns=100) as pilot:
        await look(pilot, "evil [@click=app.quit]x[/]")
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, MemoryScreen))
        await wait_for_text(pilot, "evil [@click=app.quit]x[/]")


async def test_the_help_explains_its_keys(client: ScriptedClient) -> None:
    async with run(ChatApp(client), columns=100, rows=50) as pilot:
        await look(pilot, "0 known")
        await pilot.press("f1")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await wait_for_text(pilot, "pause remembering, or go on (memory.pause)")
