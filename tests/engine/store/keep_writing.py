"""A process that writes turns until it is killed, and says on standard output what it has committed.

Run as `python -m tests.engine.store.keep_writing DATABASE`. One line per commit: turn id, state.
"""

import itertools
import sys
from pathlib import Path

from engine.store import Store
from engine.values import Answer, Epoch, Segment


def main(database_path: Path) -> None:
    store = Store.open(database_path)
    print("open", flush=True)
    first = store.open_turn("开始 begin", conversation_id=None, parent_turn_id=None, profile="starter")
    epoch = Epoch(store.new_epoch_id(), first.conversation_id, "L0", 0, (1, 2, 3), "base", "h1", "first")
    store.begin_epoch(epoch)
    parent = first
    for number in itertools.count():
        turn = store.open_turn(
            f"第 {number} 轮 " + "text " * 200,
            conversation_id=first.conversation_id,
            parent_turn_id=parent.turn_id,
            profile="starter",
        )
        print(turn.turn_id, "running", flush=True)
        segment = Segment(turn.turn_id, epoch.epoch_id, tuple(range(2000)))
        store.close_turn(Answer(turn.turn_id, "answered", "answer " * 100, None, segments=(segment,)))
        print(turn.turn_id, "answered", flush=True)
        parent = turn


if __name__ == "__main__":
    main(Path(sys.argv[1]))
