"""A turn on the screen: from the message that is sent to how it ended."""

import asyncio

import pytest
from textual.widgets.markdown import MarkdownFence

from engine.errors import AgentError, RuntimeFailed, UnknownName
from engine.values import Route
from tests.ui.driving import (
    chat_of,
    composer_of,
    run,
    send,
    shown,
    turns_of,
    wait_for,
    wait_for_text,
    wait_until_ready,
)
from tests.ui.scripted import Gate, ScriptedClient, notice, reading
from ui.terminal import talking
from ui.terminal.answer import AnswerMarkdown
from ui.terminal.app import ChatApp
from ui.terminal.folded import FoldedNote
from ui.terminal.status import StatusLine


async def test_an_answer_appears_while_it_is_written() -> None:
    client, rest = ScriptedClient(), Gate()
    client.will("Paris is ", rest, "the **capital**.")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "capital of France?")
        await wait_for_text(pilot, "Paris is")
        assert "writing" in shown(pilot.app)
        rest.open()
        await wait_for_text(pilot, "Paris is the capital.")
        await wait_until_ready(pilot)
        assert "L2 · best by 1.8" in shown(pilot.app)


async def test_the_status_line_tells_usage_once_the_answer_is_there() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "12.3 tok/s")
        line = pilot.app.screen.query_one(StatusLine).text
        assert line == "L2 · best by 1.8 | context 1,284/8,192 | read 40 + reused 1,204 | 12.3 tok/s"


async def test_the_chinese_status_line_fits_eighty_columns() -> None:
    async with run(ChatApp(ScriptedClient(), language="zh")) as pilot:
        await send(pilot, "你好")
        await wait_for_text(pilot, "12.3 词元/秒")


async def test_a_narrow_status_line_drops_what_matters_least() -> None:
    async with run(ChatApp(ScriptedClient()), columns=44, rows=24) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "L2 · best by 1.8 | context 1,284/8,192")
        assert "tok/s" not in shown(pilot.app)


async def test_reading_a_long_prompt_shows_progress() -> None:
    client, rest = ScriptedClient(), Gate()
    client.will(reading(1234, 4000), rest, "done")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "long")
        await wait_for_text(pilot, "reading 1,234 of 4,000 tokens")
        rest.open()
        await wait_until_ready(pilot)


async def test_work_of_more_than_two_seconds_shows_that_time_passes() -> None:
    client, rest = ScriptedClient(), Gate()
    client.will(rest, "done", route=None)
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "slow")
        await wait_for_text(pilot, "routing · 2 s")
        rest.open()
        await wait_until_ready(pilot)


async def test_the_message_is_on_screen_before_the_turn_has_opened() -> None:
    client, opening = ScriptedClient(), Gate()
    client.will("hello", before_open=opening)
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "are you there?")
        await wait_for_text(pilot, "are you there?")
        await wait_for_text(pilot, "starting")
        opening.open()
        await wait_for_text(pilot, "hello")


async def test_a_code_block_that_closes_late_is_drawn_whole() -> None:
    client = ScriptedClient()
    client.will("Look:\n\n```python\n", "x = 1\n", "```", "\n\nThat is all.")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "code")
        await wait_for_text(pilot, "That is all.")
        await wait_until_ready(pilot)
        assert "x = 1" in shown(pilot.app)
        assert len(pilot.app.screen.query(MarkdownFence)) == 1


async def test_what_the_closing_event_says_replaces_what_was_streamed() -> None:
    client = ScriptedClient()
    client.will("draft", final_text="final")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "final")
        assert "draft" not in shown(pilot.app)


async def test_escape_stops_the_turn_and_keeps_the_partial_text() -> None:
    client = ScriptedClient()
    client.will("Once upon", Gate(), " a time")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "story")
        await wait_for_text(pilot, "Once upon")
        await pilot.press("escape")
        await wait_for_text(pilot, "■ stopped")
        assert "Once upon" in shown(pilot.app)
        assert client.names() == ["ask", "stop"]


async def test_a_stop_before_the_turn_has_opened_is_not_lost() -> None:
    client, opening = ScriptedClient(), Gate()
    client.will(Gate(), "never said", before_open=opening)
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "starting")
        await pilot.press("escape")
        await wait_for_text(pilot, "stopping")
        opening.open()
        await wait_for_text(pilot, "■ stopped")


