"""How the chat looks in 80 by 24: compared with committed pictures.

After a wanted change: `pytest tests/ui/test_snapshots.py --snapshot-update`, and look at the pictures.
"""

from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from engine.values import Route
from tests.ui.driving import composer_of, send, wait_for, wait_for_text, wait_until_ready
from tests.ui.scripted import ScriptedClient, notice, turn
from ui.terminal.app import ChatApp
from ui.terminal.status import StatusLine

SIZE = (80, 24)
Compare = Callable[..., bool]


async def settle(pilot: Pilot[Any]) -> None:
    composer_of(pilot).cursor_blink = False
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
