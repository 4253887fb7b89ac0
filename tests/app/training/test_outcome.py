"""How a run ended, from the last word of its trainer and the end of its process."""

import pytest

from app.training.outcome import judge_end
from local_training.runs.events import Ended

GO_ON = "macaron train resume first"


def judged(ended: Ended | None, code: int, *, killed: bool = False, last_words: str = "", language: str = "en"):
    return judge_end(ended, code, step=3, killed=killed, last_words=last_words, go_on=GO_ON, language=language)


@pytest.mark.parametrize(
    ("ended", "exit_code"),
    [
        pytest.param(Ended("finished", 5), 0, id="finished"),
        pytest.param(Ended("stopped", 4, exit_code=130), 130, id="stopped"),
        pytest.param(Ended("failed", 4, "No.", "Do.", 1), 1, id="failed"),
        pytest.param(Ended("failed", 4, "No.", "Do."), 1, id="failed without a code"),
        pytest.param(Ended("failed", 0, "No.", "Do.", 2), 2, id="impossible"),
    ],
)
@pytest.mark.parametrize("code", [0, -11], ids=["in order", "crashed while it closed"])
def test_the_last_word_counts_whatever_happened_to_the_process_after_it(ended: Ended, exit_code: int, code: int):
    outcome = judged(ended, code)
    assert (outcome.state, outcome.step, outcome.exit_code) == (ended.state, ended.step, exit_code)
    assert (outcome.problem, outcome.hint, outcome.was_told) == (ended.problem, ended.hint, True)


def test_one_that_the_user_killed_is_stopped_and_the_folder_does_not_know():
    outcome = judged(None, -9, killed=True)
    assert (outcome.state, outcome.step, outcome.exit_code, outcome.was_told) == ("stopped", 3, 130, False)
    assert outcome.problem == ""


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        pytest.param(-9, "killed by signal 9 (SIGKILL): most likely memory ran out", id="killed"),
        pytest.param(-6, "crashed with signal 6 (SIGABRT): it said so", id="aborted"),
        pytest.param(-64, "crashed with signal 64", id="a signal of number and name unknown"),
        pytest.param(1, "exit code 1 and did not say why: it said so", id="an exception"),
        pytest.param(0, "exit code 0 and did not say why: it said so", id="left without a word"),
    ],
)
def test_a_death_without_a_last_word_is_a_failure_that_says_how_to_go_on(code: int, problem: str):
    outcome = judged(None, code, last_words="it said so")
    assert (outcome.state, outcome.exit_code, outcome.was_told) == ("failed", 1, False)
    assert problem in outcome.problem and GO_ON in outcome.hint


def test_a_death_is_told_in_chinese_too():
    assert "很可能是内存不足" in judged(None, -9, language="zh").problem
    assert "因信号 11 (SIGSEGV) 崩溃" in judged(None, -11, language="zh").problem


def test_last_words_are_not_longer_than_a_few_lines():
    assert len(judged(None, 1, last_words="x" * 10_000).problem) < 500
