"""Draw the pictures of the page for the README: a real conversation with the starter, in English and in Chinese.

Run by path in an environment that has the project and its `dev` extra, where Chromium is installed:
`python packaging/screenshot_page.py`. Keeps nothing of the user's home; the page is the one that `macaron web` serves,
with the agent in the same program instead of in a host.
"""

import argparse
import os
import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from app.gate.secrets import Secrets
from app.gate.serving import Server, listen, port_of
from app.gate.tickets import Tickets, login_url
from app.paths import Paths
from app.teaching.spawning import SpawningTeacher
from app.web import page_app
from app.wiring import open_client
from ui.strings import LANGUAGES, say
from ui.teaching_work import Teaching

WIDTH, HEIGHT = 1180, 760
PHONE_WIDTH, PHONE_HEIGHT = 390, 780
TIMEOUT_MS = 120_000
SEED = 7
"""Of the sampler, so that a picture changes only when the program does."""
LOCALES = {"en": "en-GB", "zh": "zh-CN"}
MESSAGES = {
    "en": ("What is the capital of France?", "Write a Python function that reverses a string."),
    "zh": ("你好，你是谁？", "写一个反转字符串的 Python 函数。"),
}


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium is not installed. Install it with the system's package manager.")
    out = options.out.absolute()  # the page moves the program into another folder
    out.mkdir(parents=True, exist_ok=True)
    size = (PHONE_WIDTH, PHONE_HEIGHT) if options.phone else (WIDTH, HEIGHT)
    for language in [options.language] if options.language else LANGUAGES:
        look = f"{'-dark' if options.dark else ''}{'-phone' if options.phone else ''}"
        target = out / f"page-{language}{look}.png"
        with _address_of_page() as address:
            _draw(address, chromium, language, target, size, dark=options.dark)
        print(target)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Draw the page, from a real conversation with the starter.")
    parser.add_argument("--out", type=Path, metavar="DIR", default=Path(__file__).parent / "screenshots")
    parser.add_argument("--language", choices=LANGUAGES, help="one language; default: a picture of each")
    parser.add_argument("--dark", action="store_true", help="the dark theme instead of the light one")
    parser.add_argument("--phone", action="store_true", help="as wide as a phone")
    return parser


@contextmanager
def _address_of_page() -> Iterator[str]:
    """Where to log in to a page over a home of its own."""
    random.seed(SEED)
    with tempfile.TemporaryDirectory() as folder:
        paths = Paths(Path(folder) / "home")
        with open_client(paths, "starter") as opened:
            files, empty = paths.page / "files", paths.page / "empty"
            for needed in (files, empty):
                needed.mkdir(parents=True)
            secrets, tickets, listener = Secrets(paths), Tickets(), listen(0)
            port = port_of(listener)
            before = Path.cwd()
            os.chdir(empty)
            try:
                teaching = Teaching(SpawningTeacher(paths, os.environ, lambda: "starter"))
                app = page_app(lambda: opened.client, port, secrets, tickets, folder=files, teaching=teaching)
                with Server(app, [listener]).running():
                    yield login_url(port, tickets.mint())
            finally:
                os.chdir(before)


def _draw(address: str, chromium: str, language: str, target: Path, size: tuple[int, int], *, dark: bool) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(
            locale=LOCALES[language],
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(address)
        page.locator(".about .note").first.wait_for()
        for number, message in enumerate(MESSAGES[language]):
            if number == 1:
                _pin(page, "L2")
            page.locator("textarea[data-part=text]").fill(message)
            page.locator("textarea[data-part=text]").press("Enter")
            page.locator("article.turn footer").nth(number).wait_for()
            page.get_by_role("button", name=say("page.send", language), exact=True).wait_for()
        page.locator("textarea[data-part=text]").blur()
        page.wait_for_timeout(1000)  # for the sidebar to have moved and the list to be there
        page.screenshot(path=target)
        browser.close()


def _pin(page: Page, expert: str) -> None:
    page.locator("#expert input").click()
    page.get_by_role("option").filter(has_text=expert).click()


if __name__ == "__main__":
    main()
