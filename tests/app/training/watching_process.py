"""A run that is watched in a process of its own, to get signals: python -m tests.app.training.watching_process.

Takes RUN SCENARIO [--json], and does what `macaron train resume` does with the scripted trainer.
"""

import os
import sys
from pathlib import Path

from app.output import print_error, write_utf8
from app.paths import find_home
from app.training.running import resume_run
from engine.errors import AgentError
from tests.app.training.samples import scripted


def main() -> int:
    name, scenario, *options = sys.argv[1:]
    write_utf8()
    as_json = "--json" in options
    try:
        return resume_run(
            find_home(None, os.environ), os.environ, Path(name), as_json=as_json, trainer=scripted(scenario)
        )
    except AgentError as error:
        print_error(error.problem, error.hint, as_json=as_json)
        return error.exit_code
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
