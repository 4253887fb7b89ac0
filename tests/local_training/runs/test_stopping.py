"""Rules that end a run: each names itself and its figure, and holds at its bound."""

import pytest

from local_training.runs.metrics import StepMetrics
from local_training.runs.recipe import StopTable
from local_training.runs.stopping import barren_rule, broken_rule


def step(**figures: float | None) -> StepMetrics:
    return StepMetrics(step=3, seconds=1.0, loss=0.1, grad_norm=1.0, rate=1e-4, **figures)  # type: ignore[arg-type]


OFF = StopTable(mismatch_nats=None, masked_share=None)
BOUNDS = ["kl_general_nats", "kl_target_nats", "mismatch_nats", "masked_share"]


@pytest.mark.parametrize("name", BOUNDS)
def test_a_figure_above_its_bound_ends_the_run_and_is_named(name: str):
    rules = OFF.model_copy(update={name: 0.05})
    reason = broken_rule(step(**{name: 0.0625}), rules, None)
    assert reason.endswith(f"was 0.0625, above 0.05 (stop.{name}).")
    assert reason.startswith("The ")


@pytest.mark.parametrize("name", BOUNDS)
def test_a_figure_at_its_bound_or_that_is_not_known_does_not(name: str):
    rules = OFF.model_copy(update={name: 0.05})
    assert broken_rule(step(**{name: 0.05}), rules, None) == ""
    assert broken_rule(step(**{name: None}), rules, None) == ""


@pytest.mark.parametrize("name", BOUNDS)
def test_a_rule_that_is_off_ends_nothing(name: str):
    assert broken_rule(step(**{name: 0.99}), OFF, None) == ""


def test_by_default_a_gap_between_the_programs_and_many_masked_tokens_end_a_run():
    rules = StopTable()
    assert "trainer and engine" in broken_rule(step(mismatch_nats=0.11), rules, None)
    assert "masked tokens" in broken_rule(step(masked_share=0.03), rules, None)
    assert broken_rule(step(kl_general_nats=9.0, kl_target_nats=9.0, entropy_nats=0.0), rules, 2.0) == ""


@pytest.mark.parametrize(
    ("entropy", "first", "reason"),
    [
        (1.0, 2.0, "The answers lost 50% of their entropy, above 30% (stop.entropy_drop)."),
        (1.5, 2.0, ""),
        (3.0, 2.0, ""),
        (None, 2.0, ""),
        (1.0, None, ""),
        (0.0, 0.0, ""),
    ],
    ids=["half is gone", "a quarter is gone", "more", "not known", "no first one", "none from the beginning"],
)
def test_entropy_is_held_against_that_of_the_first_step(entropy: float | None, first: float | None, reason: str):
    assert broken_rule(step(entropy_nats=entropy), OFF.model_copy(update={"entropy_drop": 0.3}), first) == reason


@pytest.mark.parametrize(("steps", "ends"), [(0, False), (2, False), (3, True), (4, True)])
def test_as_many_steps_without_anything_to_learn_as_the_rule_says_end_a_run(steps: int, ends: bool):
    reason = barren_rule(steps, StopTable(barren_steps=3))
    assert bool(reason) is ends
    assert not ends or (f"In {steps} steps in a row" in reason and "(stop.barren_steps)" in reason)
