"""The panel of memories in a real browser: what it lists and tells, and what its buttons change."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.errors import UsageProblem
from engine.memory.values import Draft, Memory, MemoryDetails, Standing
from tests.ui.browser.conftest import Connecting, OpenTab
from tests.ui.shelves import open_memories
from ui.browser.memories import PAGE_SIZE, View, list_html, one_html
from ui.browser.payloads import listed_of, memory_change_of, memory_of, paused_of, words_of
from ui.memory_shelf import MemoryShelf


@pytest.fixture
def shelf(connecting: Connecting, tmp_path: Path) -> Iterator[MemoryShelf]:
    """The memories of every tab that this test opens."""
    with open_memories(tmp_path) as client:
        connecting.make = lambda: client
        assert client.memories is not None
        yield client.memories


def panel(tab: Page, opener: str = "Memory") -> Locator:
    tab.get_by_role("button", name=opener, exact=True).click()
    return tab.get_by_role("dialog")


def press(within: Locator, name: str) -> None:
    within.get_by_role("button", name=name, exact=True).click()


def wait_for_review(shelf: MemoryShelf, *texts: str) -> None:
    shelf.propose_memories([Draft(text, "fact", text, None, source="imported") for text in texts])


def kept(shelf: MemoryShelf) -> list[str]:
    return [memory.text for memory in shelf.memories()]


def test_what_is_known_is_listed_and_what_waits_is_counted(shelf: MemoryShelf, open_tab: OpenTab) -> None:
    shelf.add_memory("I like tea")
    shelf.add_memory("I work in R&D")
    wait_for_review(shelf, "I own a boat")
    opened = panel(open_tab())
    expect(opened.locator("h2")).to_have_text("Memory · 2 known, 1 wait for you")
    expect(opened.locator("li")).to_have_count(2)
    expect(opened.locator("li").first).to_contain_text("I work in R&D")


def test_markup_in_a_memory_is_shown_as_it_is() -> None:
    evil = Memory(
        memory_id=7,
        text='<img src=x onerror=alert(1)>"',
        kind="fact",
        evidence="<script>",
        turn_id="t-1",
        conversation_id="<i>",
        trust="typed",
        r0=0.7,
        validation=0.8,
        slot="",
        due_on="",
        state="active",
        supersedes=(),
        created_at="2026-11-30",
        used_at=None,
        validated_at=None,
    )
    details = MemoryDetails(evil, 0.5, (evil,), "<script>x", "")
    for drawn in (
        list_html([evil], Standing(1, 0, 0, None), View(words="<u>"), "en", said="<s>"),
        one_html(details, "zh"),
        one_html(details, "en", is_asked=True),
    ):
        assert "&lt;img" in drawn and not re.search(r"<(?:img|script|i|u|s)\b", drawn)
    assert 'value="&lt;img src=x onerror=alert(1)&gt;&quot;"' in one_html(details, "en")


def test_where_nothing_is_known_it_says_how_to_begin_and_one_is_added(shelf: MemoryShelf, open_tab: OpenTab) -> None:
    opened = panel(open_tab("zh"), "记忆")
    expect(opened.locator(".empty")).to_contain_text("还没有记住任何内容")
    opened.get_by_label("要记住什么？").fill("我喜欢喝茶")
    opened.get_by_label("要记住什么？").press("Enter")
    expect(opened.locator(".note")).to_have_text("已记住：我喜欢喝茶")
    assert kept(shelf) == ["我喜欢喝茶"]


def test_one_is_shown_with_its_words_and_edited(shelf: MemoryShelf, open_tab: OpenTab) -> None:
    shelf.add_memory("I live in Oslo")
    shelf.add_memory("I live in Bergen")
    opened = panel(open_tab())
    opened.locator("li button").first.click()
    expect(opened.locator(".facts")).to_contain_text("confirmed by you")
    expect(opened.locator(".passage").last).to_contain_text("I live in Oslo")
    opened.get_by_label("What is remembered").fill("I live in Bergen, by the sea")
    press(opened, "Save")
    expect(opened.locator(".note")).to_have_text("Changed: I live in Bergen, by the sea")
    assert kept(shelf) == ["I live in Bergen, by the sea"]


def test_forgetting_asks_first(shelf: MemoryShelf, open_tab: OpenTab) -> None:
    shelf.add_memory("I like tea")
    opened = panel(open_tab())
    opened.locator("li button").first.click()
    press(opened, "Forget")
    expect(opened.locator(".question")).to_contain_text("for good?")
    press(opened, "No")
    expect(opened.locator(".question")).to_have_count(0)
    assert kept(shelf) == ["I like tea"]
    press(opened, "Forget")
    press(opened, "Yes")
    expect(opened.locator(".note")).to_have_text("Forgotten: I like tea")
    assert kept(shelf) == []


def test_what_waits_is_approved_or_rejected_with_one_click_each(shelf: MemoryShelf, open_tab: OpenTab) -> None:
    wait_for_review(shelf, "I own a boat", "I own a cat")
    opened = panel(open_tab())
    press(opened, "Waiting (2)")
    expect(opened.locator("li")).to_have_count(2)
    opened.locator("li", has_text="cat").get_by_role("button", name="Reject").click()
    expect(opened.locator(".note")).to_have_text("Rejected, and gone: I own a cat")
    expect(opened.locator("li")).to_have_count(1)
    press(opened, "Approve")
    expect(opened.locator("h2")).to_have_text("Memory · 1 known, 0 wait for you")
    assert kept(shelf) == ["I own a boat"]


def test_a_search_lists_what_is_found(shelf: MemoryShelf, open_tab: OpenTab) -> None:
    shelf.add_memory("I like tea")
    shelf.add_memory("I live in Oslo")
    opened = panel(open_tab())
    search = opened.get_by_label("Search in memory")
    search.fill("tea")
    search.press("Enter")
    expect(opened.locator("li")).to_have_count(1)
    expect(opened.locator("li")).to_contain_text("I like tea")
    search.fill("zeppelin")
    press(opened, "Search")
    expect(opened.locator(".empty")).to_have_text("Nothing found for: zeppelin")


def test_remembering_is_paused_and_goes_on(shelf: MemoryShelf, open_tab: OpenTab) -> None:
    opened = panel(open_tab())
    press(opened, "Pause")
    expect(opened.locator("h2")).to_contain_text("paused since")
    assert shelf.memory_standing().paused_since is not None
    press(opened, "Go on remembering")
    expect(opened.locator("h2")).not_to_contain_text("paused since")
    assert shelf.memory_standing().paused_since is None


def test_the_report_says_what_asks_for_action(shelf: MemoryShelf, open_tab: OpenTab) -> None:
    shelf.add_memory("See the dentist", "plan", "2020-01-01")
    opened = panel(open_tab())
    press(opened, "How they stand")
    expect(opened.locator(".report")).to_contain_text("past: 1.")
    press(opened, "‹ All memories")
    expect(opened.locator("li")).to_have_count(1)


def test_older_ones_are_shown_when_they_are_asked_for(shelf: MemoryShelf, open_tab: OpenTab) -> None:
    wait_for_review(shelf, *(f"I know person {number}" for number in range(PAGE_SIZE + 2)))
    opened = panel(open_tab())
    press(opened, f"Waiting ({PAGE_SIZE + 2})")
    expect(opened.locator("li")).to_have_count(PAGE_SIZE)
    press(opened, "Show older ones")
    expect(opened.locator("li")).to_have_count(PAGE_SIZE + 2)


def test_one_that_another_face_forgot_meanwhile_is_told_and_the_list_is_one_click_away(
    shelf: MemoryShelf, open_tab: OpenTab
) -> None:
    memory = shelf.add_memory("I like tea")
    opened = panel(open_tab())
    opened.locator("li button").first.click()
    expect(opened.get_by_role("button", name="Save", exact=True)).to_be_visible()
    shelf.forget_memory(memory.memory_id)
    press(opened, "Save")
    expect(opened.locator(".problem")).to_contain_text("its state is: forgotten")
    press(opened, "‹ All memories")
    expect(opened.locator(".empty")).to_be_visible()


@pytest.mark.parametrize(
    ("read", "sent"),
    [
        (memory_of, {}),
        (memory_of, {"memory": "7"}),
        (memory_of, {"memory": True}),
        (memory_of, None),
        (memory_change_of, {"change": "promote"}),
        (memory_change_of, {}),
        (listed_of, {"state": "forgotten"}),
        (listed_of, []),
        (words_of, {"text": 7}),
        (words_of, {"text": "x" * 1001}),
        (paused_of, {"paused": 1}),
        (paused_of, {}),
    ],
)
def test_what_the_scripts_of_the_page_do_not_send_is_refused(read, sent) -> None:
    with pytest.raises(UsageProblem):
        read(sent)
