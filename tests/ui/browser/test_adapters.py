"""The panel of adapters in a real browser: what it lists and tells, and what its buttons change."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.adapters.records import Evaluation, Source
from engine.errors import StoreProblem, UsageProblem
from tests.ui.browser.conftest import Connecting, OpenTab
from tests.ui.scripted import Gate
from tests.ui.shelves import Shelf, open_shelf
from ui.adapter_groups import SHOWN
from ui.browser.payloads import adapter_of, change_of


@pytest.fixture
def shelf(connecting: Connecting, tmp_path: Path) -> Iterator[Shelf]:
    """The adapters of every tab that this test opens."""
    with open_shelf(tmp_path) as opened:
        connecting.make = lambda: opened.client
        yield opened


def panel(tab: Page, opener: str = "Adapters") -> Locator:
    tab.get_by_role("button", name=opener, exact=True).click()
    return tab.get_by_role("dialog")


def press(within: Locator, name: str) -> None:
    within.get_by_role("button", name=name, exact=True).click()


def test_the_adapters_of_the_profile_are_listed_by_expert(shelf: Shelf, open_tab: OpenTab) -> None:
    used = shelf.put("lesson one")
    shelf.put("for talk", expert="L0")
    shelf.put("other profile", profile="tall")
    shelf.catalogue.promote(used.content_hash)
    shelf.catalogue.add_evaluation(used.content_hash, Evaluation("general", 800, verdict="passed"))
    opened = panel(open_tab())
    expect(opened.locator("h2")).to_have_text("Adapters of starter")
    expect(opened.locator("h3")).to_have_text(["L0 · talk", "L2 · code"])
    expect(opened.locator("tbody tr")).to_have_count(2)
    row = opened.locator("tr.answering td")
    expect(row).to_have_text([used.content_hash[:12], "in use", "now", "gate passed", "lesson one"])


def test_without_an_adapter_of_ones_own_it_says_where_they_come_from(shelf: Shelf, open_tab: OpenTab) -> None:
    opened = panel(open_tab("zh"), "适配器")
    expect(opened.locator(".empty")).to_contain_text("还没有在本机训练出适配器")
    expect(opened.locator(".empty")).to_contain_text("macaron adapters import")


@pytest.mark.parametrize(
    ("language", "opener", "promote", "yes", "warning", "done"),
    [
        ("en", "Adapters", "Promote", "Yes", "No gate was passed", "answers for L2 from the next turn on"),
        ("zh", "适配器", "启用", "确定", "未通过任何关卡", "从下一轮起由"),
    ],
)
def test_promoting_asks_first_and_shows_what_answers_now(
    shelf: Shelf, open_tab: OpenTab, language: str, opener: str, promote: str, yes: str, warning: str, done: str
) -> None:
    record = shelf.put("lesson")
    opened = panel(open_tab(language), opener)
    press(opened, record.content_hash[:12])
    press(opened, promote)
    expect(opened.locator(".question")).to_contain_text(warning)
    assert shelf.answering() == ""
    press(opened, yes)
    expect(opened.locator(".note")).to_contain_text(done)
    expect(opened.locator("tr.answering")).to_have_count(1)
    assert shelf.answering() == "lesson"


def test_who_does_not_agree_changes_nothing(shelf: Shelf, open_tab: OpenTab) -> None:
    record = shelf.put("lesson")
    opened = panel(open_tab())
    press(opened, record.content_hash[:12])
    for change in ("Promote", "Remove"):
        press(opened, change)
        press(opened, "No")
        expect(opened.locator(".question")).to_have_count(0)
    assert shelf.answering() == "" and [one.note for one in shelf.catalogue.page()] == ["lesson"]


def test_details_tell_what_is_known_and_the_one_that_answers_is_taken_back(shelf: Shelf, open_tab: OpenTab) -> None:
    older = shelf.put("older")
    newer = shelf.put("newer", Source("t-1"), parent_hash=older.content_hash)
    reasons = ("<b>It agrees</b> with everything.",)
    shelf.catalogue.add_evaluation(newer.content_hash, Evaluation("general", 800, {"nats": 0.5}, "failed", reasons))
    for record in (older, newer):
        shelf.catalogue.promote(record.content_hash, "A try.")
    opened = panel(open_tab())
    press(opened, newer.content_hash[:12])
    expect(opened.locator(".facts")).to_contain_text(newer.content_hash)
    known = opened.locator("ul")
    for told in (older.content_hash[:12], "sources (1): t-1", "failed, nats 0.5", *reasons, "(A try.)"):
        expect(known).to_contain_text(told)
    expect(known.locator("b")).to_have_count(0)
    expect(opened.get_by_role("button", name="Remove", exact=True)).to_have_count(0)
    press(opened, "Take back")
    press(opened, "Yes")
    expect(opened.locator(".note")).to_contain_text("L2 is back from")
    assert shelf.answering() == "older"


def test_one_that_waits_is_removed_with_its_file(shelf: Shelf, open_tab: OpenTab) -> None:
    record = shelf.put("gone")
    opened = panel(open_tab())
    press(opened, record.content_hash[:12])
    press(opened, "Remove")
    press(opened, "Yes")
    expect(opened.locator(".empty")).to_be_visible()
    assert list(shelf.folder.iterdir()) == []


def test_one_that_another_face_removed_meanwhile_is_told_and_the_list_is_one_click_away(
    shelf: Shelf, open_tab: OpenTab
) -> None:
    record = shelf.put("gone")
    opened = panel(open_tab())
    expect(opened.locator("tbody tr")).to_have_count(1)
    shelf.catalogue.remove(record.content_hash, lambda record: None)
    press(opened, record.content_hash[:12])
    expect(opened.locator(".problem")).to_contain_text("There is no adapter")
    opened.get_by_role("button", name="All adapters").click()
    expect(opened.locator(".empty")).to_be_visible()


def test_older_ones_are_shown_when_they_are_asked_for(shelf: Shelf, open_tab: OpenTab) -> None:
    for number in range(SHOWN + 2):
        shelf.put(f"lesson {number}")
    opened = panel(open_tab())
    expect(opened.locator("tbody tr")).to_have_count(SHOWN)
    press(opened, "Show older ones")
    expect(opened.locator("tbody tr")).to_have_count(SHOWN + 2)


def test_an_error_is_told_in_the_panel(shelf: Shelf, open_tab: OpenTab) -> None:
    tab = open_tab()
    shelf.client.management_error = StoreProblem("The store is locked.", "Close the other window.")
    expect(panel(tab).locator(".problem")).to_contain_text("Close the other window.")


def test_escape_closes_the_panel_and_lets_the_answer_go_on(shelf: Shelf, open_tab: OpenTab) -> None:
    rest = Gate()
    shelf.client.will("Some", rest, " more.")
    tab = open_tab()
    tab.locator("textarea[data-part=text]").fill("Go.")
    tab.locator("textarea[data-part=text]").press("Enter")
    expect(tab.locator(".live .answer")).to_have_text("Some")
    opened = panel(tab)
    expect(opened.locator(".empty")).to_be_visible()
    tab.keyboard.press("Escape")
    expect(tab.get_by_role("dialog")).to_have_count(0)
    rest.open()
    expect(tab.locator("article.turn .answer")).to_have_text("Some more.")


@pytest.mark.parametrize("sent", [None, {}, {"adapter": 7}, {"adapter": "a" * 65}])
def test_a_name_of_an_adapter_that_is_none_is_refused(sent: object) -> None:
    with pytest.raises(UsageProblem):
        adapter_of(sent)


@pytest.mark.parametrize("sent", [None, {}, {"change": "delete"}, {"change": ["promote"]}])
def test_a_change_that_there_is_not_is_refused(sent: object) -> None:
    with pytest.raises(UsageProblem):
        change_of(sent)
