"""`macaron memory review`: what waits is looked at by a person, or decided by a script; nothing else decides it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.cli import memory as verbs
from app.memory.opening import open_memory_shelf
from app.memory.reviewing import Reviewer, run_review
from app.paths import Paths
from engine.errors import UnknownName, UsageProblem
from engine.memory.values import Draft
from tests.app.memory.conftest import Printed

TEXTS = ("I own a boat", "I live in Oslo", "我养了一只猫", "I like jazz")


@pytest.fixture
def waiting(home: Path) -> None:
    """Four that wait, numbered 1 to 4."""
    with open_memory_shelf(Paths(home)) as shelf:
        shelf.propose_memories([Draft(text, "fact", text, None, source="imported") for text in TEXTS])


@pytest.fixture
def review(home: Path, waiting: None, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Answer each question in turn; what was printed."""

    def _review(*answers: str, writes: str = "") -> str:
        left: Iterator[str] = iter(answers)
        reviewer = Reviewer(lambda asked: next(left), lambda asked, text: writes)
        assert run_review(Paths(home), os.environ, reviewer, as_json=False) == 0
        assert next(left, None) is None, "a question was not asked"
        return capsys.readouterr().out

    return _review


def test_each_is_approved_edited_rejected_or_skipped(review: Callable[..., str], printed: Printed) -> None:
    out = review("a", "e", "r", "s", writes="我养了两只猫")
    assert [text in out for text in TEXTS] == [True] * 4
    assert "1 of 4" in out and "comes from" in out and "a file" in out
    assert "Approved 1, edited 1, rejected 1; 1 still wait." in out
    assert [one["text"] for one in printed("list", "--json")["memories"]] == ["我养了两只猫", "I like jazz"]
    assert [one["text"] for one in printed("list", "--state", "pending", "--json")["memories"]] == ["I own a boat"]


def test_after_quitting_the_rest_waits_on(review: Callable[..., str], printed: Printed) -> None:
    assert "Approved 1, edited 0, rejected 0; 3 still wait." in review("a", "q")
    assert [one["text"] for one in printed("list", "--json")["memories"]] == ["I like jazz"]


def test_a_wording_that_cannot_be_kept_is_told_and_the_memory_waits_on(review: Callable[..., str]) -> None:
    assert "Approved 0, edited 0, rejected 0; 4 still wait." in review("e", "q", writes=" ")


def test_at_a_terminal_the_keys_are_asked_for(waiting: None, printed: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verbs, "is_terminal", lambda stream: True)
    monkeypatch.setattr(verbs.click, "prompt", lambda asked, **options: "a" if "approve" in asked else "")
    assert "Approved 4" in printed("review")
    assert printed("review") == "Nothing waits for you.\n"


def test_where_nobody_is_there_what_waits_is_only_listed(waiting: None, printed: Printed) -> None:
    _, *rows = printed("review").splitlines()
    assert len(rows) == 4 and all("waits for you" in row for row in rows)
    assert [one["memory_id"] for one in printed("review", "--json")["memories"]] == [4, 3, 2, 1]


def test_a_script_decides_by_number_all_of_it_or_nothing(waiting: None, printed: Printed) -> None:
    with pytest.raises(UnknownName):
        printed("review", "--approve", "1", "--reject", "99")
    with pytest.raises(UsageProblem, match="approved and rejected"):
        printed("review", "--approve", "1", "--reject", "1")
    assert len(printed("review", "--json")["memories"]) == 4
    decided = printed("review", "--approve", "1", "--approve", "2", "--reject", "3", "--json")
    assert decided == {"approved": [1, 2], "rejected": [3]}
    assert printed("review", "--reject", "4") == "Rejected, and gone: I like jazz\n"
    assert [one["memory_id"] for one in printed("list", "--json")["memories"]] == [2, 1]
    with pytest.raises(UsageProblem, match="waits for nobody"):
        printed("review", "--approve", "2")
