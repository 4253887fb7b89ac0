"""A real browser for tests: the installed Chromium, driven by Playwright, that finds no host but this machine.

    with open_page() as page:
        page.goto(address)

Skips the test where Chromium is missing. Downloads no browser.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.support.requirements import require_program

FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LOCALES: Final = {"en": "en-GB", "zh": "zh-CN"}


@contextmanager
def open_browser(*flags: str, names: Sequence[str] = ()) -> Iterator[Browser]:
    """Chromium with `flags` besides the usual ones; `names`, such as "evil.test", lead to 127.0.0.1, others nowhere."""
    path = require_program("chromium")
    mapped = [f"MAP {name} 127.0.0.1" for name in names]
    rules = [*mapped, "MAP * ~NOTFOUND", "EXCLUDE localhost", "EXCLUDE 127.0.0.1", "EXCLUDE [::1]"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=[*FLAGS, f"--host-resolver-rules={','.join(rules)}", *flags]
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(
    *flags: str, names: Sequence[str] = (), language: str = "en", width: int = 1280, height: int = 800
) -> Iterator[Page]:
    """One tab of a fresh profile whose user reads "en" or "zh"."""
    with open_browser(*flags, names=names) as browser:
        yield new_context(browser, language, width, height).new_page()


def new_context(browser: Browser, language: str = "en", width: int = 1280, height: int = 800) -> BrowserContext:
    """A profile of its own, with no cookies, in a browser that is already open."""
    return browser.new_context(locale=LOCALES[language], viewport={"width": width, "height": height})


def watch_hosts(page: Page) -> set[str]:
    """The hosts (with port) that the page asks from now on; the set grows as it does."""
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    return hosts
