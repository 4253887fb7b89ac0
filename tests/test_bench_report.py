"""What benchmarks print: one object that a program can read, or a table that a person can."""

import json
from typing import Any

import pytest

from tests.bench.report import Figure, Goal, Report, arguments, is_met, middle, missing, show, to_json, to_text, worst

SPEED = Goal("decode_ratio", "ours/theirs", ">=0.97")
MEMORY = Goal("rss_ratio", "ours/theirs", "<=1.1")
SWITCH = Goal("whole_turn_switch_ms", "ms", "reported with its summary")


@pytest.fixture
def report() -> Report:
    return Report(
        "engine",
        [(SPEED, middle([0.98, 1.01, 0.99])), (MEMORY, missing("There is no server to compare with."))],
        {"Decoding": [{"side": "ours", "median": 61.23456}, {"side": "theirs", "median": 60.0}]},
        ("numpy",),
        {"load_before": 0.5},
    )


@pytest.mark.parametrize(
    ("goal", "value", "met"),
    [
        (">=0.97", 0.97, True),
        (">=0.97", 0.969, False),
        ("<=1.1", 1.1, True),
        ("<=1.1", 1.11, False),
        (">5", 5.0, False),
        ("<10", 9.9, True),
        ("reported with its summary", 4000.0, True),
        ("reported with its summary", None, False),
        (">=0.97", None, False),
    ],
)
def test_a_goal_is_met_by_what_its_own_words_ask_for(goal: str, value: float | None, met: bool) -> None:
    assert is_met(goal, value) is met


@pytest.mark.parametrize("goal", ["about 3", "", "=>5", ">= five"])
def test_a_goal_that_cannot_be_judged_is_refused(goal: str) -> None:
    with pytest.raises(ValueError, match="limit"):
        is_met(goal, 1.0)


def test_several_runs_become_their_median_with_its_spread() -> None:
    assert middle([3.0, 1.0, 8.0, 2.0, 4.0]) == Figure(3.0, 5, (1.0, 8.0))


@pytest.mark.parametrize(("goal", "expected"), [(SPEED, 0.9), (MEMORY, 1.2), (SWITCH, 1.2)])
def test_the_worst_figure_is_the_one_furthest_from_its_goal(goal: Goal, expected: float) -> None:
    assert worst([Figure(1.2), Figure(0.9), Figure(1.0)], goal.goal).value == expected


def test_a_figure_that_is_missing_is_worse_than_any_other() -> None:
    assert worst([Figure(0.5), missing("no cmake")], SPEED.goal).reason == "no cmake"


def test_the_last_line_is_one_json_object_with_an_entry_per_goal(
    report: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    print("a library that talks")
    show(report, as_json=True)

    printed: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])

    assert list(printed) == ["bench", "machine", "versions", "goals", "tables"]
    assert printed["bench"] == "engine"
    assert printed["machine"]["cores"] >= 1
    assert printed["machine"]["load_before"] == 0.5
    assert set(printed["versions"]) == {"python", "numpy"}
    assert printed["goals"][0] == {
        "id": "decode_ratio",
        "value": 0.99,
        "unit": "ours/theirs",
        "goal": ">=0.97",
        "met": True,
        "runs": 3,
        "spread": [0.98, 1.01],
    }
    assert printed["tables"]["Decoding"][0] == {"side": "ours", "median": 61.23}


def test_a_figure_that_could_not_be_taken_is_null_and_says_why(report: Report) -> None:
    (_, memory) = to_json(report)["goals"]
    assert memory["value"] is None
    assert memory["spread"] is None
    assert memory["met"] is False
    assert memory["reason"] == "There is no server to compare with."


def test_a_person_gets_the_same_as_aligned_columns(report: Report) -> None:
    lines = to_text(report).splitlines()
    header = next(line for line in lines if line.startswith("goal"))
    decode = next(line for line in lines if line.startswith("decode_ratio"))
    assert decode[header.index("value") :].startswith("0.99 ")
    assert decode[header.index("met") :].startswith("yes")
    assert decode[header.index("spread") :] == "0.98 to 1.01"
    assert any("There is no server to compare with." in line for line in lines)
    assert lines[lines.index("Decoding") + 1 :] == ["side    median", "ours    61.23", "theirs  60.0"]


def test_every_benchmark_takes_the_same_options() -> None:
    options = arguments("engine", "Ours against theirs.").parse_args(["--json", "--seed", "3"])
    assert (options.json, options.quick, options.seed) == (True, False, 3)
