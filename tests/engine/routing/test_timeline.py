"""Which turns a view reads, as what, and which it leaves out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.harness.prompt import UnseenTurn
from engine.routing.timeline import (
    FALLBACK_SUMMARY_CHARACTERS,
    as_unseen,
    current_expert,
    expert_of,
    fold,
    is_readable,
    needs_summary,
    plan_view,
    shorten,
)
from engine.values import Epoch, Route, Segment, TurnRecord


def turn(turn_id: str, expert: str | None = "L0", **changes: Any) -> TurnRecord:
    values: dict[str, Any] = {
        "turn_id": turn_id,
        "conversation_id": "c",
        "parent_turn_id": None,
        "state": "answered",
        "user_text": f"Question {turn_id}",
        "answer_text": f"Answer {turn_id}",
        "provenance": "typed",
        "created_at": "2026-01-01T00:00:00+00:00",
        "route": Route(expert, "best") if expert else None,
    }
    return TurnRecord(**values | changes)


def epoch(folded_through: str | None = None) -> Epoch:
    return Epoch("e", "c", "L0", 0, (1,), "base", "harness", "first", folded_through)


def segments(*turn_ids: str) -> dict[str, Segment]:
    return {turn_id: Segment(turn_id, "e", (7, number)) for number, turn_id in enumerate(turn_ids)}


PATH = [turn("a"), turn("b", "L1"), turn("c"), turn("d")]


def ids(turns: Any) -> list[str]:
    return [each.turn_id for each in turns]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, True, id="answered"),
        pytest.param({"state": "stopped"}, True, id="stopped-with-words"),
        pytest.param({"state": "stopped", "answer_text": ""}, False, id="stopped-before-the-first-word"),
        pytest.param({"answer_text": " \n"}, False, id="answered-with-nothing"),
        pytest.param({"state": "failed"}, False, id="failed"),
        pytest.param({"state": "interrupted"}, False, id="interrupted"),
        pytest.param({"state": "running"}, False, id="running"),
        pytest.param({"route": None}, False, id="without-an-expert"),
    ],
)
def test_a_turn_is_read_when_somebody_answered_it(changes, expected):
    assert is_readable(turn("a", **changes)) is expected


def test_the_current_expert_is_the_one_that_answered_last():
    assert current_expert([turn("a", "L1"), turn("b", "L2"), turn("c", "L0", state="failed")]) == "L2"


@pytest.mark.parametrize("path", [[], [turn("a", state="failed")]], ids=["nothing-said", "nothing-answered"])
def test_there_is_no_current_expert_before_the_first_answer(path):
    assert current_expert(path) is None


def test_a_turn_without_a_route_has_no_expert():
    assert (expert_of(turn("a", "L2")), expert_of(turn("a", None))) == ("L2", None)


def test_a_view_without_an_epoch_has_seen_nothing_yet():
    plan = plan_view(PATH, None, {})
    assert (plan.past, ids(plan.unseen), plan.folded_turns) == ((), ["a", "b", "c", "d"], 0)


def test_turns_with_tokens_are_the_past_and_the_rest_is_unseen():
    known = segments("a", "b")
    plan = plan_view(PATH, epoch(), known)
    assert plan.past == (known["a"], known["b"])
    assert ids(plan.unseen) == ["c", "d"]


def test_after_the_first_turn_without_tokens_everything_is_read_anew():
    plan = plan_view(PATH, epoch(), segments("a", "c", "d"))
    assert ids(plan.past) == ["a"]
    assert ids(plan.unseen) == ["b", "c", "d"]


def test_turns_that_nobody_reads_do_not_end_the_past():
    path = [turn("a"), turn("x", state="failed"), turn("b")]
    plan = plan_view(path, epoch(), segments("a", "x", "b"))
    assert ids(plan.past) == ["a", "b"]
    assert plan.unseen == ()


def test_tokens_of_another_branch_are_not_read():
    plan = plan_view(PATH[:1], epoch(), segments("a", "z"))
    assert ids(plan.past) == ["a"]


def test_what_was_folded_is_neither_past_nor_unseen_and_is_counted():
    path = [turn("a"), turn("x", state="failed"), *PATH[1:]]
    plan = plan_view(path, epoch(folded_through="b"), segments("a", "b", "c"))
    assert (ids(plan.past), ids(plan.unseen), plan.folded_turns) == (["c"], ["d"], 2)


@given(
    st.lists(st.sampled_from(["answered", "failed", "stopped", "interrupted"])), st.integers(0, 8), st.integers(0, 8)
)
def test_a_view_reads_every_readable_turn_after_the_fold_once_and_in_order(states, seen, folded):
    path = [turn(str(number), state=state) for number, state in enumerate(states)]
    start = min(folded, len(path))
    plan = plan_view(path, epoch(path[start - 1].turn_id if start else None), segments(*ids(path[:seen])))
    assert ids(plan.past) + ids(plan.unseen) == ids(each for each in path[start:] if is_readable(each))
    assert plan.folded_turns == len([each for each in path[:start] if is_readable(each)])


def test_a_summary_is_needed_of_other_experts_turns_that_have_none():
    turns = [turn("own"), turn("shared", "L1"), turn("other", "L2"), turn("known", "L2", summary="Done.")]
    assert ids(needs_summary(turns, {"L0", "L1"})) == ["other"]


def test_an_own_turn_is_read_as_it_was_said():
    assert as_unseen(turn("a", summary="Short."), {"L0"}) == UnseenTurn("a", "Question a", "Answer a", True)


def test_another_experts_turn_is_read_as_its_summary():
    assert as_unseen(turn("a", summary="Short."), {"L1"}) == UnseenTurn("a", "Question a", "Short.", False)


def test_another_experts_turn_without_a_summary_is_quoted():
    assert as_unseen(turn("a", answer_text="Two\nlines."), {"L1"}).answer == "Two lines."


def test_a_short_text_is_quoted_whole_on_one_line():
    assert shorten("  one\n\n two ") == "one two"


@pytest.mark.parametrize("text", ["word " * 100, "长" * 500], ids=["english", "chinese"])
def test_of_a_long_text_the_beginning_is_quoted_and_marked_as_cut(text):
    quoted = shorten(text)
    assert quoted.endswith("…")
    assert text.startswith(quoted[:-1])
    assert FALLBACK_SUMMARY_CHARACTERS - 5 <= len(quoted) <= FALLBACK_SUMMARY_CHARACTERS + 1


@pytest.mark.parametrize(
    ("budget", "left_out"),
    [
        pytest.param(60, 0, id="all-fit"),
        pytest.param(59, 1, id="one-too-many"),
        pytest.param(30, 3, id="exactly-the-newest"),
        pytest.param(29, 4, id="not-even-the-newest"),
        pytest.param(-5, 4, id="no-room-at-all"),
    ],
)
def test_folding_leaves_out_the_oldest_turns_until_the_rest_fits(budget, left_out):
    sizes = {"a": 5, "b": 10, "c": 15, "d": 30}
    assert fold(PATH, budget, lambda each: sizes[each.turn_id]) == left_out


def test_folding_never_skips_a_turn_to_keep_an_older_one():
    sizes = {"a": 1, "b": 1, "c": 100, "d": 1}
    assert fold(PATH, 50, lambda each: sizes[each.turn_id]) == 3
