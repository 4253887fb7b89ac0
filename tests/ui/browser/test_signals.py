"""What the user says of answers in the page: a better one, one of two, and the list where all of it is erased."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.errors import UsageProblem
from engine.signals.values import Signal
from tests.ui.browser.conftest import OpenTab
from tests.ui.browser.test_page import composer, press, send, turns
from tests.ui.scripted import ScriptedClient, turn
from ui.browser.payloads import signal_of
from ui.browser.signals import list_html
from ui.browser.turns import turn_views


def notice(tab: Page) -> Locator:
    return tab.locator("#notice")


def panel(tab: Page, opener: str = "What you said of answers") -> Locator:
    tab.get_by_role("button", name=opener, exact=True).click()
    return tab.get_by_role("dialog")


def answered(client: ScriptedClient, tab: Page) -> None:
    send(tab, "Capital of France?")
    expect(turns(tab)).to_have_count(1)


@pytest.mark.parametrize(
    ("language", "said", "words"),
    [("en", "better: Paris.", "Noted as the answer you want"), ("zh", "更好：Paris.", "已逐字记为你想要的回答")],
)
def test_a_better_answer_is_noted_and_not_sent(
    client: ScriptedClient, open_tab: OpenTab, language: str, said: str, words: str
) -> None:
    client.will("Lyon.")
    tab = open_tab(language)
    answered(client, tab)
    send(tab, said)
    expect(notice(tab)).to_contain_text(words)
    expect(tab.locator("[data-part=send]")).to_be_visible()
    expect(composer(tab)).to_have_value("")
    expect(turns(tab)).to_have_count(1)
    noted = client.last("correct")
    assert (noted.text, noted.value, noted.provenance) == ("Paris.", "correction", "typed")


def test_with_nothing_answered_yet_the_same_words_are_a_message(client: ScriptedClient, open_tab: OpenTab) -> None:
    tab = open_tab()
    send(tab, "better: Paris.")
    expect(turns(tab)).to_have_count(1)
    assert client.last("ask").text == "better: Paris."
    assert "correct" not in client.names()


def test_the_answer_is_edited_in_the_composer_and_noted_whole(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.will("<think>France.</think>It is **Lyon**.")
    tab = open_tab()
    answered(client, tab)
    press(tab, "Write a better answer")
    expect(composer(tab)).to_have_value("It is **Lyon**.")
    expect(tab.locator(".composer .editing")).to_contain_text("Writing a better answer")
    send(tab, "It is **Paris**.")
    expect(notice(tab)).to_contain_text("Noted as the answer you want")
    expect(tab.locator(".composer .editing")).to_be_hidden()
    expect(turns(tab).locator(".answer")).to_contain_text("It is Lyon.")
    expect(turns(tab).locator(".status-line")).to_contain_text("edited answer noted")
    noted = client.last("correct")
    assert (noted.text, noted.value, noted.provenance) == ("It is **Paris**.", "edit", "typed")
    send(tab, "Thanks.")
    expect(turns(tab)).to_have_count(2)


def test_escape_gives_it_up(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.will("Lyon.")
    tab = open_tab()
    answered(client, tab)
    press(tab, "Write a better answer")
    expect(composer(tab)).to_have_value("Lyon.")
    composer(tab).press("Escape")
    expect(composer(tab)).to_have_value("")
    press(tab, "Edit the message")
    expect(tab.locator(".composer .editing")).to_contain_text("Editing an earlier message")
    assert "correct" not in client.names()


def test_what_is_refused_is_told_and_goes_back_to_the_composer(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.will("Lyon.")
    tab = open_tab()
    answered(client, tab)
    press(tab, "Write a better answer")
    client.management_error = UsageProblem("This is what was answered.", "Write another.")
    composer(tab).press("Enter")
    expect(notice(tab)).to_contain_text("This is what was answered.")
    expect(composer(tab)).to_have_value("Lyon.")
    expect(tab.locator(".composer .editing")).to_contain_text("Writing a better answer")


def test_a_pasted_answer_waits_to_be_confirmed(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.will("Lyon.")
    tab = open_tab()
    answered(client, tab)
    press(tab, "Write a better answer")
    tab.evaluate(
        """() => {
          const field = document.querySelector("textarea[data-part=text]"), data = new DataTransfer();
          const text = "A long paragraph from a page of the web.\\nAnd a second line of it.";
          data.setData("text/plain", text);
          field.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true}));
          field.value = text;
        }"""
    )
    composer(tab).press("Enter")
    expect(notice(tab)).to_contain_text("until you confirm it in the list")
    assert client.last("correct").provenance == "pasted"


def test_of_two_answers_one_is_picked(client: ScriptedClient, open_tab: OpenTab) -> None:
    for answer in ("Lyon.", "Paris."):
        client.will(answer)
    tab = open_tab()
    answered(client, tab)
    expect(turns(tab).get_by_role("button", name="This answer is the better one")).to_have_count(0)
    press(tab, "Answer again")
    expect(turns(tab).locator(".answer")).to_have_text("Paris.")
    press(tab, "This answer is the better one")
    expect(notice(tab)).to_contain_text("this answer is the better one")
    assert client.last("pick").turn_id == client.stored["c1"][-1].turn_id


def test_the_list_shows_confirms_and_erases(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.correct("t1", "Paris <b>itself</b>.", provenance="pasted")
    client.correct("t1", "Pâris.")
    opened = panel(open_tab())
    expect(opened.locator("li")).to_have_count(2)
    row = opened.locator("li").nth(1)
    expect(row.locator("summary")).to_have_text(re.compile("better answer · not confirmed · Paris <b>itself</b>."))
    expect(opened.get_by_role("button", name="Confirm")).to_have_count(1)
    row.get_by_role("button", name="Confirm").click()
    expect(row.locator("summary")).not_to_contain_text("not confirmed")
    row.get_by_role("button", name="Erase").click()
    expect(opened.locator("li")).to_have_count(1)
    assert [signal.text for signal in client.signed.values()] == ["Pâris."]


def test_the_mark_at_an_answer_goes_with_what_is_erased(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.will("Lyon.")
    tab = open_tab()
    answered(client, tab)
    send(tab, "better: Paris.")
    status = turns(tab).locator(".status-line")
    expect(status).to_contain_text("better answer noted")
    opened = panel(tab)
    opened.get_by_role("button", name="Erase").click()
    expect(opened).to_contain_text("Nothing yet.")
    expect(status).not_to_contain_text("better answer noted")


def test_an_empty_list_says_what_would_be_in_it(client: ScriptedClient, open_tab: OpenTab) -> None:
    expect(panel(open_tab("zh"), "你对回答的反馈")).to_contain_text("还没有内容")


def test_a_list_that_cannot_be_read_says_why(client: ScriptedClient, open_tab: OpenTab) -> None:
    tab = open_tab()
    client.management_error = UsageProblem("The disk is gone.", "Plug it in.")
    expect(panel(tab)).to_contain_text("The disk is gone.")


# What is drawn, without a browser.


def test_only_an_answer_with_another_to_the_same_message_can_be_picked() -> None:
    old, new = turn("t1", "c1", "Tea?", answer_text="Yes."), turn("t2", "c1", "Tea?", answer_text="No.")
    edited, failed = turn("t3", "c1", "Coffee?"), turn("t4", "c1", "Coffee?", state="failed", answer_text="")
    tree = [old, new, edited, failed]

    def actions(record: object) -> set[str]:
        (view,) = turn_views([record], tree, 8192, "en")  # type: ignore[list-item]
        return set(re.findall('data-action="([a-z]+)"', view.html))

    assert "pick" in actions(old) and "pick" in actions(new)
    assert "pick" not in actions(edited)
    assert "better" not in actions(failed)


def test_a_long_list_offers_the_older_ones_and_a_long_text_is_cut() -> None:
    signals = [
        Signal(number, "t1", "edit", 0.0, "word " * 1000, None, "typed", False, "2026-01-01") for number in (3, 2, 1)
    ]
    drawn = list_html(signals, "en", shown=2)
    assert drawn.count("<li>") == 2 and 'data-shown="52"' in drawn
    assert len(drawn) < 6000
    assert "data-shown" not in list_html(signals, "en", shown=3)


@pytest.mark.parametrize("data", [None, {}, {"signal": "7"}, {"signal": True}, {"signal": 0}, {"signal": 2**60}])
def test_what_is_no_number_of_a_signal_is_refused(data: object) -> None:
    with pytest.raises(UsageProblem):
        signal_of(data)
