"""How the chat looks in 80 by 24: compared with committed pictures.

After a wanted change: `pytest tests/ui/test_snapshots.py --snapshot-update`, and look at the pictures.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from engine.values import Route
from tests.ui.driving import chat_of, composer_of, send, type_text, wait_for, wait_for_text, wait_until_ready
from tests.ui.scripted import ScriptedClient, notice, turn
from ui.terminal.app import ChatApp
from ui.terminal.status import StatusLine

SIZE = (80, 24)
Compare = Callable[..., bool]


async def settle(pilot: Pilot[Any]) -> None:
    composer_of(pilot).cursor_blink = False
    await wait_for(pilot, lambda: chat_of(pilot).chat.about is not None)
    await wait_for(pilot, lambda: composer_of(pilot).has_focus)
    await wait_until_ready(pilot)


def test_the_first_screen_in_english_and_dark(snap_compare: Compare) -> None:
    assert snap_compare(ChatApp(ScriptedClient()), terminal_size=SIZE, run_before=settle)


def test_the_first_screen_in_chinese_and_light(snap_compare: Compare) -> None:
    app = ChatApp(ScriptedClient(), language="zh", dark=False)
    assert snap_compare(app, terminal_size=SIZE, run_before=settle)


def test_an_answer_with_markdown_in_english_and_light(snap_compare: Compare) -> None:
    client = ScriptedClient()
    client.will(
        notice("folded", turns=3),
        "Reverse it with a **slice**:\n\n```python\ndef reverse(text):\n    return text[::-1]\n```\n\n"
        "- `reverse('abc')` gives `'cba'`\n- see [the manual](https://docs.python.org/3/)\n",
    )

    async def ask(pilot: Pilot[Any]) -> None:
        await send(pilot, "How do I reverse a string?")
        await wait_for_text(pilot, "the manual")
        await settle(pilot)

    assert snap_compare(ChatApp(client, dark=False), terminal_size=SIZE, run_before=ask)


def test_a_stopped_and_a_failed_turn_in_chinese_and_dark(snap_compare: Compare) -> None:
    client = ScriptedClient(
        stored={"c": [turn("x1", "c", "讲一个故事", state="stopped", answer_text="从前有一只猫，")]}
    )
    client.will("猫", route=Route("L0", "default"), state="failed", problem="内存不足。", hint="请关闭其他程序。")

    async def ask(pilot: Pilot[Any]) -> None:
        await wait_for_text(pilot, "从前有一只猫")
        await send(pilot, "继续")
        await wait_for_text(pilot, "内存不足")
        await settle(pilot)

    app = ChatApp(client, conversation_id="c", language="zh")
    assert snap_compare(app, terminal_size=SIZE, run_before=ask)


def test_the_list_of_conversations_in_chinese_and_light(snap_compare: Compare) -> None:
    stored = {
        "a": [turn("a1", "a", "法国的首都是哪里？", answer_text="巴黎。")],
        "b": [turn("b1", "b", "How do I reverse a string?", answer_text="With a slice.")],
    }

    async def open_history(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        await pilot.press("ctrl+l")
        await wait_for_text(pilot, "How do I reverse a string?")
        pilot.app.screen.query_one(Input).cursor_blink = False

    app = ChatApp(ScriptedClient(stored=stored), language="zh", dark=False)
    assert snap_compare(app, terminal_size=SIZE, run_before=open_history)


def test_the_chat_without_colour(snap_compare: Compare, monkeypatch: Any) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def ask(pilot: Pilot[Any]) -> None:
        await send(pilot, "hi")
        await wait_for(pilot, lambda: "tok/s" in composer_of(pilot).screen.query_one(StatusLine).text)
        await settle(pilot)

    assert snap_compare(ChatApp(ScriptedClient()), terminal_size=SIZE, run_before=ask)


def branched() -> ScriptedClient:
    """A rated answer with a thought and a call, and a second message in two versions."""
    answer = '<think>\nLook it up.\n</think>\n\nLet me see.\n<tool_call>{"name": "weather"}</tool_call>'
    first = turn("a", "c", "奥斯陆天气如何？", answer_text=answer, rating=1)
    return ScriptedClient(
        stored={"c": [first, turn("b", "c", "And tomorrow?", "a", answer_text="Rain.")]},
        others=[turn("d", "c", "明天呢？", "a", answer_text="下雨。", state="stopped")],
    )


def test_a_selected_turn_without_colour(snap_compare: Compare, monkeypatch: Any) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def select(pilot: Pilot[Any]) -> None:
        await wait_for_text(pilot, "1/2")
        await settle(pilot)
        await pilot.press("alt+up", "alt+up")
        await wait_for_text(pilot, "E edit")

    app = ChatApp(branched(), conversation_id="c")
    assert snap_compare(app, terminal_size=SIZE, run_before=select)


def test_the_tree_of_branches_in_chinese_and_light(snap_compare: Compare) -> None:
    async def open_tree(pilot: Pilot[Any]) -> None:
        await wait_for_text(pilot, "1/2")
        await settle(pilot)
        await pilot.press("ctrl+b")
        await wait_for_text(pilot, "明天呢？")

    app = ChatApp(branched(), conversation_id="c", language="zh", dark=False)
    assert snap_compare(app, terminal_size=SIZE, run_before=open_tree)


def test_files_that_are_offered_and_one_that_goes_with_the_message(snap_compare: Compare, tmp_path: Path) -> None:
    for name in ("清单.md", "notes.txt", "numbers.csv"):
        (tmp_path / name).write_text("x", encoding="utf-8")

    async def complete(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        await type_text(pilot, "compare @清单.md with @n")
        await wait_for_text(pilot, "numbers.csv")
        await wait_for_text(pilot, "1 file attached")

    app = ChatApp(ScriptedClient(), folder=tmp_path)
    assert snap_compare(app, terminal_size=SIZE, run_before=complete)
