"""Turns and the list of conversations as views: pure values in, HTML out."""

import re
from dataclasses import replace

import pytest

from engine.events import Notice, RouteChosen, TextDelta, TurnClosed, TurnOpened
from engine.runtime.protocol import Usage
from engine.values import Attachment, SearchHit, Timing, TurnState
from tests.ui.scripted import ROUTE, conversation, turn
from ui.browser.history import PAGE_SIZE, conversations_view, hits_view
from ui.browser.turns import (
    LiveTurn,
    as_seen,
    families_of,
    kept_notes_html,
    live_after,
    live_html,
    live_line,
    turn_views,
)

OPENED = TurnOpened(turn_id="t1", number=0, conversation_id="c1", parent_turn_id=None, user_text="Tea?")
CLOSED = TurnClosed(
    turn_id="t1",
    number=9,
    conversation_id="c1",
    state="answered",
    text="Green tea.",
    route=ROUTE,
    usage=Usage(prompt_tokens=40, completion_tokens=8, decode_ms=1000.0),
    usage_other=Usage(),
    timing=Timing(),
    context_tokens=8192,
)


def words(html: str) -> str:
    return re.sub(r"<[^>]*>", " ", html)


def one(record: object, language: str = "en", tree: tuple[object, ...] = ()) -> str:
    (view,) = turn_views([record], tree or [record], 8192, language)  # type: ignore[list-item]
    return view.html


def test_a_live_turn_grows_with_its_events() -> None:
    live = live_after(LiveTurn("Tea?"), OPENED)
    assert "routing" in live_line(live, None, 0.0, "en")
    live = live_after(live, RouteChosen(turn_id="t1", number=1, route=ROUTE))
    live = live_after(live, TextDelta(turn_id="t1", number=2, text="**Green"))
    live = live_after(live, TextDelta(turn_id="t1", number=3, text="** tea"))
    assert "<strong>Green</strong> tea" in live_html(live, "en")
    assert live_line(live, None, 0.0, "en") == "writing · L2 · best by 1.8"
    live = live_after(live, CLOSED)
    assert "Green tea." in words(live_html(live, "en"))
    assert live_line(live, None, 0.0, "en").startswith("L2 · best by 1.8 · context 48/8,192")


def test_notices_are_told_while_the_turn_goes_on() -> None:
    live = live_after(LiveTurn("Tea?"), Notice(turn_id="t1", number=1, code="folded", values={"turns": 3}))
    assert "3 earlier turns are no longer read" in live_html(live, "en")


def test_what_stands_for_folded_turns_opens_and_stays_after_the_turn() -> None:
    values = {"turns": 3, "lines": [{"kind": "fact", "text": "My <b>seat</b> is 12F"}], "moved_out": 0}
    live = live_after(LiveTurn("Tea?"), Notice(turn_id="t1", number=1, code="folded", values=values))
    live = live_after(live, Notice(turn_id="t1", number=2, code="length", values={"tokens": 5}))
    html = live_html(live, "en")
    assert "<summary>The conversation outgrew" in html and "<li>fact: My &lt;b&gt;seat&lt;/b&gt; is 12F</li>" in html
    kept = kept_notes_html(live, "en")
    assert kept in html and "was cut after" not in kept


def test_a_message_is_shown_as_it_was_written_with_the_names_of_its_files() -> None:
    record = replace(turn("t1", "c1", "<b>*x*</b>"), attachments=(Attachment("<i>.txt", "text"),))
    html = one(record)
    assert "&lt;b&gt;*x*&lt;/b&gt;" in html and "&lt;i&gt;.txt" in html and "text" not in words(html).split()


@pytest.mark.parametrize(
    ("state", "mark", "offers"),
    [
        ("answered", "", False),
        ("stopped", "■ stopped", False),
        ("failed", "■ failed", True),
        ("interrupted", "■ interrupted before the answer was complete", True),
        ("running", "■ interrupted before the answer was complete", True),
    ],
)
def test_how_a_turn_ended_is_marked_and_one_that_failed_offers_another_try(
    state: TurnState, mark: str, offers: bool
) -> None:
    html = one(turn("t1", "c1", "Tea?", state=state, answer_text="Said."))
    assert mark in html and ("Answer this message again" in words(html)) == offers


def test_a_problem_is_told_with_what_to_do() -> None:
    html = one(turn("t1", "c1", "Tea?", state="failed", problem="Out of <memory>.", hint="Close programs."))
    assert "Problem: Out of &lt;memory&gt;." in html and "What to do: Close programs." in html


def test_a_call_of_a_tool_is_one_line_that_opens() -> None:
    html = one(
        turn("t1", "c1", "Now?", answer_text='<tool_call>\n{"name": "clock", "arguments": {"a": "<b>"}}\n</tool_call>')
    )
    assert '<details class="tool_call"><summary>Tool call clock</summary><pre>' in html and "<b>" not in html


def test_versions_of_a_message_are_counted_and_the_ends_of_the_row_are_closed() -> None:
    first, second, third = (turn(f"t{n}", "c1", "Tea?", "t0", answer_text=str(n)) for n in (1, 2, 3))
    tree = (first, second, third)
    assert families_of(tree) == {"t0": ("t1", "t2", "t3")}
    html = one(second, tree=tree)
    assert "2/3" in html and 'data-turn="t1"' in html and 'data-turn="t3"' in html
    assert "disabled" not in html and one(first, tree=tree).count("disabled") == 1
    assert "1/1" not in one(first)


def test_the_thumb_that_was_given_takes_itself_back() -> None:
    html = one(replace(turn("t1", "c1", "Tea?", answer_text="Yes."), rating=1))
    assert 'data-rating="0" data-icon="up" aria-pressed="true"' in html
    assert 'data-rating="-1" data-icon="down" aria-pressed="false"' in html


def test_a_turn_whose_host_was_lost_keeps_what_was_seen_of_it() -> None:
    lost = replace(CLOSED, state="interrupted", text="Half", problem="The host was lost.", hint="Answer again.")
    stored = turn("t1", "c1", "Tea?", state="interrupted")
    seen = as_seen(stored, lost)
    assert (seen.answer_text, seen.problem, seen.hint) == ("Half", "The host was lost.", "Answer again.")
    other = turn("t2", "c1", "Tea?")
    assert as_seen(other, lost) is other and as_seen(stored, None) is stored and as_seen(stored, CLOSED) is stored


def test_ids_and_titles_cannot_leave_their_attributes() -> None:
    hostile = '"><img src=x onerror=a()>'
    html = one(turn(hostile, "c1", "Tea?", answer_text="Yes."))
    html += conversations_view([conversation(hostile, [turn("t1", "c1", hostile)])], "en").html
    html += hits_view([SearchHit(hostile, hostile, "user", hostile, hostile, "2026-03-04")], hostile, "en").html
    html += hits_view([], hostile, "en").html
    assert "<img" not in html


def test_the_list_is_short_at_first_and_offers_more() -> None:
    known = [conversation(f"c{n}", [turn(f"t{n}", f"c{n}", f"Chat {n}")]) for n in range(PAGE_SIZE + 1)]
    html = conversations_view(known, "en").html
    assert html.count("<li") == PAGE_SIZE and f'data-shown="{2 * PAGE_SIZE}"' in html
    assert "data-shown" not in conversations_view(known[:PAGE_SIZE], "en").html


def test_nothing_found_says_what_was_looked_for() -> None:
    assert "没有找到“咖啡”。" in hits_view([], "咖啡", "zh").html
    assert "No conversations yet." in conversations_view([], "en").html
