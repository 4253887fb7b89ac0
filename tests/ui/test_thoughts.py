"""Thoughts and calls of tools are one line each, which opens, and are never taken for the answer."""

from tests.ui.driving import run, send, shown, wait_for, wait_for_text, wait_until_ready
from tests.ui.scripted import Gate, ScriptedClient, turn
from tests.ui.test_inert import ATTACKS
from ui.terminal.answer import AnswerMarkdown
from ui.terminal.app import ChatApp
from ui.terminal.parts import Fold

CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


async def test_a_thought_is_one_line_while_it_is_thought_and_afterwards() -> None:
    client, thinking, answering = ScriptedClient(), Gate(), Gate()
    client.will("<thi", "nk>\nFrance has", thinking, " a capital\n</think>", "\n\nParis", answering, ".")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "capital?")
        await wait_for_text(pilot, "▸ thinking: ")
        assert "France has" not in shown(pilot.app) and "<thi" not in shown(pilot.app)
        thinking.open()
        await wait_for_text(pilot, "Paris")
        assert "▸ thought for 0 s: 4 words" in shown(pilot.app)
        answering.open()
        await wait_until_ready(pilot)
        await wait_for_text(pilot, "Paris.")
        assert "▸ thought for 0 s: 4 words" in shown(pilot.app)
        assert "</think>" not in shown(pilot.app)


async def test_a_key_opens_thoughts_and_closes_them_again() -> None:
    client = ScriptedClient(stored={"c": [turn("a", "c", "q", answer_text=f"<think>\nhm, hm\n</think>\nYes.\n{CALL}")]})
    async with run(ChatApp(client, conversation_id="c")) as pilot:
        await wait_for_text(pilot, "▸ thought: 2 words")
        assert "▸ called weather" in shown(pilot.app)
        await pilot.press("ctrl+o")
        await wait_for_text(pilot, "hm, hm")
        assert '{"name": "weather", "arguments": {"city": "Oslo"}}' in shown(pilot.app)
        assert "▾ called weather" in shown(pilot.app)
        await pilot.press("ctrl+o")
        await wait_for(pilot, lambda: "hm, hm" not in shown(pilot.app))


async def test_a_selected_turn_opens_alone() -> None:
    path = [
        turn("a", "c", "q", answer_text="<think>first</think>One."),
        turn("b", "c", "q", "a", answer_text="<think>second</think>Two."),
    ]
    async with run(ChatApp(ScriptedClient(stored={"c": path}), conversation_id="c"), rows=40) as pilot:
        await wait_for_text(pilot, "Two.")
        await pilot.press("alt+up", "ctrl+o")
        await wait_for_text(pilot, "second")
        assert "first" not in shown(pilot.app)


async def test_a_click_opens_one_thought() -> None:
    client = ScriptedClient(stored={"c": [turn("a", "c", "q", answer_text="<think>hm</think>Yes.")]})
    async with run(ChatApp(client, conversation_id="c")) as pilot:
        await wait_for_text(pilot, "▸ thought: 1 word")
        await pilot.click(Fold)
        await wait_for_text(pilot, "▾ thought: 1 word")


async def test_an_answer_that_turns_out_to_be_a_thought_becomes_one() -> None:
    client, rest = ScriptedClient(), Gate()
    client.will("France, so", rest, "</think>\n\n**Paris**.")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "capital?")
        await wait_for_text(pilot, "France, so")
        rest.open()
        await wait_for_text(pilot, "Paris.")
        assert "France, so" not in shown(pilot.app)
        assert "▸ thought: 2 words" in shown(pilot.app)


async def test_a_turn_that_was_stopped_in_its_thought_shows_it() -> None:
    client = ScriptedClient()
    client.will("<think>let me", Gate())
    async with run(ChatApp(client, language="zh")) as pilot:
        await send(pilot, "为什么？")
        await wait_for_text(pilot, "▸ 思考中：2 字")
        await pilot.press("escape")
        await wait_for_text(pilot, "■ 已停止")
        assert "▸ 思考中：2 字" in shown(pilot.app)


async def test_a_thought_without_an_answer_is_an_empty_answer() -> None:
    client = ScriptedClient()
    client.will("<think>hm</think>")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "q")
        await wait_for_text(pilot, "(empty answer)")


async def test_an_empty_thought_leaves_no_line() -> None:
    client = ScriptedClient()
    client.will("<think>", "\n\n", "</think>", "\n\nYes.")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "q")
        await wait_for_text(pilot, "Yes.")
        await wait_until_ready(pilot)
        assert len(pilot.app.screen.query(Fold)) == 0
        assert len(pilot.app.screen.query(AnswerMarkdown)) == 1


async def test_thoughts_to_come_are_open_once_all_were_opened() -> None:
    client = ScriptedClient()
    client.will("<think>seen</think>Yes.")
    async with run(ChatApp(client)) as pilot:
        await pilot.press("ctrl+o")
        await send(pilot, "q")
        await wait_for_text(pilot, "seen")


async def test_G6_thoughts_and_calls_are_plain_text() -> None:
    attacks = "\n".join(text for text, _ in ATTACKS.values()) + "\n[@click=app.quit]x[/] **no bold** [l](http://a)"
    call = '<tool_call>{"name": "\x1b]52;c;eA==\x07[@click=app.quit]tool[/]"}</tool_call>'
    text = f"<think>{attacks}</think>Done.\n{call}"
    client = ScriptedClient(stored={"c": [turn("a", "c", "q", answer_text=text)]})
    client.will(*text, final_text=text)
    async with run(ChatApp(client, conversation_id="c"), columns=120, rows=300) as pilot:
        await pilot.press("ctrl+o")
        await send(pilot, "again")
        await wait_for(pilot, lambda: shown(pilot.app).count("Done.") == 2)
        await wait_until_ready(pilot)
        seen = shown(pilot.app)
        assert seen.count("▾ called [@click=app.quit]tool[/]") == 2
        assert seen.count("[@click=app.quit]x[/] **no bold** [l](http://a)") == 2
        assert not [c for c in seen if (ord(c) < 0x20 and c != "\n") or 0x7F <= ord(c) < 0xA0]
        for fold in pilot.app.screen.query(Fold):
            await pilot.click(fold)
        assert pilot.app.is_running
