"""What is shown of an event, in words."""

from dataclasses import replace
from typing import get_args

import pytest

from engine.events import Notice, RouteChosen, TextDelta, TurnClosed, TurnOpened
from engine.memory.folding.values import LineKind
from engine.runtime.protocol import Usage
from engine.values import Conversation, Route, SearchHit
from tests.ui.scripted import ROUTE, USAGE, Script, closing, notice, reading, turn
from ui.present import (
    Status,
    advance,
    can_retry,
    context_line,
    conversation_line,
    error_lines,
    hit_line,
    notice_details,
    notice_line,
    route_line,
    state_line,
    status_of_record,
    status_parts,
    tokens_per_second,
    usage_line,
    working_line,
    working_parts,
)
from ui.strings import TEXTS

OPENED = TurnOpened(turn_id="t1", number=0, conversation_id="c1", parent_turn_id=None, user_text="hi")
DELTA = TextDelta(turn_id="t1", number=3, text="yes")
CLOSED = closing("t1", 9, "c1", Script(), "yes", was_stopped=False)


@pytest.mark.parametrize(
    ("route", "line"),
    [
        pytest.param(ROUTE, "L2 · best by 1.8", id="best: its lead over the next"),
        pytest.param(Route("L0", "default"), "L0 · default", id="default"),
        pytest.param(Route("L1", "pinned"), "L1 · pinned", id="pinned"),
        pytest.param(Route("L1", "follow_up"), "L1 · follow-up", id="follow-up"),
        pytest.param(Route("L3", "best", {"L3": -1.0}), "L3 · best", id="one score has no lead"),
        pytest.param(Route("L4", "brand_new"), "L4 · brand_new", id="a reason we do not know"),
        pytest.param(Route("\x1b[2JL4", "x\ny"), "L4 · x y", id="hostile names"),
    ],
)
def test_a_route_says_who_and_why(route: Route, line: str) -> None:
    assert route_line(route, "en") == line


def test_a_route_reads_chinese() -> None:
    assert route_line(ROUTE, "zh") == "L2 · 最合适，领先 1.8"


def test_usage_tells_read_reused_and_speed() -> None:
    assert usage_line(CLOSED, "en") == "read 40 + reused 1,204 · 12.3 tok/s"


def test_no_speed_is_told_where_nothing_was_written() -> None:
    assert tokens_per_second(Usage(prompt_tokens=10)) is None
    assert usage_line(replace(CLOSED, usage=Usage(prompt_tokens=10)), "en") == "read 10 + reused 0"


def test_the_context_meter_shows_used_and_limit() -> None:
    assert context_line(1284, 8192, "en") == "context 1,284/8,192"
    assert context_line(1284, None, "zh") == "上下文 1,284"


def test_an_error_is_a_problem_and_a_hint() -> None:
    assert error_lines("No room.", "Free \x1b[1msome.", "en") == ["Problem: No room.", "What to do: Free some."]
    assert error_lines("磁盘已满", "", "zh") == ["问题：磁盘已满"]


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        pytest.param(
            notice("folded", turns=3),
            "The conversation outgrew the context: 3 earlier turns are no longer read. They stay in the history.",
            id="folded",
        ),
        pytest.param(
            notice("folded", turns=1),
            "The conversation outgrew the context: 1 earlier turn is no longer read. It stays in the history.",
            id="folded one",
        ),
        pytest.param(
            notice("folded", turns=3, lines=[{"kind": "fact", "text": "x"}], moved_out=0),
            "The conversation outgrew the context: 3 earlier turns are no longer read. They stay in the history. "
            "Read in their place: 1 line.",
            id="folded with a line",
        ),
        pytest.param(notice("odd", a=1, b="\x1b[2Jx"), "Note: odd (a=1, b=x)", id="unknown code"),
        pytest.param(notice("odd"), "Note: odd", id="unknown code without values"),
        pytest.param(notice("folded"), "Note: folded", id="folded without its number"),
        pytest.param(
            notice("length", tokens=512),
            "The answer was cut after 512 tokens, the longest this profile allows.",
            id="too long",
        ),
    ],
)
def test_a_notice_is_shown_even_when_its_code_is_unknown(shown: Notice, line: str) -> None:
    assert notice_line(shown, "en") == line


LINES = [{"kind": "fact", "text": "My seat is\n\x1b[2J12F"}, {"kind": "new kind", "text": "记住"}]


def test_what_stands_for_folded_turns_is_told_line_by_line() -> None:
    shown = notice("folded", turns=3, lines=LINES, moved_out=2)
    assert notice_details(shown, "en").split("\n") == [
        "fact: My seat is 12F",
        "new kind: 记住",
        "2 more to be kept have no room there; recall and search still find them.",
    ]
    assert notice_line(shown, "zh").endswith("代替它们被读取的：2 行摘记。")
    assert notice_details(shown, "zh").startswith("事实：My seat")


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param(notice("folded", turns=3), id="none"),
        pytest.param(notice("folded", turns=3, lines=7), id="nonsense"),
        pytest.param(notice("odd", lines=LINES), id="another notice"),
    ],
)
def test_a_notice_without_lines_opens_to_nothing(shown: Notice) -> None:
    assert notice_details(shown, "en") == ""


@pytest.mark.parametrize("kind", get_args(LineKind))
def test_every_kind_of_line_has_a_name(kind: str) -> None:
    assert f"folded.kind.{kind}" in TEXTS


