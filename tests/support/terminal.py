"""A real terminal for tests: a shell in a tmux server of its own, 80 by 24."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.app.running import environment


class Terminal:
    """A shell in a tmux server of its own. Keys go in, the screen comes out."""

    def __init__(self, tmux: str, socket: Path) -> None:
        self._tmux = [tmux, "-u", "-f", "/dev/null", "-S", str(socket)]
        self._run("new-session", "-d", "-x", "80", "-y", "24", "PS1='$ ' exec sh")

    def close(self) -> None:
        self._run("kill-server")

    def type(self, text: str) -> None:
        self._run("send-keys", "-l", text)

    def paste(self, text: str) -> None:
        """As a terminal does it: in brackets, so that a program can tell it from typing."""
        self._run("set-buffer", text)
        self._run("paste-buffer", "-p", "-r")

    def press(self, key: str) -> None:
        self._run("send-keys", key)

    def screen(self) -> str:
        return self._run("capture-pane", "-p")

    def modes(self) -> str:
        """Whether the alternate screen, mouse reports and the cursor are on, each 0 or 1."""
        return self._run("display-message", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}").strip()

    def title(self) -> str:
        return self._run("display-message", "-p", "#{pane_title}").strip()

    def cursor_column(self) -> int:
        return int(self._run("display-message", "-p", "#{cursor_x}"))

    def wait_for(self, is_true: Callable[[str], object], timeout_s: float) -> str:
        """The first screen of which `is_true`. Raises: AssertionError with the last one when there was none in time."""
        deadline = time.monotonic() + timeout_s
        while not is_true(screen := self.screen()):
            assert time.monotonic() < deadline, f"waited {timeout_s} s in vain; on screen:\n{screen}"
            time.sleep(0.05)
        return screen

    def wait_for_text(self, text: str, timeout_s: float) -> str:
        return self.wait_for(lambda screen: text in screen, timeout_s)

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._tmux, *arguments],
            capture_output=True,
            check=True,
            timeout=10,
            env=environment(TERM="xterm-256color"),
        )
        return done.stdout.decode("utf-8")


@contextmanager
def open_terminal(tmux: str) -> Iterator[Terminal]:
    """`tmux` is the path of the program."""
    # Not the test's own folder: the path of a socket may have about a hundred characters.
    with TemporaryDirectory(prefix="tmux-") as folder:
        terminal = Terminal(tmux, Path(folder, "socket"))
        try:
            yield terminal
        finally:
            terminal.close()
