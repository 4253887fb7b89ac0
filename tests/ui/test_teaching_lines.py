"""A lesson in words, in both languages; what others wrote in it stays text."""

from dataclasses import replace

import pytest

from tests.ui.lessons import PASSED, PROPOSAL, REJECTED
from ui.teaching import Taught, TeachDecision, TeachProgress
from ui.teaching_lines import (
    figures_line,
    over_line,
    progress_text,
    proposal_lines,
    running_line,
    standing_line,
    taught_lines,
    undone_line,
    verdict_lines,
)


def test_a_proposal_says_what_would_change_from_what_and_how_long_it_takes() -> None:
    text = "\n".join(proposal_lines(PROPOSAL, "en"))
    assert "From 9 corrections of L2" in text and "• Answers are short" in text
    assert "You wanted: Leaves in water." in text and "up to 10 minutes" in text
    assert "从对 L2 的 9 条更正中" in "\n".join(proposal_lines(PROPOSAL, "zh"))


def test_a_control_character_in_a_correction_reaches_no_terminal() -> None:
    bad = replace(PROPOSAL, corrected=(replace(PROPOSAL.corrected[0], before="a\x1b[2Jb\nc"),))
    assert "It said:    ab c" in "\n".join(proposal_lines(bad, "en"))


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (TeachProgress("loading"), "loading"),
        (TeachProgress("training", 3, 9), "learning 3/9"),
        (TeachProgress("testing", 3, 9, 130.0), "testing 3/9 · at most 2 min left"),
    ],
    ids=["nothing to count", "counted", "with the time left"],
)
def test_progress_says_what_is_known(progress: TeachProgress, text: str) -> None:
    assert progress_text(progress, "en") == text
    assert running_line("L2", progress, "en", is_stopping=False) == f"Lesson for L2: {text}"


def test_one_that_is_stopping_says_that_instead() -> None:
    assert "ends as soon as it can" in running_line("L2", TeachProgress("training"), "en", is_stopping=True)


def test_the_figures_come_with_their_interval() -> None:
    assert figures_line(PASSED, "en") == (
        "On 40 prompts it never saw, 3 → 37 answers are as you want them: 92 % (95 % interval 80 % to 97 %, p = 1e-06)."
    )
    assert figures_line(Taught("l", "L2", "stopped"), "en") == ""


def test_a_result_tells_the_verdict_its_reasons_and_answers_before_and_after() -> None:
    text = "\n".join(taught_lines(PASSED, "en"))
    assert "before ✗ Much [red]said[/]." in text and "after  ✓ Water <script>x</script>." in text
    assert "let it pass" in text and "It took 4.2 minutes." in text
    assert list(verdict_lines(REJECTED, "en"))[1:] == ["  It became worse at general questions."]


def test_a_reason_that_is_empty_takes_no_line() -> None:
    assert len(list(verdict_lines(replace(REJECTED, reasons=("Why.", "")), "en"))) == 2


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("decision", ["passed", "rejected", "stopped", "failed"])
def test_every_outcome_has_a_line(decision: TeachDecision, language: str) -> None:
    assert "L2" in over_line(replace(PASSED, decision=decision), language)
    assert list(verdict_lines(replace(PASSED, decision=decision), language))


def test_only_what_passed_can_answer() -> None:
    assert standing_line(PASSED, "en") == "It does not answer yet."
    assert "from the next turn on" in standing_line(replace(PASSED, is_in_use=True), "en")
    assert standing_line(REJECTED, "en") == ""
    assert undone_line(PASSED, True, "en") == "L2 answers as before the lesson."
    assert "nothing changed" in undone_line(PASSED, False, "en")
