"""From the traces of a turn to what is credited for it."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.values import Trace
from local_training.trajectory import Trajectory, TrajectorySegment, from_traces
from tests.support.talking import open_talk, stack_of

CALL = Trace("t", "answer", "L1", (1, 2), (3, 4), stack_of("L1"), "base", "harness", logprobs=(-0.5, -1.5))
ANSWER = replace(CALL, prompt=(1, 2, 3, 4, 5), completion=(6,), logprobs=(-0.25,))


def test_every_step_of_a_turn_becomes_a_segment_in_the_order_it_was_written():
    assert from_traces([CALL, ANSWER]) == Trajectory(
        (
            TrajectorySegment((1, 2), (3, 4), (-0.5, -1.5), stack_of("L1")),
            TrajectorySegment((1, 2, 3, 4, 5), (6,), (-0.25,), stack_of("L1")),
        )
    )


def test_all_that_the_model_wrote_is_counted_and_nothing_is_rewarded_yet():
    trajectory = from_traces([CALL, ANSWER])
    assert (trajectory.completion_tokens, trajectory.reward, trajectory.advantage) == (3, None, None)


@pytest.mark.parametrize("logprobs", [None, (), (-0.5,), (-0.5, -1.0, -1.5)], ids=["none", "empty", "short", "long"])
def test_a_trace_without_a_log_probability_per_token_is_refused(logprobs):
    with pytest.raises(ValueError, match="trace of turn t "):
        from_traces([ANSWER, replace(CALL, logprobs=logprobs)])


def test_traces_of_everyday_turns_have_no_log_probabilities_and_are_refused(tmp_path: Path):
    with open_talk(tmp_path) as talk:
        turn = talk.say("Hello.", "L0")
        with pytest.raises(ValueError):
            from_traces(talk.store.traces(turn.turn_id))


def test_a_trajectory_survives_the_store(tmp_path: Path):
    with open_talk(tmp_path) as talk:
        turn = talk.say("Hello.", "L1")
        trace = talk.trace(turn)
        logprobs = (-0.5,) * len(trace.completion)
        talk.store.save_summary(turn.turn_id, "Said hello.", "L1", replace(trace, kind="summary", logprobs=logprobs))
        trajectory = from_traces([talk.trace(turn, "summary")])
        assert trajectory.segments == (TrajectorySegment(trace.prompt, trace.completion, logprobs, stack_of("L1")),)
