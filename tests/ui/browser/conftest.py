"""A page and a browser for all tests of a module; each test has its own Client and its own tab."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import new_context, open_browser
from tests.ui.browser.running import RunningPage, page_running
from tests.ui.scripted import ScriptedClient
from ui.client import Client

OpenTab = Callable[..., Page]


class Connecting:
    """Gives every tab the Client that the test under way prepared, or one of its own from `make`."""

    def __init__(self) -> None:
        self.make: Callable[[], Client] = ScriptedClient

    def __call__(self) -> Client:
        return self.make()


@pytest.fixture(scope="module")
def connecting() -> Connecting:
    return Connecting()


@pytest.fixture(scope="module")
def browser(served: RunningPage) -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def served(connecting: Connecting, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPage]:
    home: Path = tmp_path_factory.mktemp("page") / "home"
    with page_running(connecting, home) as page:
        yield page


@pytest.fixture
def client(connecting: Connecting) -> ScriptedClient:
    """The Client of every tab that this test opens."""
    scripted = ScriptedClient()
    connecting.make = lambda: scripted
    return scripted


@pytest.fixture
def complaints() -> list[str]:
    """What the scripts and the browser complain of; what is left of it at the end of a test fails it."""
    return []


@pytest.fixture
def open_tab(served: RunningPage, browser: Browser, complaints: list[str]) -> Iterator[OpenTab]:
    """`open_tab("zh", width=390)`: a tab that is logged in and ready; with `beside`, one of the same browser."""
    contexts = []

    def open_one(language: str = "en", width: int = 1280, height: int = 800, beside: Page | None = None) -> Page:
        context = beside.context if beside else new_context(browser, language, width, height)
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(15_000)
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        tab.goto(served.url if beside else served.login_url)
        tab.wait_for_url(f"**/{language}/")
        tab.get_by_role("button", name={"en": "Send", "zh": "发送"}[language], exact=True).wait_for()
        tab.locator(".history p, .history li").first.wait_for()
        return tab

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []
