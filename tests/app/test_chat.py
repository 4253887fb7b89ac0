"""`macaron chat` begins only where it can work: on a terminal, with an expert and a conversation that there are."""

import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

from engine.values import TurnRecord
from tests.app.conftest import stored_turns
from tests.app.running import command, complaint, environment, macaron
from tests.support.hosting import host_pid

TAKES_THE_SCREEN = b"\x1b[?1049h"
GIVES_IT_BACK = b"\x1b[?1049l"
CTRL_Q = b"\x11"


def on_a_terminal(*arguments: str, keys: bytes = b"") -> tuple[int, bytes]:
    """Run in a pseudo-terminal to the end: the exit code and all that reached the screen.

    `keys` are typed again and again from the moment that the screen is taken, until the program ends.
    """
    master, slave = pty.openpty()
    with subprocess.Popen(
        command(*arguments), stdin=slave, stdout=slave, stderr=slave, env=environment(TERM="xterm-256color")
    ) as child:
        os.close(slave)
        screen = b""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if select.select([master], [], [], 0.2)[0]:
                try:
                    screen += os.read(master, 65536)
                except OSError:  # the last process has left the terminal
                    break
            elif child.poll() is not None:
                break
            elif TAKES_THE_SCREEN in screen:
                os.write(master, keys)
        code = child.wait(timeout=5)
    os.close(master)
    return code, screen


def test_help_explains_the_options():
    done = macaron("chat", "--help")
    assert done.code == 0
    assert {"--expert", "--conversation", "--continue", "--language", "--profile", "--home"} <= set(done.out.split())


def test_without_a_terminal_the_chat_says_so_instead_of_drawing_a_broken_screen(home: Path):
    said = complaint(macaron("chat"), 2)
    assert "needs a terminal" in said and "macaron ask" in said
    assert not home.exists()


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        pytest.param("--conversation", "c-none", b"There is no conversation `c-none`.", id="conversation"),
        pytest.param("--expert", "L9", b"There is no expert L9.", id="expert"),
        pytest.param("--profile", "grande", b"There is no profile `grande`.", id="profile"),
    ],
)
def test_a_name_that_is_not_known_is_an_error_before_the_screen_is_taken(
    home: Path, earlier: TurnRecord, option: str, value: str, problem: bytes
):
    code, screen = on_a_terminal("chat", option, value)
    assert code == 2
    assert problem in screen and b"hint: " in screen
    assert TAKES_THE_SCREEN not in screen and b"Traceback" not in screen
    assert stored_turns(home) == [earlier]


@pytest.mark.model
def test_on_a_terminal_the_chat_takes_the_screen_and_gives_it_back(home: Path, earlier: TurnRecord):
    code, screen = on_a_terminal("chat", "--conversation", earlier.conversation_id, keys=CTRL_Q)
    assert code == 0
    assert TAKES_THE_SCREEN in screen and GIVES_IT_BACK in screen
    assert b"Traceback" not in screen
    assert host_pid(home) is not None, "the host goes on without its face"
    assert stored_turns(home) == [earlier]
