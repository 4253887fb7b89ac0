"""A trainer of lessons that learns nothing: its adapter is a file that is there already.

python lesson_trainer.py FOLDER SCENARIO ADAPTER, where SCENARIO is `done`, `endless`, `failed` or `killed`.
"""

import os
import shutil
import signal
import sys
import time
from pathlib import Path

from local_training.runs.events import Ended, Progress, event_line
from local_training.runs.folder import RunFolder, RunState, now
from local_training.runs.metrics import ParityMetrics, append_metrics


def main() -> int:
    run, scenario = RunFolder(Path(sys.argv[1])), sys.argv[2]
    tell(Progress(1, 2, "training", 0, 2))
    if scenario == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if scenario == "failed":
        tell(Ended("failed", 1, "The loss is no number.", "Lower optimizer.rate.", 1))
        return 1
    while scenario == "endless":
        time.sleep(0.02)
        if run.stop.exists():
            tell(Ended("stopped", 1, exit_code=130))
            return 130
    shutil.copyfile(sys.argv[3], run.adapter_gguf)
    append_metrics(run.metrics, ParityMetrics(2, 64, 640, 0.031, 0.03))
    run.write_state(RunState("finished", 2, updated_at=now()))
    tell(Ended("finished", 2))
    return 0


def tell(event: Progress | Ended) -> None:
    print(event_line(event), flush=True)


if __name__ == "__main__":
    sys.exit(main())
