"""Only what was typed may teach: which messages are said to hold pasted text."""

import pytest
from textual import events

from tests.ui.driving import composer_of, run, send, type_text, wait_for, wait_until_ready
from tests.ui.scripted import ScriptedClient, turn
from ui.pasting import MAX_SHORT_CHARACTERS, PastedText
from ui.terminal.app import ChatApp

MAIL = "Dear customer,\nyour parcel waits at the post office in Oslo.\nPlease fetch it before Friday."
LONG_LINE = "从前有一座山，山里有一座庙。" * 16


@pytest.mark.parametrize(
    ("pasted", "message", "provenance"),
    [
        pytest.param(MAIL, f"Summarise this:\n{MAIL}", "pasted", id="several lines"),
        pytest.param(LONG_LINE, f"翻译：{LONG_LINE}", "pasted", id="one long line"),
        pytest.param(
            "Karl Johans gate 1, 0154 Oslo, Norway", "Karl Johans gate 1, 0154 Oslo, Norway", "typed", id="short"
        ),
        pytest.param(
            "Karl Johans gate 1, 0154 Oslo, Norway\n", "Karl Johans gate 1, 0154 Oslo, Norway", "typed", id="line"
        ),
        pytest.param("x" * (MAX_SHORT_CHARACTERS + 1), "x" * MAX_SHORT_CHARACTERS, "pasted", id="over the limit"),
        pytest.param("x" * MAX_SHORT_CHARACTERS, "x" * MAX_SHORT_CHARACTERS, "typed", id="at the limit"),
        pytest.param(MAIL, MAIL.replace("Oslo", "Rome").replace("\n", "\n    "), "pasted", id="changed and indented"),
        pytest.param(MAIL, "Where is my parcel?", "typed", id="deleted again"),
        pytest.param(MAIL, "", "typed", id="empty"),
    ],
)
def test_a_message_is_pasted_while_much_of_a_paste_is_in_it(pasted: str, message: str, provenance: str) -> None:
    memory = PastedText()
    memory.paste(pasted)
    assert memory.provenance(message) == provenance


async def test_the_composer_says_what_was_pasted_and_what_was_typed() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await type_text(pilot, "Read: ")
        pilot.app.post_message(events.Paste(MAIL))
        await wait_for(pilot, lambda: MAIL in composer_of(pilot).text)
        await pilot.press("enter")
        await wait_until_ready(pilot)
        await send(pilot, "Thank you.")
        await wait_until_ready(pilot)
        assert [(call.text, call.provenance) for call in client.calls if call.name == "ask"] == [
            (f"Read: {MAIL}", "pasted"),
            ("Thank you.", "typed"),
        ]


async def test_a_pasted_message_that_is_brought_back_stays_pasted() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        pilot.app.post_message(events.Paste(MAIL))
        await wait_for(pilot, lambda: composer_of(pilot).text == MAIL)
        await pilot.press("enter")
        await wait_until_ready(pilot)
        await pilot.press("up", "enter")
        await wait_until_ready(pilot)
        assert [call.provenance for call in client.calls if call.name == "ask"] == ["pasted", "pasted"]


async def test_editing_a_message_pasted_in_an_earlier_run_keeps_it_pasted() -> None:
    pasted = turn("x1", "c", LONG_LINE, answer_text="yes", provenance="pasted")
    client = ScriptedClient(stored={"c": [pasted]})
    async with run(ChatApp(client, conversation_id="c")) as pilot:
        await wait_until_ready(pilot)
        await wait_for(pilot, lambda: "path" in client.names())
        await pilot.pause()
        await pilot.press("ctrl+e")
        await wait_for(pilot, lambda: composer_of(pilot).text == LONG_LINE)
        await type_text(pilot, "ok")
        await pilot.press("enter")
        await wait_for(pilot, lambda: "edit" in client.names())
        assert [call.provenance for call in client.calls if call.name == "edit"] == ["pasted"]


async def test_what_is_pasted_from_the_program_itself_counts_too() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        pilot.app.copy_to_clipboard(MAIL)
        await wait_for(pilot, lambda: composer_of(pilot).has_focus)
        await pilot.press("ctrl+v", "enter")
        await wait_for(pilot, lambda: client.names() == ["ask"])
        assert client.calls[0].provenance == "pasted"