async def test_a_second_message_waits_in_the_composer_while_an_answer_is_written() -> None:
    client, rest = ScriptedClient(), Gate()
    client.will("one", rest)
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "first")
        await wait_for_text(pilot, "one")
        await send(pilot, "second")
        await wait_for_text(pilot, "Press Esc to stop it first")
        assert composer_of(pilot).text == "second"
        assert client.names() == ["ask"]
        rest.open()
        await wait_until_ready(pilot)


async def test_a_failed_turn_shows_problem_and_hint_and_the_chat_goes_on() -> None:
    client = ScriptedClient()
    client.will("half", state="failed", problem="Out of memory.", hint="Close other programs.")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "big")
        await wait_for_text(pilot, "Problem: Out of memory.")
        text = shown(pilot.app)
        assert "What to do: Close other programs." in text
        assert "■ failed" in text
        assert "half" in text
        assert "Ctrl+R" in text
        await pilot.press("ctrl+r")
        await wait_for_text(pilot, "An answer.")
        assert client.last("regenerate").turn_id == "t1"


async def test_a_refused_message_comes_back_to_the_composer_with_the_reason() -> None:
    client = ScriptedClient()
    client.will(refused=UnknownName("There is no expert L9.", "Choose one of L0, L1."))
    async with run(ChatApp(client, expert="L9")) as pilot:
        await send(pilot, "hello")
        await wait_for_text(pilot, "Problem: There is no expert L9.")
        assert "What to do: Choose one of L0, L1." in shown(pilot.app)
        assert composer_of(pilot).text == "hello"
        assert turns_of(pilot) == []
        await pilot.press("enter")
        await wait_for_text(pilot, "An answer.")


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        pytest.param(RuntimeFailed("The engine went away.", "Try again."), "The engine went away.", id="our own"),
        pytest.param(ValueError("odd"), "The program made a mistake: odd", id="any other"),
    ],
)
async def test_an_error_in_mid_turn_is_shown_and_the_chat_goes_on(error: Exception, problem: str) -> None:
    client = ScriptedClient()
    client.will("half an ans", broken=error)
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, f"Problem: {problem}")
        assert "half an ans" in shown(pilot.app)
        await wait_until_ready(pilot)
        await send(pilot, "again")
        await wait_for_text(pilot, "An answer.")


async def test_an_answer_without_text_says_so() -> None:
    client = ScriptedClient()
    client.will()
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "(empty answer)")


async def test_folding_is_told_in_plain_words() -> None:
    client = ScriptedClient()
    client.will(notice("folded", turns=4), "ok")
    async with run(ChatApp(client), columns=100, rows=24) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "4 earlier turns are no longer read.")


async def test_what_stands_for_folded_turns_is_opened_by_a_click_and_with_the_details() -> None:
    client = ScriptedClient()
    client.will(notice("folded", turns=4, lines=[{"kind": "fact", "text": "My seat is 12F"}], moved_out=0), "ok")
    async with run(ChatApp(client), columns=160, rows=24) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "Read in their place: 1 line.")
        assert "My seat is 12F" not in shown(pilot.app)
        await pilot.click(FoldedNote)
        await wait_for_text(pilot, "fact: My seat is 12F")


async def test_the_second_message_continues_the_conversation() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client, expert="L1")) as pilot:
        await send(pilot, "first")
        await wait_for_text(pilot, "An answer.")
        await wait_until_ready(pilot)
        await send(pilot, "second")
        await wait_for(pilot, lambda: len(turns_of(pilot)) == 2)
        await wait_until_ready(pilot)
        assert [call.conversation_id for call in client.calls if call.name == "ask"] == [None, "c1"]
        assert [call.expert for call in client.calls if call.name == "ask"] == ["L1", "L1"]


async def test_regenerating_replaces_the_answer_of_the_last_turn() -> None:
    client = ScriptedClient()
    client.will("old answer")
    client.will("new answer", route=Route("L0", "default"))
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "old answer")
        await wait_until_ready(pilot)
        await pilot.press("ctrl+r")
        await wait_for_text(pilot, "new answer")
        await wait_until_ready(pilot)
        assert "old answer" not in shown(pilot.app)
        assert [view.user_text for view in turns_of(pilot)] == ["hi"]
        assert "L0 · default" in shown(pilot.app)


async def test_regenerating_nothing_says_so() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await pilot.press("ctrl+r")
        await wait_for_text(pilot, "There is no message to answer again yet.")
        assert client.calls == []


