"""A program whose turn waits for an approval, for tests that kill it: `python -m tests.support.waiting_turn FOLDER`.

Real queue, store and tools for files; the model is scripted. Prints `waiting` once it is asked, and ends only by force.
"""

import sys
from pathlib import Path

from app.host.queue import WorkQueue
from engine.events import ApprovalAsked
from engine.harness.builtin.files.grants import Grant
from engine.harness.builtin.files.toolbox import FileToolbox
from engine.store import Store
from tests.support.hands import TestHands, call_text
from tests.support.talking import Talk


def files_of(folder: Path) -> FileToolbox:
    (folder / "granted").mkdir(exist_ok=True)
    return FileToolbox([Grant(folder / "granted", "write")], folder / "undo")


def main(folder: Path) -> None:
    talk = Talk(Store.open(folder / "macaron.db"), hands=TestHands([files_of(folder)]))
    talk.runtime.will_say(call_text("write_file", path="granted/a.txt", text="written"))
    queue = WorkQueue()
    job = queue.submit("faces", lambda stop: talk.agent.turn("Write a file.", expert="L1", stop=stop))
    told = 0
    while True:
        if any(isinstance(item, ApprovalAsked) for item in job.items[told:]):
            print("waiting", flush=True)
            told = len(job.items)
        job.wait(0.05)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
