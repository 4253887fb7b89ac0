"""The screen of adapters in the chat: what it lists and tells, and what its keys change."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from engine.adapters.records import Evaluation, Source
from engine.errors import StoreProblem
from tests.ui.driving import chat_of, run, send, shown, wait_for, wait_for_text
from tests.ui.scripted import Gate
from tests.ui.shelves import Shelf, open_shelf
from ui.adapter_groups import SHOWN
from ui.terminal.adapter_details import AdapterScreen
from ui.terminal.adapters import AdaptersScreen
from ui.terminal.app import ChatApp
from ui.terminal.confirming import ConfirmScreen
from ui.terminal.help import HelpScreen


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with open_shelf(tmp_path) as opened:
        yield opened


async def look(pilot: Pilot[Any], text: str) -> None:
    """Open the screen and wait for `text` on it."""
    await send(pilot, "/adapters")
    await wait_for(pilot, lambda: isinstance(pilot.app.screen, AdaptersScreen))
    await wait_for_text(pilot, text)


async def agree(pilot: Pilot[Any], key: str = "enter") -> None:
    await wait_for(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
    await pilot.press(key)


async def test_the_adapters_of_the_profile_are_listed_by_expert(shelf: Shelf) -> None:
    used = shelf.put("lesson one")
    shelf.put("other profile", profile="tall")
    shelf.put("for talk", expert="L0")
    shelf.catalogue.promote(used.content_hash)
    shelf.catalogue.add_evaluation(used.content_hash, Evaluation("general", 800, verdict="passed"))
    async with run(ChatApp(shelf.client), columns=110) as pilot:
        await look(pilot, "Adapters of starter")
        text = shown(pilot.app)
        assert text.index("L0 · talk") < text.index("for talk") < text.index("L2 · code") < text.index("lesson one")
        assert f"● {used.content_hash[:12]} · in use · now · gate passed · lesson one" in text
        assert "· candidate · now · not gated · for talk" in text
        assert "other profile" not in text


async def test_without_an_adapter_of_ones_own_it_says_where_they_come_from(shelf: Shelf) -> None:
    shelf.put("came with it", kind="factory")
    async with run(ChatApp(shelf.client, language="zh"), columns=160) as pilot:
        await look(pilot, "还没有在本机训练出适配器")
        text = shown(pilot.app)
        assert "macaron train run" in text and "macaron adapters import" in text
        assert "始终使用" in text


async def test_promoting_asks_says_that_no_gate_was_passed_and_shows_what_answers_now(shelf: Shelf) -> None:
    record = shelf.put("lesson")
    async with run(ChatApp(shelf.client), columns=110) as pilot:
        await look(pilot, "lesson")
        await pilot.press("p")
        await wait_for_text(pilot, "No gate was passed")
        await agree(pilot)
        await wait_for_text(pilot, f"{record.content_hash[:12]} answers for L2 from the next turn on")
        await wait_for_text(pilot, "· in use ·")
    assert shelf.answering() == "lesson"


async def test_who_does_not_agree_changes_nothing(shelf: Shelf) -> None:
    shelf.put("lesson")
    async with run(ChatApp(shelf.client)) as pilot:
        await look(pilot, "lesson")
        for key in ("p", "x"):
            await pilot.press(key)
            await agree(pilot, "escape")
            await wait_for_text(pilot, "Nothing was changed.")
        assert isinstance(pilot.app.screen, AdaptersScreen)
    assert shelf.answering() == "" and [record.note for record in shelf.catalogue.page()] == ["lesson"]


async def test_the_one_that_answers_is_taken_back(shelf: Shelf) -> None:
    for name in ("older", "newer"):
        shelf.catalogue.promote(shelf.put(name).content_hash)
    async with run(ChatApp(shelf.client, language="zh"), columns=110) as pilot:
        await look(pilot, "newer")
        await pilot.press("b")
        await agree(pilot)
        await wait_for_text(pilot, "回退到")
    assert shelf.answering() == "older"
    assert shelf.catalogue.details(shelf.catalogue.in_use("starter")[0].content_hash).promotions[0].reason == "By hand."


async def test_one_that_waits_is_removed_with_its_file(shelf: Shelf) -> None:
    shelf.put("kept")
    record = shelf.put("gone")
    async with run(ChatApp(shelf.client)) as pilot:
        await look(pilot, "gone")
        await pilot.press("x")
        await wait_for_text(pilot, "(2.5 MB)?")
        await agree(pilot)
        await wait_for_text(pilot, f"The adapter {record.content_hash[:12]} was removed.")
        assert "kept" in shown(pilot.app)
    assert [file.name for file in shelf.folder.iterdir()] == ["kept.gguf"]


async def test_what_cannot_be_done_in_its_state_is_said_with_what_can(shelf: Shelf) -> None:
    shelf.catalogue.promote(shelf.put("used").content_hash)
    async with run(ChatApp(shelf.client), columns=110) as pilot:
        await look(pilot, "used")
        await pilot.press("x")
        await wait_for_text(pilot, "cannot be removed; its state is: in use.")
        assert "It can be taken back." in shown(pilot.app)


async def test_details_tell_lineage_sources_evaluations_and_promotions(shelf: Shelf) -> None:
    parent = shelf.put("parent")
    child = shelf.put("child", Source("t-1"), parent_hash=parent.content_hash)
    reasons = ("It agrees with everything.",)
    shelf.catalogue.add_evaluation(child.content_hash, Evaluation("general", 800, {"nats": 0.5}, "failed", reasons))
    shelf.catalogue.promote(child.content_hash, "A try.")
    async with run(ChatApp(shelf.client), columns=110, rows=44) as pilot:
        await look(pilot, "child")
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, AdapterScreen))
        await wait_for_text(pilot, "(A try.)")
        text = shown(pilot.app)
        for told in (child.content_hash, parent.content_hash[:12], "sources (1): t-1", "failed, nats 0.5", *reasons):
            assert told in text, told
        await pilot.press("b")
        await agree(pilot)
        await wait_for_text(pilot, "L2 is back from")
    assert shelf.answering() == ""


async def test_older_ones_are_shown_when_they_are_asked_for(shelf: Shelf) -> None:
    for number in range(SHOWN + 2):
        shelf.put(f"lesson {number}")
    async with run(ChatApp(shelf.client)) as pilot:
        await look(pilot, f"lesson {SHOWN + 1}")
        await pilot.press("end", "enter")
        options = pilot.app.screen.query_one(OptionList)
        await wait_for(pilot, lambda: options.option_count == 1 + SHOWN + 2)
        await wait_for(pilot, lambda: options.highlighted == SHOWN)


async def test_an_error_is_shown_in_the_screen(shelf: Shelf) -> None:
    shelf.client.management_error = StoreProblem("The store is locked.", "Close the other window.")
    async with run(ChatApp(shelf.client)) as pilot:
        await look(pilot, "The store is locked.")
        assert "Close the other window." in shown(pilot.app)
        await pilot.press("p", "enter", "escape")
        await wait_for(pilot, lambda: pilot.app.screen is chat_of(pilot).chat)


async def test_adapters_are_looked_at_while_an_answer_is_written(shelf: Shelf) -> None:
    rest = Gate()
    shelf.client.will("one", rest)
    shelf.put("lesson")
    async with run(ChatApp(shelf.client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "one")
        await look(pilot, "lesson")
        rest.open()


async def test_the_help_explains_its_keys(shelf: Shelf) -> None:
    async with run(ChatApp(shelf.client), columns=100, rows=40) as pilot:
        await look(pilot, "Adapters of starter")
        await pilot.press("f1")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await wait_for_text(pilot, "promote it (adapters.promote)")
