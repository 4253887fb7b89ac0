"""Stands in for `macaron teach`: `lesson_process.py SCENARIO NOTES OPTION…` tells a lesson, as the scenario says.

It writes its process id and its options to the file NOTES.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Final

TAUGHT: Final = {
    "kind": "taught",
    "lesson_id": "a-lesson",
    "expert": "L0",
    "decision": "passed",
    "adapter_hash": "ab" * 16,
    "items": 40,
    "right_after": 37,
    "reasons": ["It is better."],
    "compared": [{"prompt": "p", "before": "b", "after": "a", "follows_before": False, "follows_after": True}],
}
NOISE: Final = (
    b"",
    b"warning: something",
    b"\xff\xfe",
    b"[1, 2]",
    b'{"kind": "progress", "phase": "sleeping"}',
    b'{"kind": "taught", "decision": 7}',
    b'{"kind": "proposal"}',
)


def say(line: bytes) -> None:
    os.write(1, line + b"\n")


def progress(phase: str, done: int = 0) -> None:
    say(json.dumps({"kind": "progress", "phase": phase, "done": done, "total": 9, "seconds_left": 60}).encode())


def main() -> None:
    scenario, notes, *options = sys.argv[1:]
    Path(notes).write_text(json.dumps({"pid": os.getpid(), "options": options}), encoding="utf-8")
    match scenario:
        case "done":
            for line in NOISE:
                say(line)
            progress("training", 4)
            say(json.dumps(TAUGHT).encode())
        case "error":
            say(json.dumps({"error": {"problem": "It is held.", "hint": "Wait."}}).encode())
            sys.exit(1)
        case "killed":
            progress("training", 4)
            os.kill(os.getpid(), signal.SIGKILL)
        case "waits":
            progress("training", 4)
            sys.stdin.read()
            say(json.dumps({**TAUGHT, "decision": "stopped"}).encode())
        case "deaf":
            progress("training", 4)
            time.sleep(600)


if __name__ == "__main__":
    main()
