"""How a watched run ended, judged from what its trainer said last and how its process ended. Pure."""

import signal
from dataclasses import dataclass
from typing import Final

from local_training.runs.events import Ended
from local_training.runs.folder import State
from ui.strings import say

FAILED: Final = 1
STOPPED: Final = 130
_LONGEST_WORDS: Final = 300
_SIGKILL: Final = 9
"""`signal` lacks it on Windows."""


@dataclass(frozen=True, slots=True)
class Outcome:
    state: State
    step: int
    """Steps that are done and kept."""
    exit_code: int
    problem: str = ""
    hint: str = ""
    was_told: bool = True
    """False when the trainer died without a last word, so that the folder does not know either."""


def judge_end(
    ended: Ended | None, code: int, *, step: int, killed: bool, last_words: str, go_on: str, language: str
) -> Outcome:
    """`code` is that of the process, negative for a signal; `killed`: by us, because the user asked twice.

    `go_on` is the command that goes on with the run.
    """
    if ended is not None:
        codes = {"finished": 0, "failed": ended.exit_code or FAILED}
        return Outcome(ended.state, ended.step, codes.get(ended.state, STOPPED), ended.problem, ended.hint)
    if killed:
        return Outcome("stopped", step, STOPPED, was_told=False)
    problem, hint = _death(code, last_words, go_on, language)
    return Outcome("failed", step, FAILED, problem, hint, was_told=False)


def _death(code: int, last_words: str, go_on: str, language: str) -> tuple[str, str]:
    if code == -_SIGKILL:
        return say("train.killed", language), say("train.killed.hint", language, go_on=go_on)
    words = f": {last_words[:_LONGEST_WORDS]}" if last_words else ""
    hint = say("train.crashed.hint", language, go_on=go_on)
    if code < 0:
        return say("train.crashed", language, signal=_signal_name(-code), words=words), hint
    return say("train.ended", language, code=code, words=words), hint


def _signal_name(number: int) -> str:
    """Such as "11 (SIGSEGV)"."""
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)
