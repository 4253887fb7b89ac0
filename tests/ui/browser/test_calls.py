"""Tool calls in a real browser: what is shown of them, and the question that a call waits for."""

import pytest
from playwright.sync_api import expect

from engine.events import ApprovalAsked, ToolCalled
from engine.harness.approvals import Answer
from engine.values import CallRecord
from tests.ui.browser.conftest import OpenTab
from tests.ui.browser.test_page import send, turns
from tests.ui.scripted import Gate, ScriptedClient, turn
from tests.ui.test_calls import ASKED, CALLED, RETURNED, STAMP
from ui.browser import payloads


@pytest.mark.parametrize(
    ("language", "button", "answer"),
    [("en", "allow", "once"), ("en", "never", "never"), ("zh", "始终允许", "always"), ("zh", "拒绝", "reject")],
)
def test_a_call_that_waits_shows_exactly_what_it_would_do_and_four_buttons_answer(
    client: ScriptedClient, open_tab: OpenTab, language: str, button: str, answer: Answer
) -> None:
    gate = Gate()
    client.on_reply = gate.open
    client.will(CALLED, ASKED, gate, RETURNED, "Done.")
    tab = open_tab(language)
    send(tab, "Write it.")
    question = tab.locator(".live .question")
    expect(question.locator("pre")).to_have_text("+hello")
    expect(question).to_contain_text("Make the file a.txt")
    question.get_by_role("button", name=button, exact=True).click()
    expect(question).to_have_count(0)
    expect(turns(tab).locator(".answer")).to_have_text("Done.")
    assert client.replies == [("t1-1", answer)]


def test_stopping_the_turn_takes_the_question_away(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.will(CALLED, ASKED, Gate())
    tab = open_tab()
    send(tab, "Write it.")
    expect(tab.locator(".live .question")).to_be_visible()
    tab.get_by_role("button", name="Stop", exact=True).click()
    expect(turns(tab).locator(".ended")).to_have_text("■ stopped")
    expect(tab.locator(".question")).to_have_count(0)
    assert client.replies == []


def test_calls_of_a_stored_turn_open_to_all_that_was_given_and_came_back(
    client: ScriptedClient, open_tab: OpenTab
) -> None:
    call = CallRecord(1, "read_file", "", '{"path": "a.txt"}', "failed", "There is no such file.", True)
    client.stored["c"] = [turn("x1", "c", "Read it.", answer_text="I cannot.", calls=(call,))]
    tab = open_tab()
    tab.locator(".history li").first.click()
    line = turns(tab).locator("details.tool")
    expect(line.locator("summary")).to_have_text("read_file: a.txt · failed")
    line.locator("summary").click()
    expect(line.locator("pre")).to_contain_text("There is no such file.")


def test_what_a_call_is_given_can_do_nothing_on_the_page(client: ScriptedClient, open_tab: OpenTab) -> None:
    text = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    hostile = ApprovalAsked(
        **STAMP,
        call=1,
        approval_id='"><b>',
        tool=text,
        source=text,
        reason="reaches",
        pattern=text,
        title=text,
        detail=text,
    )
    client.will(ToolCalled(**STAMP, call=1, tool=text, arguments=text, source=text), hostile, Gate())
    tab = open_tab()
    send(tab, "Go.")
    expect(tab.locator(".live .question pre")).to_have_text(text)
    assert tab.locator(".live img, .live script, .live b").count() == 0
    tab.get_by_role("button", name="Stop", exact=True).click()


@pytest.mark.parametrize(
    "data", [None, {}, {"approval": "x"}, {"approval": "x", "answer": "yes"}, {"approval": 1, "answer": "once"}]
)
def test_a_reply_that_is_none_is_refused(data: object) -> None:
    with pytest.raises(payloads.UsageProblem):
        payloads.reply_of(data)