async def test_editing_puts_the_last_message_in_the_composer_and_sends_a_sibling() -> None:
    client = ScriptedClient()
    client.will("about cats")
    client.will("about dogs")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "cats")
        await wait_for_text(pilot, "about cats")
        await wait_until_ready(pilot)
        await pilot.press("ctrl+e")
        assert composer_of(pilot).text == "cats"
        await wait_for_text(pilot, "Editing your message")
        await pilot.press("backspace", "backspace", "backspace", "backspace", *"dogs", "enter")
        await wait_for_text(pilot, "about dogs")
        await wait_until_ready(pilot)
        edit = client.last("edit")
        assert (edit.text, edit.turn_id) == ("dogs", "t1")
        assert [view.user_text for view in turns_of(pilot)] == ["dogs"]
        assert "Editing your message" not in shown(pilot.app)


async def test_escape_leaves_editing_and_brings_the_draft_back() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "An answer.")
        await wait_until_ready(pilot)
        await pilot.press(*"draft", "ctrl+e", "escape")
        assert composer_of(pilot).text == "draft"
        await send(pilot, "next")
        await wait_for(pilot, lambda: client.names().count("ask") == 2)


async def test_a_refused_edit_stays_an_edit() -> None:
    client = ScriptedClient()
    client.will("one")
    client.will(refused=AgentError("No.", ""))
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "one")
        await wait_until_ready(pilot)
        await pilot.press("ctrl+e", "x", "enter")
        await wait_for_text(pilot, "Problem: No.")
        assert composer_of(pilot).text == "hix"
        await pilot.press("enter")
        await wait_for(pilot, lambda: client.names().count("edit") == 2)
        await wait_until_ready(pilot)


async def test_a_new_conversation_begins_empty_with_the_welcome() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await wait_for_text(pilot, "Ask anything")
        await send(pilot, "hi")
        await wait_for_text(pilot, "An answer.")
        assert "Ask anything" not in shown(pilot.app)
        await wait_until_ready(pilot)
        await pilot.press("ctrl+n")
        await wait_for_text(pilot, "Ask anything")
        assert turns_of(pilot) == []
        await send(pilot, "new")
        await wait_until_ready(pilot)
        assert [call.conversation_id for call in client.calls if call.name == "ask"] == [None, None]


async def test_the_agent_may_work_on_its_own_once_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talking, "IDLE_AFTER_S", 0.05)
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for(pilot, lambda: client.names() == ["ask", "idle"])


async def test_a_new_turn_does_not_wait_for_the_idle_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talking, "IDLE_AFTER_S", 0.05)
    idle_work = Gate()
    client = ScriptedClient(idle_gate=idle_work)
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for(pilot, lambda: client.names() == ["ask", "idle"])
        await send(pilot, "again")
        await wait_for(pilot, lambda: len(turns_of(pilot)) == 2)
        await wait_until_ready(pilot)
        assert chat_of(pilot).chat.idling
        idle_work.open()


async def test_a_failure_of_the_idle_work_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talking, "IDLE_AFTER_S", 0.05)
    client = ScriptedClient(idle_error=RuntimeFailed("The engine went away.", "Try again."))
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "Problem: The engine went away.")
        assert pilot.app.is_running


async def test_no_idle_work_is_asked_for_while_the_next_turn_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talking, "IDLE_AFTER_S", 0.3)
    client, rest = ScriptedClient(), Gate()
    client.will("one")
    client.will("two", rest)
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "one")
        await wait_until_ready(pilot)
        await send(pilot, "again")
        await wait_for_text(pilot, "two")
        await asyncio.sleep(0.5)
        assert "idle" not in client.names()
        rest.open()


async def test_the_end_stays_in_view_until_the_user_scrolls_up() -> None:
    client, first, second = ScriptedClient(), Gate(), Gate()
    paragraphs = [f"paragraph {number}\n\n" for number in range(60)]
    client.will(*paragraphs[:30], first, *paragraphs[30:45], second, *paragraphs[45:])
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "long")
        await wait_for_text(pilot, "paragraph 29")
        await pilot.press("pageup")
        await wait_for(pilot, lambda: "paragraph 29" not in shown(pilot.app))
        position = chat_of(pilot).chat.query_one("#transcript").scroll_y
        first.open()
        await wait_for(pilot, lambda: "paragraph 44" in turns_of(pilot)[0].query_one(AnswerMarkdown).source)
        await pilot.pause()
        assert chat_of(pilot).chat.query_one("#transcript").scroll_y == position
        await pilot.press("pagedown", "pagedown", "pagedown", "pagedown")
        await wait_for_text(pilot, "paragraph 44")
        second.open()
        await wait_for_text(pilot, "paragraph 59")
