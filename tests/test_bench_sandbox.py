"""The benchmark of the sandbox at its smallest, and what it says where there is none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.harness.sandbox import working_sandbox
from tests.bench import report, sandbox
from tests.bench.sandbox import BLOCKS, GOALS, Round
from tests.support.requirements import require_program, unavailable

ROOT = Path(__file__).parents[1]


def some_round(start_ms: float) -> Round:
    return Round(start_ms, 9.0, {kind: [1.0, 2.0, 3.0] for kind in BLOCKS})


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
def test_with_json_the_last_line_has_every_goal_with_a_value_and_both_tables():
    require_program("bwrap")
    if working_sandbox() is None:
        unavailable("bubblewrap is installed and does not work; `macaron doctor` tells why.")
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.sandbox", "--json", "--quick"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    plain = json.loads(done.stdout.splitlines()[-1])
    assert plain["bench"] == "sandbox"
    assert [(goal["id"], goal["goal"]) for goal in plain["goals"]] == [("block_ms", "<=20"), ("start_ms", "<=300")]
    assert all(goal["value"] > 0 and goal["runs"] >= 3 for goal in plain["goals"])
    assert len(plain["tables"]["starts"]) == 3
    assert [row["block"] for row in plain["tables"]["blocks by kind"]] == list(BLOCKS)


def test_the_figures_are_medians_over_all_rounds():
    plain = report.to_json(sandbox.report([some_round(100.0), some_round(300.0), some_round(200.0)]))
    assert [goal["value"] for goal in plain["goals"]] == [2.0, 200.0]
    assert [goal["met"] for goal in plain["goals"]] == [True, True]
    assert plain["goals"][1]["spread"] == [100.0, 300.0]


def test_without_a_sandbox_no_figure_is_made_up():
    plain = report.to_json(sandbox.report([]))
    assert [goal["id"] for goal in plain["goals"]] == list(GOALS)
    assert all(goal["value"] is None and "no sandbox" in goal["reason"] for goal in plain["goals"])
