"""Adapters in words: ages, verdicts, what can be done with one in each state, and the groups that screens show."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.adapters.records import AdapterDetails, AdapterState, Evaluation
from engine.errors import UsageProblem
from tests.engine.adapters.catalogued import named
from tests.ui.shelves import Shelf, open_shelf
from ui.adapter_changes import CHANGES, Change, check_possible, possible_changes, question
from ui.adapter_groups import has_own, read_groups
from ui.adapter_lines import age_text, verdict_text
from ui.terminal.adapters import adapter_line

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
EXPERTS = (("L0", "talk"), ("L2", "code"))


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with open_shelf(tmp_path) as opened:
        yield opened


def details(*evaluations: Evaluation, **changes: Any) -> AdapterDetails:
    return AdapterDetails(named("one", **changes), (), (), (), evaluations, ())


@pytest.mark.parametrize(
    ("age", "english", "chinese"),
    [
        (timedelta(seconds=5), "now", "刚刚"),
        (timedelta(minutes=59), "59 min", "59 分钟"),
        (timedelta(hours=23, minutes=59), "23 h", "23 小时"),
        (timedelta(days=40), "40 d", "40 天"),
        (timedelta(seconds=-90), "now", "刚刚"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(age: timedelta, english: str, chinese: str) -> None:
    made = (NOW - age).isoformat()
    assert (age_text(made, NOW, "en"), age_text(made, NOW, "zh")) == (english, chinese)


@pytest.mark.parametrize("broken", ["", "yesterday", "2026-03-04T12:00:00"])
def test_a_time_that_cannot_be_read_has_no_age(broken: str) -> None:
    assert age_text(broken, NOW, "en") == ""


def test_an_adapter_that_no_gate_has_seen_is_told_from_one_that_failed() -> None:
    assert {verdict_text(verdict, "en") for verdict in ("", "passed", "failed")} == {
        "not gated",
        "gate passed",
        "gate failed",
    }


@pytest.mark.parametrize(
    ("state", "changes"),
    [
        ("factory", ()),
        ("candidate", ("promote", "remove")),
        ("canary", ("promote", "rollback")),
        ("champion", ("rollback",)),
        ("retired", ("promote", "remove")),
    ],
)
def test_what_can_be_done_depends_on_the_state(state: AdapterState, changes: tuple[Change, ...]) -> None:
    record = named("one", state=state)
    assert possible_changes(record) == changes
    for change in CHANGES:
        if change in changes:
            check_possible(change, record, "en")
        else:
            with pytest.raises(UsageProblem) as caught:
                check_possible(change, record, "en")
            assert record.content_hash[:12] in caught.value.problem and caught.value.hint


def test_what_was_forgotten_can_only_be_removed() -> None:
    assert possible_changes(named("one", state="retired", is_forgotten=True)) == ("remove",)


def test_before_a_promotion_it_is_said_that_no_gate_was_passed_unless_one_was() -> None:
    passed = Evaluation("general", 800, verdict="passed")
    assert "No gate was passed" in question("promote", details(), "en")
    failed = Evaluation("x", 8, verdict="failed", reasons=("It forgot.",))
    assert question("promote", details(failed, passed), "en").startswith("The gate did not pass it: It forgot.\n")
    assert question("promote", details(passed), "en").startswith("Let ")
    assert "未通过任何关卡" in question("promote", details(), "zh")


def test_adapters_are_grouped_by_expert_with_those_that_answer_first(shelf: Shelf) -> None:
    first = shelf.put("first")
    for name in ("second", "third"):
        shelf.put(name)
    shelf.put("talk", expert="L0")
    shelf.put("elsewhere", profile="tall")
    shelf.catalogue.promote(first.content_hash)
    shelf.catalogue.add_evaluation(first.content_hash, Evaluation("general", 800, verdict="failed"))
    shelf.catalogue.add_evaluation(first.content_hash, Evaluation("general", 800, verdict="passed"))
    shelf.catalogue.add_evaluation(first.content_hash, Evaluation("held-out", 20))
    groups = read_groups(shelf.client.shelf, "starter", EXPERTS)
    told = [(group.expert, [(one.record.note, one.verdict) for one in group.listed]) for group in groups]
    assert told == [("L0", [("talk", "")]), ("L2", [("first", "passed"), ("third", ""), ("second", "")])]
    assert has_own(groups) and not any(group.has_more for group in groups)


def test_one_that_answers_is_listed_however_old_it_is(shelf: Shelf) -> None:
    records = [shelf.put(f"a{number}") for number in range(5)]
    shelf.catalogue.promote(records[0].content_hash)
    (group,) = read_groups(shelf.client.shelf, "starter", EXPERTS, shown=2)
    assert [one.record.note for one in group.listed] == ["a0", "a4", "a3"]
    assert group.has_more


def test_what_the_profile_came_with_is_nobodys_own(shelf: Shelf) -> None:
    shelf.put("came", kind="factory")
    assert not has_own(read_groups(shelf.client.shelf, "starter", EXPERTS))


def test_what_a_file_says_of_itself_stays_one_plain_line(shelf: Shelf) -> None:
    shelf.put("one", note="\x1b[31mred\nsecond")
    (group,) = read_groups(shelf.client.shelf, "starter", EXPERTS)
    line = adapter_line(group.listed[0], NOW, "en")
    assert "\x1b" not in line and "\n" not in line and "red" in line
