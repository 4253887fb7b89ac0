"""A process that forgets a turn and is killed before a given step of what is left to do.

Run as `python -m tests.app.forgetting.forgetting_process HOME TURN STEP`; step 0 is the first one behind the
transaction of the store.
"""

import os
import signal
import sys
from pathlib import Path

from app.forgetting.forgetting import Forgetting
from app.opening import open_store
from app.paths import Paths
from engine.forgetting import Wanted
from engine.store.forgetting import Step


def main(home: str, turn_id: str, last: int) -> None:
    left = last

    def tell(_step: Step) -> None:
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    paths = Paths(Path(home))
    with open_store(paths) as store:
        Forgetting(paths, store).forget(Wanted(turn_id), tell)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
