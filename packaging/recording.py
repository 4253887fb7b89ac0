"""Record the program in a real terminal: a whole lesson, with questions, better answers, `macaron teach` and what it
changed; or a fact that is told in one conversation and known in the next.

Run by path in an environment that has the project, with tmux: `python packaging/recording.py --scene lesson`, which
takes about ten minutes, or `--scene memory`. Works in a home of its own, and writes an asciicast (version 2), which
`asciinema play` shows. Waits are cut short.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COLUMNS, ROWS = 110, 34
LOOK_S = 0.4
"""Between two looks at the screen."""
LONGEST_PAUSE_S = 1.5
"""In the recording, whatever it was."""
ANSWER_S, LESSON_S = 120.0, 1500.0
CORRECTIONS = (
    ("What is a good soup for winter?", "Mira, a pumpkin soup is warm and filling."),
    ("How do I clean a window?", "Mira, use water with a little vinegar."),
    ("Why do cats sleep so much?", "Mira, they save energy for hunting."),
    ("What is the capital of Austria?", "Mira, the capital is Vienna."),
    ("How do I start knitting?", "Mira, begin with a simple scarf."),
    ("Suggest a film for tonight.", "Mira, try an old comedy."),
    ("What colour is a ripe banana?", "Mira, a ripe banana is yellow."),
    ("How many minutes are in an hour?", "Mira, there are 60 minutes in an hour."),
)
AFTERWARDS = "What is a good name for a small boat?"
FACT = "I love coffee with oat milk."
ASKED_LATER = "What did I tell you about coffee?"


@dataclass
class Recording:
    """Screens, each from the moment it was first seen."""

    tmux: Sequence[str]
    events: list[tuple[float, str]] = field(default_factory=list)
    _shown: str = ""
    _time_s: float = 0.0
    _looked: float = field(default_factory=time.monotonic)

    def look(self) -> str:
        """The screen now, as text; kept when it changed."""
        coloured = run(self.tmux, "capture-pane", "-p", "-e")
        now = time.monotonic()
        if coloured != self._shown:
            self._time_s += min(now - self._looked, LONGEST_PAUSE_S)
            self._looked, self._shown = now, coloured
            self.events.append((self._time_s, "\x1b[H\x1b[2J" + coloured.rstrip("\n").replace("\n", "\r\n")))
        return run(self.tmux, "capture-pane", "-p")

    def type(self, line: str) -> None:
        run(self.tmux, "send-keys", "-l", line)
        self.look()
        run(self.tmux, "send-keys", "Enter")

    def wait_for(self, text: str, limit_s: float) -> str:
        """Raises: TimeoutError with the last screen."""
        deadline = time.monotonic() + limit_s
        while text not in (screen := self.look()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited for {text!r} in vain; on screen:\n{screen}")
            time.sleep(LOOK_S)
        return screen

    def command(self, line: str, limit_s: float) -> None:
        """Type a command and wait until the prompt is back."""
        run(self.tmux, "send-keys", "C-l")
        time.sleep(LOOK_S)
        self.type(line)
        deadline = time.monotonic() + limit_s
        while not self.look().rstrip().endswith("\n$") and time.monotonic() < deadline:
            time.sleep(LOOK_S)

    def write(self, target: Path, title: str) -> None:
        header: dict[str, Any] = {"version": 2, "width": COLUMNS, "height": ROWS, "title": title}
        lines = [json.dumps(header), *(json.dumps([round(at, 2), "o", text]) for at, text in self.events)]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(tmux: Sequence[str], *arguments: str) -> str:
    return subprocess.run([*tmux, *arguments], capture_output=True, check=True, text=True).stdout


def record_lesson(minutes: float, recording: Recording) -> None:
    for question, answer in CORRECTIONS:
        recording.command(f"macaron ask {shlex.quote(question)}", ANSWER_S)
        recording.command(f"macaron signals add {shlex.quote(answer)}", ANSWER_S)
    run(recording.tmux, "send-keys", "C-l")
    recording.type(f"macaron teach --minutes {minutes:g}")
    recording.wait_for("Learn this?", ANSWER_S)
    recording.type("y")
    screen = recording.wait_for("It took", LESSON_S)
    time.sleep(2 * LOOK_S)
    if "from now on?" in recording.look():
        recording.type("y")
        recording.wait_for("next turn on", ANSWER_S)
        recording.command(f"macaron ask {shlex.quote(AFTERWARDS)}", ANSWER_S)
        recording.command("macaron teach --undo", ANSWER_S)
    recording.command("macaron teach --list", ANSWER_S)
    print(screen)


def record_memory(recording: Recording) -> None:
    """Every `macaron ask` is a conversation of its own. Raises: SystemExit where the answer does not know the fact."""
    recording.command(f"macaron ask {shlex.quote(FACT)}", ANSWER_S)
    recording.command("macaron memory list", ANSWER_S)
    recording.command(f"macaron ask {shlex.quote(ASKED_LATER)}", ANSWER_S)
    screen = recording.look()
    print(screen)
    answer = screen.partition(ASKED_LATER)[2].partition("In mind")[0]
    if "oat milk" not in answer:
        raise SystemExit("The answer does not say what was told.")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Record a lesson in tmux as an asciicast.")
    parser.add_argument("--scene", choices=["lesson", "memory"], default="lesson")
    parser.add_argument("--out", type=Path, help="default: recordings/SCENE.cast beside this file")
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args(arguments)
    target = options.out or Path(__file__).parent / "recordings" / f"{options.scene}.cast"
    with tempfile.TemporaryDirectory(prefix="recording-") as folder:
        tmux = ["tmux", "-u", "-f", "/dev/null", "-S", str(Path(folder, "socket"))]
        # By its own name, so that no path of the machine is on the screen.
        program = Path(folder, "macaron")
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m app "$@"\n', encoding="utf-8")
        program.chmod(0o700)
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
            "PATH": os.pathsep.join((folder, os.environ.get("PATH", ""))),
            "MACARON_HOME": str(Path(folder, "home")),
        }
        shell = "PS1='$ ' exec bash --norc --noprofile"
        subprocess.run(
            [*tmux, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), shell], check=True, env=environment
        )
        recording = Recording(tmux)
        try:
            if options.scene == "lesson":
                record_lesson(options.minutes, recording)
            else:
                record_memory(recording)
            recording.command("macaron serve --stop", ANSWER_S)
        finally:
            run(tmux, "kill-server")
    recording.write(target, f"macaron: {options.scene}")
    print(target)


if __name__ == "__main__":
    main()
