"""When an adapter on trial is taken back, in a line each."""

import pytest

from engine.adapters.canary import TOLERATED, borne_share, judge
from engine.adapters.records import Canary


def trial(turns: int, negative: int, *, before: int = 0, negative_before: int = 0, planned: int = 20) -> Canary:
    return Canary("a" * 32, planned, turns, negative, before, negative_before)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        pytest.param(trial(0, 0), "go_on", id="nothing said yet"),
        pytest.param(trial(1, 1), "go_on", id="one bad turn is chance"),
        pytest.param(trial(2, 2), "roll_back", id="two of two are not"),
        pytest.param(trial(19, 4), "go_on", id="not yet at its end"),
        pytest.param(trial(20, 0), "promote", id="all was well"),
        pytest.param(trial(20, 5), "promote", id="a quarter is borne without a baseline"),
        pytest.param(trial(20, 6), "roll_back", id="more is not"),
        pytest.param(trial(20, 4, before=200, negative_before=4), "roll_back", id="the champion was liked more"),
        pytest.param(trial(20, 4, before=200, negative_before=60), "promote", id="the champion was liked less"),
        pytest.param(trial(4, 3, before=200, negative_before=60), "go_on", id="a disliked champion earns patience"),
        pytest.param(trial(3, 2, before=200, negative_before=4), "roll_back", id="surely worse ends it early"),
        pytest.param(trial(5, 0, planned=5), "promote", id="a shorter trial"),
    ],
)
def test_a_trial_goes_on_until_it_is_surely_worse_or_over(given: Canary, verdict: str):
    assert judge(given) == verdict


def test_few_turns_before_the_trial_are_no_baseline():
    assert borne_share(19, 0) == TOLERATED
    assert borne_share(20, 0) < TOLERATED