def test_only_turns_without_an_answer_carry_a_mark() -> None:
    assert state_line("answered", "en") == ""
    assert state_line("stopped", "en") == "■ stopped"
    assert state_line("failed", "zh") == "■ 失败"
    assert state_line("running", "en") == state_line("interrupted", "en") != ""


def test_failed_and_interrupted_turns_can_be_retried() -> None:
    assert [can_retry(state) for state in ("answered", "stopped", "failed", "interrupted", "running")] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_a_turn_goes_through_its_phases() -> None:
    status, phases = Status(phase="opening"), []
    for event in (
        OPENED,
        RouteChosen(turn_id="t1", number=1, route=ROUTE),
        reading(5, 9, phase="summary"),
        reading(1, 2),
        notice("folded", turns=1),
        DELTA,
        CLOSED,
    ):
        status = advance(status, event)
        phases.append(status.phase)
    assert phases == ["routing", "preparing", "summarising", "preparing", "preparing", "writing", ""]
    assert status == Status(route=ROUTE, usage=USAGE, context_tokens=8192)


def test_route_and_usage_of_the_last_turn_stay_until_new_ones_come() -> None:
    before = Status(route=ROUTE, usage=USAGE, context_tokens=8192)
    failed = TurnClosed(
        turn_id="t2",
        number=1,
        conversation_id="c1",
        state="failed",
        text="",
        route=None,
        usage=Usage(),
        usage_other=Usage(),
        timing=CLOSED.timing,
        context_tokens=0,
    )
    assert advance(advance(before, OPENED), failed) == before


def test_reading_shows_how_far_it_is() -> None:
    status = advance(Status(), reading(1234, 4000))
    assert working_line(status, 0.5, "en") == "reading 1,234 of 4,000 tokens"
    assert working_line(status, 0.5, "zh") == "读取 1,234/4,000 词元"


def test_reading_for_another_purpose_says_which() -> None:
    status = advance(Status(), reading(10, 40, phase="summary"))
    assert working_line(status, 0, "en") == "summarising earlier turns: reading 10 of 40 tokens"


def test_while_an_expert_is_being_chosen_the_one_of_the_last_turn_is_not_shown() -> None:
    opened = advance(Status(route=Route("L0", "default")), OPENED)
    assert working_parts(opened, None, 0, "en") == ("routing",)
    assert working_parts(opened, "L1", 0, "en") == ("routing", "pinned to L1")
    chosen = advance(opened, RouteChosen(turn_id="t1", number=1, route=ROUTE))
    assert working_parts(chosen, None, 0, "en") == ("preparing the answer", "L2 · best by 1.8")


def test_work_over_two_seconds_shows_its_time() -> None:
    writing = advance(Status(), DELTA)
    assert working_line(writing, 1.9, "en") == "writing"
    assert working_line(writing, 2.1, "en") == "writing · 2 s"


def test_the_status_line_tells_expert_context_tokens_and_speed() -> None:
    status = advance(Status(), CLOSED)
    assert status_parts(status, None, "en") == (
        "L2 · best by 1.8",
        "context 1,284/8,192",
        "read 40 + reused 1,204",
        "12.3 tok/s",
    )


def test_the_status_line_tells_a_pin_that_the_route_does_not() -> None:
    assert status_parts(Status(), None, "en") == ("ready",)
    assert status_parts(Status(), "L1", "en") == ("pinned to L1",)
    assert status_parts(Status(route=ROUTE), "L1", "en") == ("L2 · best by 1.8", "pinned to L1")
    assert status_parts(Status(route=Route("L1", "pinned")), "L1", "en") == ("L1 · pinned",)


@pytest.mark.parametrize(("language", "named"), [("en", "adapter 0123456789ab"), ("zh", "适配器 0123456789ab")])
def test_the_status_line_names_the_personal_adapter_that_answered(language: str, named: str) -> None:
    content_hash = "0123456789abcdef" * 2
    closed = replace(CLOSED, adapter=content_hash)
    stored = replace(turn("t1", "c1", "hi"), adapter=content_hash)
    for status in (advance(Status(), closed), status_of_record(stored, 8192)):
        assert status_parts(status, None, language)[1] == named
    after = advance(advance(Status(), closed), CLOSED)
    assert named not in status_parts(after, None, language)


def test_a_stored_turn_fills_the_status_line() -> None:
    record = turn("t1", "c1", "hi")
    assert status_of_record(record, 8192) == Status(route=ROUTE, usage=USAGE, context_tokens=8192)


def test_a_conversation_is_one_line() -> None:
    shown = Conversation(
        "c1", "Two\nlines \x1b[31mred", "starter", "2026-03-04T05:06:07Z", "2026-03-05T05:06:07Z", "t1", 4
    )
    assert conversation_line(shown, "en") == "2026-03-05  Two lines red  · 4 turns"
    assert conversation_line(replace(shown, title=""), "zh") == "2026-03-05  （无标题）  · 4 轮"


def test_one_turn_is_not_plural() -> None:
    shown = Conversation("c1", "hi", "starter", "2026-03-04T05:06:07Z", "2026-03-05T05:06:07Z", "t1", 1)
    assert conversation_line(shown, "en") == "2026-03-05  hi  · 1 turn"


def test_a_search_hit_shows_the_words_around_it() -> None:
    hit = SearchHit("c1", "t1", "user", "Coffee", "where is\nthe 咖啡 shop", "2026-03-04T05:06:07Z")
    assert hit_line(hit, "en") == "2026-03-04  Coffee  · you\n  where is the 咖啡 shop"
