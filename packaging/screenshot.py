"""Draw the pictures of the README: the chat after two real questions to the starter, in English and in Chinese.

Run by path in an environment that has the project: `python packaging/screenshot.py`. Keeps nothing of the user's home
and shows nothing that the program would not: the same screen and the same model, without a terminal. Only the speed in
the status line differs from one run to the next on the same machine.
"""

import argparse
import asyncio
import random
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from textual.pilot import Pilot

from app.paths import Paths
from app.wiring import open_client
from ui.client import Client
from ui.strings import LANGUAGES
from ui.terminal.app import ChatApp

COLUMNS, ROWS = 100, 30
TIMEOUT_S = 120.0
SEED = 7
"""Of the sampler, so that a picture changes only when the program does."""
LINES = {
    "en": ("What is the capital of France?", "/expert L2", "Write a Python function that reverses a string."),
    "zh": ("你好，你是谁？", "/expert L2", "写一个反转字符串的 Python 函数。"),
}
"""What is typed, line by line."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    for language in [options.language] if options.language else LANGUAGES:
        target = options.out / f"chat-{language}{'-light' if options.light else ''}.svg"
        target.write_text(_picture(language, light=options.light), encoding="utf-8")
        print(target)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Draw the chat as SVG, from a real conversation with the starter.")
    parser.add_argument("--out", type=Path, metavar="DIR", default=Path(__file__).parent / "screenshots")
    parser.add_argument("--language", choices=LANGUAGES, help="one language; default: a picture of each")
    parser.add_argument("--light", action="store_true", help="the light theme instead of the dark one")
    return parser


def _picture(language: str, *, light: bool) -> str:
    """An SVG of the chat after the lines of `language`, in a home of its own."""
    random.seed(SEED)
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())
        opened = stack.enter_context(open_client(Paths(Path(home)), "starter"))
        return asyncio.run(_draw(opened.client, language, light=light))


async def _draw(client: Client, language: str, *, light: bool) -> str:
    app = ChatApp(client, language=language, dark=not light)
    async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
        app.chat.composer.cursor_blink = False
        for line in LINES[language]:
            app.chat.composer.put(line)
            await pilot.press("enter")
            await pilot.pause()
            await _wait_until(pilot, lambda: app.chat.running is None)
        await _wait_until(pilot, lambda: not app.chat.query(".brief"))
        return without_fonts(app.export_screenshot(title=app.TITLE))


async def _wait_until(pilot: Pilot[None], is_true: Callable[[], bool]) -> None:
    """Until `is_true()` and what follows from it is drawn. Raises: TimeoutError."""
    deadline = time.monotonic() + TIMEOUT_S
    while not is_true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the chat was not ready within {TIMEOUT_S:.0f} s")
        await pilot.pause(0.05)
    await pilot.pause()


def without_fonts(svg: str) -> str:
    """`svg` without the font files that it would fetch when it is opened; the reader's own monospace font draws it."""
    return re.sub(r"\s*@font-face\s*\{[^}]*\}", "", svg)


if __name__ == "__main__":
    main()
