"""Drive the chat in a test: wait for what should become true, and read what is on the screen."""

import html
import re
from asyncio import get_running_loop
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from textual import events
from textual.pilot import Pilot

from ui.inert import cell_width
from ui.terminal.app import ChatApp
from ui.terminal.composer import Composer
from ui.terminal.transcript import TurnView

TIMEOUT_S = 10.0
_TEXT = re.compile(r'<text class="[^"]*" x="([\d.]+)"[^>]*clip-path="url\(#[^)]*-line-(\d+)\)">(.*?)</text>', re.DOTALL)
_CELL_WIDTH = 12.2
"""Of one terminal cell in a screenshot."""


def run(app: ChatApp, columns: int = 80, rows: int = 24) -> AbstractAsyncContextManager[Pilot[None]]:
    """The app without a terminal."""
    return app.run_test(size=(columns, rows))


async def wait_for(pilot: Pilot[Any], is_true: Callable[[], object], timeout_s: float = TIMEOUT_S) -> None:
    """Let the app work until `is_true()`. Raises: AssertionError with the screen when it never becomes true."""
    deadline = get_running_loop().time() + timeout_s
    while not is_true():
        if get_running_loop().time() > deadline:
            raise AssertionError("still not true; on screen:\n" + shown(pilot.app))
        await pilot.pause(0.01)


async def wait_for_text(pilot: Pilot[Any], text: str) -> None:
    await wait_for(pilot, lambda: text in shown(pilot.app))


async def wait_until_ready(pilot: Pilot[Any]) -> None:
    """Until no turn runs and what it left is drawn."""
    await wait_for(pilot, lambda: chat_of(pilot).chat.running is None)
    await pilot.pause()


def shown(app: Any) -> str:
    """The text on the screen, line by line."""
    lines: dict[int, str] = defaultdict(str)
    for x, number, text in _TEXT.findall(app.export_screenshot()):
        plain = html.unescape(text).replace("\xa0", " ").rstrip("\n")
        line = lines[int(number)]
        lines[int(number)] = line + " " * (round(float(x) / _CELL_WIDTH) - cell_width(line)) + plain
    return "\n".join(lines[number].rstrip() for number in sorted(lines))


def chat_of(pilot: Pilot[Any]) -> ChatApp:
    assert isinstance(pilot.app, ChatApp)
    return pilot.app


def composer_of(pilot: Pilot[Any]) -> Composer:
    return chat_of(pilot).chat.composer


def turns_of(pilot: Pilot[Any]) -> list[TurnView]:
    return list(chat_of(pilot).chat.query(TurnView))


async def type_text(pilot: Pilot[Any], text: str) -> None:
    """Type any text, wide characters too."""
    for character in text:
        if character.isascii():
            await pilot.press({" ": "space", "\n": "ctrl+j"}.get(character, character))
        else:
            # `press` loses characters whose key has a long name, such as the full-width question mark.
            pilot.app.post_message(events.Key(character, character))
            await pilot.pause()


async def send(pilot: Pilot[Any], text: str) -> None:
    await wait_for(pilot, lambda: composer_of(pilot).has_focus)
    composer_of(pilot).put(text)
    await pilot.press("enter")
