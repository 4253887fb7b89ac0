"""What the agent asks by itself in the terminal: a suggestion, or the five questions of the first day."""

import pytest

from engine.errors import UsageProblem
from engine.suggestions.values import About, Suggestion
from tests.ui.driving import composer_of, run, send, shown, type_text, wait_for, wait_for_text, wait_until_ready
from tests.ui.scripted import Gate, ScriptedClient
from ui import suggestions
from ui.terminal.app import ChatApp
from ui.terminal.interviewing import InterviewScreen

HABIT = Suggestion(
    3,
    "habit",
    "habit:1",
    "What is the weather in Bergen?",
    {"time": "08:10", "weekdays": "mon-fri", "count": "3", "days": "2026-11-26, 2026-11-27, 2026-11-30"},
    "offered",
    "2026-11-30T08:00:00+00:00",
    about=About(turn_id="t-1"),
)
MEMORY, EVENT = About(memory_id=1), About(event_id=1)


@pytest.mark.parametrize(
    ("language", "asked", "reason", "done"),
    [
        ("en", "Shall I ask this for you on working days at 08:10", "because you asked it on 3 days", "macaron jobs"),
        ("zh", "要我每个工作日 08:10 替你问这个吗", "因为你有 3 天", "以后由任务来问"),
    ],
)
async def test_at_the_start_a_suggestion_says_why_and_is_accepted_with_a_key(
    language: str, asked: str, reason: str, done: str
) -> None:
    client = ScriptedClient(suggested=[HABIT])
    async with run(ChatApp(client, language=language), columns=110) as pilot:
        await wait_for_text(pilot, asked)
        assert reason in shown(pilot.app)
        assert "suggestions off --kind habit" in shown(pilot.app).replace("\n", "")
        assert pilot.app.focused is composer_of(pilot), "who writes goes on writing"
        await pilot.press("alt+y")
        await wait_for_text(pilot, done)
        assert client.last("accepted").value == 3
        assert asked not in shown(pilot.app)


async def test_it_is_dismissed_with_a_key_or_a_click() -> None:
    for presses_key in (True, False):
        client = ScriptedClient(suggested=[HABIT])
        async with run(ChatApp(client), columns=110) as pilot:
            await wait_for_text(pilot, "Shall I ask this")
            if presses_key:
                await pilot.press("alt+x")
            else:
                await pilot.click("#offer-no")
            await wait_for_text(pilot, "All right, not that.")
            assert client.last("dismissed").value == 3


async def test_it_comes_after_a_turn_and_never_within_one() -> None:
    client, gate = ScriptedClient(), Gate()
    async with run(ChatApp(client), columns=110) as pilot:
        await wait_for(pilot, lambda: client.looked)
        client.will("First ", gate, "answer.")
        await send(pilot, "Hello")
        client.suggested = [HABIT]
        await wait_for_text(pilot, "First")
        await pilot.press("alt+y")
        assert "accepted" not in client.names() and "Shall I ask" not in shown(pilot.app)
        gate.open()
        await wait_until_ready(pilot)
        await wait_for_text(pilot, "Shall I ask this")
        client.will("Second.")
        await send(pilot, "And now?")
        await wait_for_text(pilot, "Second")
        await wait_until_ready(pilot)
        assert client.names().count("ask") == 2


async def test_what_cannot_be_asked_for_is_missed_by_nobody() -> None:
    client = ScriptedClient(suggested=[HABIT], management_error=UsageProblem("No.", "Never."))
    async with run(ChatApp(client)) as pilot:
        await wait_for(pilot, lambda: client.looked)
        await pilot.pause()
        assert "No." not in shown(pilot.app)


async def test_on_the_first_day_five_questions_are_offered_answered_and_kept() -> None:
    client = ScriptedClient(interview="new", suggested=[HABIT])
    async with run(ChatApp(client), columns=110) as pilot:
        await wait_for_text(pilot, "Shall I ask you five short questions")
        assert "Shall I ask this" not in shown(pilot.app)
        assert client.interview == "offered", "it is offered once"
        await pilot.press("alt+y")
        await wait_for_text(pilot, "What shall I call you?")
        await type_text(pilot, "Lars")
        await pilot.press("enter")
        await wait_for_text(pilot, "In which language")
        await pilot.press("enter")
        await wait_for_text(pilot, "3 of 5")
        await type_text(pilot, "Bergen, metric")
        await pilot.press("enter", "enter", "enter")
        await wait_for_text(pilot, "I will remember 2 things")
        assert client.last("answer_interview").value == {"name": "Lars", "region": "Bergen, metric"}


async def test_it_is_declined_for_good_with_one_key() -> None:
    client = ScriptedClient(interview="new")
    async with run(ChatApp(client), columns=110) as pilot:
        await wait_for_text(pilot, "Shall I ask you five short questions")
        await pilot.press("alt+x")
        await wait_for_text(pilot, "I will not ask again")
        assert client.interview == "declined"


async def test_the_command_asks_at_any_time_and_escape_keeps_what_was_answered() -> None:
    client = ScriptedClient(interview="declined")
    async with run(ChatApp(client, language="zh")) as pilot:
        await send(pilot, "/interview")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, InterviewScreen))
        await type_text(pilot, "小林")
        await pilot.press("enter", "escape")
        await wait_for_text(pilot, "我会记住 1 件事")
        assert client.last("answer_interview").value == {"name": "小林"}
        assert client.last("answer_interview").text == "zh"


async def test_no_answer_at_all_is_kept_as_nothing() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "/interview")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, InterviewScreen))
        await pilot.press("enter", "escape")
        await wait_for_text(pilot, "I remember nothing of it")
        assert "answer_interview" not in client.names()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("kind", "about", "facts"),
    [
        ("due", MEMORY, {"day": "2026-12-01", "said_on": "2026-11-30", "remind_at": "2026-12-01T08:00:00+01:00"}),
        ("due", EVENT, {"day": "2026-12-01", "time": "19:00", "remind_at": "2026-12-01T18:00:00+01:00"}),
        ("due", EVENT, {"day": "2026-12-01", "time": "", "remind_at": "2026-12-01T08:00:00+01:00"}),
        ("habit", HABIT.about, HABIT.facts),
        ("habit", HABIT.about, {**HABIT.facts, "weekdays": "sun"}),
        ("habit", HABIT.about, {**HABIT.facts, "weekdays": "*"}),
        ("stale", MEMORY, {"said_on": "2025-11-02"}),
        ("break", About(), {"since": "08:10", "minutes": "130"}),
    ],
)
def test_every_kind_has_a_question_a_reason_a_way_off_and_an_outcome(language, kind, about, facts) -> None:
    one = Suggestion(1, kind, "k", "I live in Bergen", facts, "accepted", "2026-11-30T08:00:00+00:00", None, about)
    texts = [work(one, language) for work in (suggestions.question, suggestions.reason, suggestions.way_off)]
    assert all(texts) and (kind == "break" or "Bergen" in texts[0])
    assert texts[1].startswith("because" if language == "en" else "因为")
    assert ("calendar" in texts[1] or "日历" in texts[1]) == (about == EVENT)
    assert f"--kind {kind}" in texts[2]
    assert suggestions.outcome(one, language)
