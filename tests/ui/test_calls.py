"""Tool calls in the terminal: what is shown of them, and the question that a call waits for."""

import pytest

from engine.events import ApprovalAsked, ToolCalled, ToolReturned
from engine.values import CallRecord
from tests.ui.driving import chat_of, composer_of, run, send, shown, wait_for, wait_for_text, wait_until_ready
from tests.ui.scripted import Gate, ScriptedClient, turn
from ui.terminal.app import ChatApp
from ui.terminal.calls import ApprovalView, CallView

STAMP = {"turn_id": "", "number": 0}
CALLED = ToolCalled(**STAMP, call=1, tool="write_file", arguments='{"path": "a.txt", "text": "hello"}')
ASKED = ApprovalAsked(
    **STAMP,
    call=1,
    approval_id="t1-1",
    tool="write_file",
    source="",
    reason="changes",
    pattern="a.txt",
    title="Make the file a.txt (1 lines)",
    detail="+hello",
)
RETURNED = ToolReturned(
    **STAMP, call=1, tool="write_file", state="done", text="Written.", is_tainted=False, seconds=0.1
)


async def asked(client: ScriptedClient, pilot) -> None:
    await send(pilot, "Write it.")
    await wait_for_text(pilot, "Make the file a.txt")


@pytest.mark.parametrize(("key", "answer"), [("a", "once"), ("A", "always"), ("r", "reject"), ("R", "never")])
async def test_a_call_that_waits_shows_exactly_what_it_would_do_and_four_keys_answer(key: str, answer: str) -> None:
    client, gate = ScriptedClient(), Gate()
    client.on_reply = gate.open
    client.will(CALLED, ASKED, gate, RETURNED, "Done.")
    async with run(ChatApp(client)) as pilot:
        await asked(client, pilot)
        screen = shown(pilot.app)
        assert "+hello" in screen and "It would change something." in screen
        assert "A allow" in screen and "Shift+R never" in screen and "write_file with a.txt" in screen
        assert isinstance(pilot.app.focused, ApprovalView)
        await pilot.press(key)
        await wait_for(pilot, lambda: client.replies == [("t1-1", answer)])
        await wait_until_ready(pilot)
        assert not pilot.app.screen.query(ApprovalView)
        assert "write_file" in shown(pilot.app) and "done" in shown(pilot.app) and "Done." in shown(pilot.app)
        assert composer_of(pilot).has_focus


async def test_stopping_the_turn_takes_the_question_away() -> None:
    client, gate = ScriptedClient(), Gate()
    client.will(CALLED, ASKED, gate)
    async with run(ChatApp(client)) as pilot:
        await asked(client, pilot)
        await pilot.press("escape")
        await wait_until_ready(pilot)
        assert not pilot.app.screen.query(ApprovalView)
        assert client.replies == []


async def test_calls_of_a_stored_turn_are_shown_and_open_to_all_that_was_given_and_came_back() -> None:
    call = CallRecord(1, "read_file", "", '{"path": "a.txt"}', "failed", "There is no such file.", True)
    stored = [turn("x1", "c", "Read it.", answer_text="I cannot.", calls=(call,))]
    async with run(ChatApp(ScriptedClient(stored={"c": stored}), conversation_id="c")) as pilot:
        await wait_for_text(pilot, "read_file: a.txt")
        assert "failed" in shown(pilot.app) and "There is no such file." not in shown(pilot.app)
        await pilot.click(CallView)
        await wait_for_text(pilot, "There is no such file.")


async def test_what_a_call_is_given_can_do_nothing_on_the_screen() -> None:
    text = "[@click=app.quit]x[/] \x1b[31m \u202eabc"
    client, gate = ScriptedClient(), Gate()
    hostile = ApprovalAsked(
        **STAMP,
        call=1,
        approval_id="t1-1",
        tool=text,
        source=text,
        reason="reaches",
        pattern=text,
        title=text,
        detail=text,
    )
    client.will(ToolCalled(**STAMP, call=1, tool=text, arguments=text, source=text), hostile, gate)
    async with run(ChatApp(client), rows=40) as pilot:
        await send(pilot, "Go.")
        await wait_for_text(pilot, "[@click=app.quit]x[/]")
        assert "\x1b" not in shown(pilot.app) and "\u202e" not in shown(pilot.app)
        gate.open()
        await wait_until_ready(pilot)
        assert chat_of(pilot).is_running


async def test_the_mode_of_a_conversation_is_set_and_told() -> None:
    client = ScriptedClient(stored={"c": [turn("x1", "c", "Hi.", answer_text="Hello.")]})
    async with run(ChatApp(client, conversation_id="c")) as pilot:
        await send(pilot, "/mode plan")
        await wait_for_text(pilot, "Tools read, and change nothing.")
        assert (client.last("set_mode").text, client.last("set_mode").conversation_id) == ("plan", "c")
        await send(pilot, "/mode anything")
        await wait_for_text(pilot, "Now: ask")


async def test_without_a_conversation_there_is_no_mode() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "/mode auto")
        await pilot.pause(0.2)
        assert "set_mode" not in client.names()
