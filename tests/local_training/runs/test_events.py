"""What a trainer says on its standard output, and what is made of what others say there."""

import json

import pytest

from local_training.runs.events import Ended, Progress, event_line, read_event
from local_training.runs.metrics import EvaluationMetrics, Note, StepMetrics

EVENTS = [
    Progress(3, 20, "sampling", 7, 48, "第 2 波"),
    Ended("failed", 3, "The disk is full.", "Free some space.", 1),
    StepMetrics(3, 41.5, 0.7, 1.2, 1e-4, reward=0.5, groups_kept=4, groups_drawn=6),
    EvaluationMetrics(3, 12.0, 200, accuracy=0.55),
    Note(3, "Memory ran short; a graph now holds 1,024 tokens."),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_every_event_is_one_line_and_comes_back(event):
    line = event_line(event)
    assert "\n" not in line
    assert read_event(line + "\n") == event


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("", id="nothing"),
        pytest.param("Loading weights: 100%|#####| 3/3", id="what a library prints"),
        pytest.param("17", id="a number"),
        pytest.param('{"level": "info"}', id="an object of others"),
        pytest.param('{"kind": "progress"}', id="too little"),
        pytest.param('{"kind": ["progress"]}', id="a kind that is a list"),
        pytest.param(event_line(EVENTS[0]).replace('"sampling"', '"resting"'), id="an activity that there is not"),
        pytest.param(event_line(EVENTS[0]).replace('"step": 3', '"step": "3"'), id="a text for a number"),
        pytest.param(event_line(EVENTS[1]).replace('"failed"', '"broken"'), id="a state that there is not"),
        pytest.param(event_line(EVENTS[2])[:-9], id="half an event"),
    ],
)
def test_other_lines_are_no_events(line):
    assert read_event(line) is None


def test_half_characters_of_a_strange_path_do_not_keep_an_event_from_being_printed():
    ended = Ended("failed", 0, "caf\udce9.gguf cannot be read.")
    assert read_event(event_line(ended).encode("utf-8").decode("utf-8")) == ended


def test_what_a_number_is_not_is_never_said():
    with pytest.raises(ValueError, match="not JSON compliant"):
        event_line(StepMetrics(1, 1.0, float("nan"), 1.0, 1e-4))
    assert json.loads(event_line(StepMetrics(1, 1.0, 0.0, 1.0, 1e-4)))["reward"] is None
