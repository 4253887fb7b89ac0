"""What is suggested in the page: a banner with its reason and two buttons, not while an answer is written."""

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.errors import UsageProblem
from engine.suggestions.values import About, Suggestion
from tests.ui.browser.conftest import OpenTab
from tests.ui.browser.test_page import send, turns
from tests.ui.scripted import Gate, ScriptedClient
from ui.browser.suggestion_handlers import _answer_of, banner_html

STALE = Suggestion(
    7,
    "stale",
    "stale:1",
    "I live in <b>Bergen</b>",
    {"said_on": "2025-11-02"},
    "offered",
    "2026-11-30T08:00:00+00:00",
    about=About(1),
)


def banner(tab: Page) -> Locator:
    return tab.locator("#suggestion")


@pytest.mark.parametrize(
    ("language", "asked", "reason", "yes", "done"),
    [
        ("en", "Is that still so?", "because you have not said so again", "Still so", "I keep it"),
        ("zh", "现在还是这样吗", "因为从 2025-11-02 以来", "还是这样", "我会记着"),
    ],
)
def test_a_suggestion_says_why_and_is_accepted_with_a_button(
    client: ScriptedClient, open_tab: OpenTab, language: str, asked: str, reason: str, yes: str, done: str
) -> None:
    client.suggested = [STALE]
    tab = open_tab(language)
    expect(banner(tab)).to_contain_text(asked)
    expect(banner(tab)).to_contain_text(reason)
    expect(banner(tab)).to_contain_text("macaron suggestions off --kind stale")
    expect(banner(tab)).to_contain_text("<b>Bergen</b>")
    banner(tab).get_by_role("button", name=yes).click()
    expect(banner(tab)).to_contain_text(done)
    assert client.last("accepted").value == 7


def test_it_comes_after_a_turn_and_is_not_seen_within_one(client: ScriptedClient, open_tab: OpenTab) -> None:
    gate = Gate()
    client.will("First ", gate, "answer.")
    tab = open_tab()
    send(tab, "Hello")
    client.suggested = [STALE]
    expect(banner(tab)).not_to_contain_text("Is that still so?")
    gate.open()
    expect(turns(tab)).to_have_count(1)
    expect(banner(tab)).to_contain_text("Is that still so?")
    banner(tab).get_by_role("button", name="No, thanks").click()
    expect(banner(tab)).to_contain_text("not that")
    assert client.last("dismissed").value == 7


def test_nothing_but_a_number_and_a_yes_or_no_is_an_answer() -> None:
    assert _answer_of({"suggestion": 3, "accepts": False}) == (3, False)
    for data in (None, {}, {"suggestion": "3", "accepts": True}, {"suggestion": 3, "accepts": 1}):
        with pytest.raises(UsageProblem):
            _answer_of(data)
    assert "<b>Bergen" not in banner_html(STALE, "en")
