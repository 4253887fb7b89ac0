"""kill -9 of the host at many moments while a terminal chat and a page are open: both say so, go on, and lose nothing.

Everything is real: the chat in tmux, the page in Chromium, the host and the starter. `-m slow` runs twenty moments.
"""

import random
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page

from app.opening import open_store
from app.paths import Paths
from app.remote_client import connect
from engine.values import TurnRecord
from tests.app.running import start
from tests.support.browser import open_page
from tests.support.hosting import end_host, host_pid, kill_host
from tests.support.terminal import Terminal, open_terminal

pytestmark = pytest.mark.model

QUESTION = "Write a long story about a river and its bridges, number {number} of {face}."
WAIT_S = 60.0
INTERRUPTED = {"en": "interrupted before the answer was complete", "zh": "回答完成前被中断"}


class ChatFace:
    """`macaron chat` in a terminal."""

    def __init__(self, terminal: Terminal, language: str) -> None:
        self._terminal = terminal
        self.language = language
        terminal.type(shlex.join([sys.executable, "-m", "app", "chat", "--language", language]))
        terminal.press("Enter")
        terminal.wait_for_text("│", WAIT_S)
        time.sleep(1)

    def send(self, text: str) -> None:
        self._terminal.type(text)
        self._terminal.press("Enter")

    def said(self) -> str:
        return self._terminal.screen()

    def stop(self) -> None:
        self._terminal.press("Escape")


class PageFace:
    """`macaron web` in a browser."""

    def __init__(self, page: Page, language: str) -> None:
        self._page = page
        self.language = language

    def send(self, text: str) -> None:
        box = self._page.locator("textarea[data-part=text]")
        box.fill(text)
        box.press("Enter")

    def said(self) -> str:
        box = self._page.locator("textarea[data-part=text]")
        return f"{self._page.locator('body').inner_text()}\n[{box.input_value()}]"

    def stop(self) -> None:
        self._page.keyboard.press("Escape")


@contextmanager
def open_faces(tmux: str, language: str) -> Iterator[tuple[ChatFace, PageFace]]:
    with (
        open_terminal(tmux) as terminal,
        running(start("web", "--no-browser", "--language", language)) as web,
        open_page(language=language) as page,
    ):
        page.set_default_timeout(WAIT_S * 1000)
        page.goto(address_of(web))
        page.locator("textarea[data-part=text]").wait_for()
        yield ChatFace(terminal, language), PageFace(page, language)


@contextmanager
def running(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is ended whatever happens."""
    with process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def address_of(web: subprocess.Popen[bytes]) -> str:
    """With a ticket, as `macaron web --no-browser` prints it."""
    assert web.stdout is not None
    (address,) = re.findall(r"http://\S+", web.stdout.readline().decode())
    return str(address)


def wait_until_said(face: ChatFace | PageFace, words: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while words not in (said := face.said()):
        assert time.monotonic() < deadline, f"{type(face).__name__} never says {words!r}; it says:\n{said}"
        time.sleep(0.1)


def state_of(text: str, home: Path, wanted: Sequence[str], face: ChatFace | PageFace) -> str:
    """The state of the newest turn with this message, as another client sees it, once it is one of those `wanted`."""
    deadline = time.monotonic() + WAIT_S
    with closing(connect(Paths(home))) as other:
        while True:
            turns = [turn for found in other.conversations(limit=4) for turn in other.path(found.conversation_id)]
            states = [turn.state for turn in turns if turn.user_text == text and turn.state in wanted]
            if states:
                return states[0]
            assert time.monotonic() < deadline, f"{type(face).__name__} does not go on; it says:\n{face.said()}"
            time.sleep(0.1)


def texts_of(home: Path) -> dict[str, TurnRecord]:
    """Every message in the store, of whatever branch."""
    with open_store(Paths(home)) as store:
        assert store.integrity() == "ok"
        conversations = store.conversations(limit=1000)
        return {t.user_text: t for c in conversations for t in store.tree(c.conversation_id)}


def lose_host_at(moments_s: list[float], tmux: str, language: str, home: Path) -> None:
    sent: list[str] = []
    interrupted = 0
    with open_faces(tmux, language) as faces:
        for number, moment_s in enumerate(moments_s):
            asking, other = faces if number % 2 else faces[::-1]
            text = QUESTION.format(number=number, face=type(asking).__name__)
            asking.send(f"@L0 {text}")
            time.sleep(moment_s)
            kill_host(home)
            # One that was killed before it had told of the turn leaves it to the next host, which answers it.
            state = state_of(text, home, ("interrupted", "running", "answered"), asking)
            if state == "interrupted":
                interrupted += 1
                wait_until_said(asking, INTERRUPTED[language])
            asking.stop()
            sent.append(text)
            for face in (other, asking):
                hello = f"Say hello {number} to {type(face).__name__}."
                time.sleep(0.5)
                face.send(f"@L0 {hello}")
                state_of(hello, home, ("answered",), face)
                sent.append(hello)
            time.sleep(0.5)
        assert interrupted >= len(moments_s) // 2, "few moments fell into a turn, so little was tried"
    end_host(home)
    kept = texts_of(home)
    assert [text for text in sent if text not in kept] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_faces_whose_host_is_killed_say_so_and_go_on(
    home: Path, language: str, require_program: Callable[[str], str]
) -> None:
    lose_host_at([0.3, 1.2], require_program("tmux"), language, home)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_no_message_is_lost_when_the_host_is_killed_at_twenty_moments(
    home: Path, require_program: Callable[[str], str]
) -> None:
    draw = random.Random(4)
    lose_host_at([draw.uniform(0.0, 1.6) for _ in range(20)], require_program("tmux"), "en", home)
    assert host_pid(home) is None
