"""Rewards: what an answer is worth, and why. Each is a pure function of the outcome and its task's parameters.

A value outside the reward's range is an error that names task and reward, never a silent zero. Only `program` starts
a process, and what it computes depends on the answer alone. Knows no rollouts, no losses and no torch.
"""

from local_training.rewards.balance import Balance, balanced
from local_training.rewards.scoring import REWARDS, Score, build_reward, score_outcome
from local_training.rewards.values import Outcome, RewardProblem, RewardResult

__all__ = [
    "REWARDS",
    "Balance",
    "Outcome",
    "RewardProblem",
    "RewardResult",
    "Score",
    "balanced",
    "build_reward",
    "score_outcome",
]
