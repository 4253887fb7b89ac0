"""When is an adapter on trial taken back, and when does it stay? Pure: counts in, a verdict out.

A trial is a number of turns. It ends early only with an adapter that is surely worse than what was there before; at its
end the adapter must not look worse than that might be.
"""

from typing import Final, Literal

from engine.adapters.records import Canary
from engine.adapters.statistics import wilson

TURNS: Final = 20
"""Length of a trial."""
FEWEST_BASELINE_TURNS: Final = 20
"""Of fewer turns before the trial nothing is concluded."""
TOLERATED: Final = 0.25
"""Share of negative turns that is borne where there is no baseline."""

Verdict = Literal["go_on", "promote", "roll_back"]


def judge(canary: Canary) -> Verdict:
    """`go_on` while it is neither surely worse nor at its end.

    Surely worse: the lower bound of its share of negative turns is above the upper bound of the share before. At the
    end the share itself is held against that bound. Both bounds are Wilson's, at 95 %.
    """
    borne = borne_share(canary.baseline_turns, canary.baseline_negative)
    lower, _ = wilson(canary.negative, canary.turns)
    if lower > borne:
        return "roll_back"
    if canary.turns < canary.planned_turns:
        return "go_on"
    return "roll_back" if canary.negative > borne * canary.turns else "promote"


def borne_share(turns: int, negative: int) -> float:
    """The largest share of negative turns that is no worse than before."""
    return TOLERATED if turns < FEWEST_BASELINE_TURNS else wilson(negative, turns)[1]
