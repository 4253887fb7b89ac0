"""A process that writes at random until it is killed, and says on standard output what it has committed.

Run as `python -m tests.engine.store.keep_writing DATABASE SEED`. One line per commit: turn id, what, value.
"""

import itertools
import random
import sys
from pathlib import Path

from engine.store import Store
from engine.values import Answer, Attachment, Epoch, Segment

ANSWER = "answer " * 100
FILE = Attachment("file.txt", "文件 " + "file " * 100)


def main(database_path: Path, seed: int) -> None:
    choices = random.Random(seed)
    store = Store.open(database_path)
    print("open", flush=True)
    first = store.open_turn("开始 begin", conversation_id=None, parent_turn_id=None, profile="starter")
    epoch = Epoch(store.new_epoch_id(), first.conversation_id, "L0", 0, (1, 2, 3), "base", "h1", "first")
    store.begin_epoch(epoch)
    written = [first]
    for number in itertools.count():
        turn = store.open_turn(
            f"第 {number} 轮 " + "text " * choices.randrange(400),
            conversation_id=first.conversation_id,
            parent_turn_id=choices.choice(written[-3:]).turn_id,
            profile="starter",
            attachments=[FILE] * choices.randrange(2),
        )
        print(turn.turn_id, "state", "running", flush=True)
        segment = Segment(turn.turn_id, epoch.epoch_id, tuple(range(choices.randrange(4000))))
        store.close_turn(Answer(turn.turn_id, "answered", ANSWER, None, segments=(segment,)))
        print(turn.turn_id, "state", "answered", flush=True)
        written.append(turn)
        old = choices.choice(written)
        match choices.randrange(4):
            case 0:
                rating = choices.choice([-1, 1])
                store.rate(old.turn_id, rating)
                print(old.turn_id, "rating", rating, flush=True)
            case 1:
                store.save_summary(old.turn_id, f"summary {number}", "L0", None)
                print(old.turn_id, "summary", f"summary-{number}", flush=True)
            case 2:
                store.select(old.turn_id)
            case 3:
                store.rename(first.conversation_id, f"title {number}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
