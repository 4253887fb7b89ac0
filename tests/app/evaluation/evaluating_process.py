"""`macaron eval` with a small suite and an endless one in the place of the shipped ones, for tests that stop it."""

import sys

import app.evaluation.running as running
from app.cli.main import main
from tests.support.evaluating import choices

ENDLESS = 50_000

if __name__ == "__main__":
    running.shipped_suites = lambda: (choices(count=1), choices("endless", count=ENDLESS))  # type: ignore[assignment]
    sys.argv = ["macaron", "eval", *sys.argv[1:]]
    main()
