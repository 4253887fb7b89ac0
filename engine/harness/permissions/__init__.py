"""Which calls of a model run by themselves, which ask a person, and which never run. Pure; shows and runs nothing."""

from engine.harness.permissions.deciding import Circumstances, Decision, decide
from engine.harness.permissions.rules import Mode, Rule, pattern_for, subject_of

__all__ = ["Circumstances", "Decision", "Mode", "Rule", "decide", "pattern_for", "subject_of"]
