"""A process that holds a scripted conversation until it is killed, and logs what it was told is committed.

Run as `python -m tests.app.talking HOME PROFILE LOG`. One line of JSON per committed event, on the disk before the next
event is pulled. Goes on in the newest conversation while that is short, so that it also continues after a kill.
"""

import itertools
import json
import os
import sys
from pathlib import Path
from typing import TextIO

from app.paths import find_home
from app.wiring import open_client
from engine.events import TurnClosed, TurnEvent, TurnOpened
from ui.client import Client

TURNS_OF_A_CONVERSATION = 5
SCRIPT = (
    "@L0 What is the capital of France?",
    "@L2 Write a Python function that reverses a string.",
    "推荐一种咖啡。",
    "@L1 Remind me to buy milk tomorrow.",
    "你刚才说了什么？Say it in English.",
)


def main(home: str, profile: str, log_path: Path) -> None:
    with log_path.open("a", encoding="utf-8") as log, open_client(find_home(home, {}), profile) as opened:
        write(log, {"event": "ready"})
        for text in itertools.cycle(SCRIPT):
            for event in opened.client.ask(text, conversation_id=conversation_to_continue(opened.client)):
                if entry := entry_of(event):
                    write(log, entry)


def conversation_to_continue(client: Client) -> str | None:
    newest = client.conversations(limit=1)
    return newest[0].conversation_id if newest and newest[0].turn_count < TURNS_OF_A_CONVERSATION else None


def entry_of(event: TurnEvent) -> dict[str, str] | None:
    match event:
        case TurnOpened(turn_id=turn_id, user_text=text):
            return {"event": "opened", "turn_id": turn_id, "text": text}
        case TurnClosed(turn_id=turn_id, state=state, text=text):
            return {"event": "closed", "turn_id": turn_id, "state": state, "text": text}
        case _:
            return None


def write(log: TextIO, entry: dict[str, str]) -> None:
    log.write(json.dumps(entry) + "\n")
    log.flush()
    os.fsync(log.fileno())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
