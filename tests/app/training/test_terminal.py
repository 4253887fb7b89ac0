"""A run in a real terminal: its picture, and Ctrl+C, which reaches the watcher and not the trainer."""

import sys
from collections.abc import Callable
from pathlib import Path

from tests.app.running import wait_until
from tests.app.training.samples import make_run
from tests.app.training.scripted_trainer import ENDLESS
from tests.support.terminal import open_terminal

WAIT_S = 30.0


def test_ctrl_c_ends_the_picture_and_leaves_a_run_that_can_go_on(home: Path, require_program: Callable[[str], str]):
    run = make_run(home)
    with open_terminal(require_program("tmux")) as terminal:
        terminal.type(f"{sys.executable} -m tests.app.training.watching_process first steps-{ENDLESS}; echo code $?")
        terminal.press("Enter")
        shown = terminal.wait_for_text("KL on target", WAIT_S)
        assert f"/{ENDLESS}" in shown and "sampling 3/8" in shown and "left" in shown
        terminal.press("C-c")
        terminal.wait_for_text("code 130", WAIT_S)
        screen = terminal.screen()
    assert "macaron train resume first" in screen
    assert "sampling 3/8" not in screen, "the picture goes with the run"
    wait_until(lambda: run.read_state().state == "stopped", "the trainer has said so")
