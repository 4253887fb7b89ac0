"""A pull in a process of its own, to be killed: python -m tests.app.models.pulling_process HOME ENDPOINT [LIMIT].

With LIMIT, no file may grow beyond that many bytes.
"""

import resource
import sys
from pathlib import Path

from app.models.fit import Machine
from app.paths import Paths
from engine.errors import AgentError
from tests.app.models.pulls import Puller


def main() -> int:
    home, endpoint, *limit = sys.argv[1:]
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit[0]), int(limit[0])))
    try:
        Puller(Paths(Path(home)), endpoint, Machine(16 * 10**9, 12 * 10**9))()
    except AgentError as error:
        print(type(error).__name__, error.problem, error.hint, sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
