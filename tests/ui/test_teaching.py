"""Teaching in the chat: what is proposed, how it goes on beside the chat, what its result shows and does."""

from threading import Event as Flag
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.errors import HomeBusy, StoreProblem, UsageProblem
from tests.ui.driving import (
    chat_of,
    composer_of,
    run,
    send,
    shown,
    type_text,
    wait_for,
    wait_for_text,
    wait_until_ready,
)
from tests.ui.lessons import PASSED, REJECTED, ScriptedTeacher
from tests.ui.scripted import ScriptedClient
from ui.teaching import TeachProgress
from ui.terminal.app import ChatApp, LeaveScreen
from ui.terminal.help import HelpScreen
from ui.terminal.teaching_proposal import ProposalScreen
from ui.terminal.teaching_result import ResultScreen

TRAINING = TeachProgress("training", 12, 40, 240.0)


def chat(teacher: ScriptedTeacher, language: str = "en") -> ChatApp:
    return ChatApp(ScriptedClient(), language=language, teacher=teacher)


async def propose(pilot: Pilot[Any], command: str = "/teach") -> None:
    await send(pilot, command)
    await wait_for(pilot, lambda: isinstance(pilot.app.screen, ProposalScreen))
    await pilot.pause()


async def learn(pilot: Pilot[Any]) -> None:
    await propose(pilot)
    await pilot.press("enter")


async def see_result(pilot: Pilot[Any]) -> None:
    await wait_for(pilot, lambda: isinstance(pilot.app.screen, ResultScreen))
    await pilot.pause()


# What can be learned.


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", ("What can be learned", "From 9 corrections of L2", "up to 10 minutes", "Learn it", "Not now")),
        ("zh", ("可以学到什么", "从对 L2 的 9 条更正中", "最多需要 10", "学习", "暂不")),
    ],
)
async def test_what_would_change_is_shown_before_anything_is_learned(language: str, texts: tuple[str, ...]) -> None:
    teacher = ScriptedTeacher()
    async with run(chat(teacher, language), columns=100, rows=30) as pilot:
        await propose(pilot)
        for text in (*texts, "Answers are short", "A [bold]<b>long</b>[/] answer.", "Leaves in water."):
            assert text in shown(pilot.app), text
    assert teacher.asked == [(None, language)] and teacher.begun == []


async def test_who_does_not_agree_learns_nothing() -> None:
    teacher = ScriptedTeacher()
    async with run(chat(teacher)) as pilot:
        await propose(pilot)
        await pilot.press("escape")
        await wait_for_text(pilot, "Nothing was learned.")
    assert teacher.begun == []


async def test_an_expert_can_be_named() -> None:
    teacher = ScriptedTeacher()
    async with run(chat(teacher)) as pilot:
        await propose(pilot, "/teach L2")
    assert teacher.asked == [("L2", "en")]


@pytest.mark.parametrize(
    ("language", "hint"), [("en", "Correct an answer with"), ("zh", "更正方法")], ids=["English", "Chinese"]
)
async def test_a_refusal_is_said_plainly_with_what_to_do(language: str, hint: str) -> None:
    teacher = ScriptedTeacher(refusal=UsageProblem("Three corrections are too few.", hint))
    async with run(chat(teacher, language)) as pilot:
        await send(pilot, "/teach")
        await wait_for_text(pilot, "Three corrections are too few.")
        assert hint in shown(pilot.app)
        assert not pilot.app.screen.query(".note.failed")


async def test_what_goes_wrong_is_told_as_a_failure() -> None:
    teacher = ScriptedTeacher(refusal=StoreProblem("The disk is gone.", "Plug it in."))
    async with run(chat(teacher)) as pilot:
        await send(pilot, "/teach")
        await wait_for_text(pilot, "The disk is gone.")
        assert pilot.app.screen.query(".note.failed")


async def test_without_a_teacher_it_says_that_there_is_none() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await send(pilot, "/teach")
        await wait_for_text(pilot, "Nothing can be taught from here.")


# While it goes on.


@pytest.mark.parametrize(
    ("language", "line"),
    [("en", "Lesson for L2: learning 12/40 · at most 4 min left"), ("zh", "L2 的课：学习 12/40 · 最多还需 4 分钟")],
)
async def test_the_chat_goes_on_beside_it(language: str, line: str) -> None:
    teacher, rest = ScriptedTeacher(), Flag()
    teacher.steps = [TRAINING, rest, PASSED]
    app = chat(teacher, language)
    async with run(app) as pilot:
        await learn(pilot)
        await wait_for_text(pilot, line)
        await send(pilot, "Tea?")
        await wait_until_ready(pilot)
        assert "ask" in app.chat._client.names()  # type: ignore[attr-defined]
        assert line in shown(app)
        assert teacher.begun == [(PASSED.lesson_id, False, language)]
        rest.set()
        await see_result(pilot)


@pytest.mark.parametrize("way", ["command", "button"])
async def test_it_is_stopped_and_nothing_changes(way: str) -> None:
    teacher = ScriptedTeacher([TRAINING, Flag(), PASSED])
    async with run(chat(teacher)) as pilot:
        await learn(pilot)
        await wait_for_text(pilot, "learning 12/40")
        if way == "command":
            await send(pilot, "/teach stop")
        else:
            await pilot.click("#lesson-stop")
        await see_result(pilot)
        assert "Stopped. Nothing changes." in shown(pilot.app)
        assert "Use it" not in shown(pilot.app)
    assert teacher.ended.is_set() and not teacher.answers


async def test_with_nothing_to_stop_and_nothing_to_show_it_says_so() -> None:
    async with run(chat(ScriptedTeacher())) as pilot:
        await send(pilot, "/teach stop")
        await wait_for_text(pilot, "No lesson is being learned.")
        await send(pilot, "/teach result")
        await wait_for_text(pilot, "No lesson was taught since this program began.")


async def test_a_second_lesson_waits_for_the_first() -> None:
    rest = Flag()
    async with run(chat(ScriptedTeacher([TRAINING, rest, PASSED]))) as pilot:
        await learn(pilot)
        await wait_for_text(pilot, "learning 12/40")
        await send(pilot, "/teach")
        await wait_for_text(pilot, "A lesson is being learned already.")
        await send(pilot, "/teach result")
        rest.set()
        await see_result(pilot)


async def test_the_result_does_not_open_in_the_face_of_who_writes() -> None:
    rest = Flag()
    async with run(chat(ScriptedTeacher([TRAINING, rest, PASSED]))) as pilot:
        await learn(pilot)
        await wait_for_text(pilot, "learning 12/40")
        await type_text(pilot, "use")
        rest.set()
        await wait_for_text(pilot, "Lesson for L2: it passed. See it with /teach result.")
        assert not isinstance(pilot.app.screen, ResultScreen)
        assert composer_of(pilot).text == "use"
        await pilot.click("#lesson-show")
        await see_result(pilot)


# What came of it.


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        (
            "en",
            (
                "The gate let it pass.",
                "3 → 37 answers are as you want them",
                "97 %",
                "Before",
                "After",
                "Use it",
            ),
        ),
        ("zh", ("已通过关卡。", "3 → 37", "80 % 至 97 %", "之前", "之后", "启用")),
    ],
)
async def test_one_that_passed_shows_figures_reasons_and_answers_side_by_side(
    language: str, texts: tuple[str, ...]
) -> None:
    async with run(chat(ScriptedTeacher(), language), columns=100, rows=36) as pilot:
        await learn(pilot)
        await see_result(pilot)
        text = shown(pilot.app)
        for part in (*texts, "It follows the lesson more often.", "› What is <i>rain</i>?"):
            assert part in text, part
        (row,) = [line for line in text.splitlines() if "✗ Much [red]said[/]." in line]
        assert "✓ Water <script>x</script>." in row


async def test_it_answers_once_the_user_wants_it_and_is_taken_back() -> None:
    teacher = ScriptedTeacher()
    async with run(chat(teacher)) as pilot:
        await learn(pilot)
        await see_result(pilot)
        assert not teacher.answers
        await pilot.press("b")
        await pilot.press("u")
        await wait_for_text(pilot, "It answers from the next turn on")
        assert teacher.answers
        assert "Undo" in shown(pilot.app) and "Use it" not in shown(pilot.app)
        await pilot.press("escape")
        await send(pilot, "/teach result")
        await see_result(pilot)
        await pilot.press("b")
        await wait_for_text(pilot, "L2 answers as before the lesson.")
        assert not teacher.answers


async def test_the_buttons_do_what_the_keys_do() -> None:
    teacher = ScriptedTeacher()
    async with run(chat(teacher)) as pilot:
        await propose(pilot)
        await pilot.click("#learn")
        await see_result(pilot)
        await pilot.click("#use")
        await wait_for_text(pilot, "It answers from the next turn on")
        await pilot.click("#undo")
        await wait_for_text(pilot, "L2 answers as before the lesson.")
        await pilot.click("#close")
        await wait_for(pilot, lambda: pilot.app.screen is chat_of(pilot).chat)
    assert not teacher.answers


async def test_one_that_cannot_be_used_says_why_and_can_be_tried_again() -> None:
    teacher = ScriptedTeacher(problem=HomeBusy("The store is locked.", "Close the other window."))
    async with run(chat(teacher), rows=30) as pilot:
        await learn(pilot)
        await see_result(pilot)
        await pilot.press("u")
        await wait_for_text(pilot, "Close the other window.")
        teacher.problem = None
        await pilot.press("u")
        await wait_for_text(pilot, "It answers from the next turn on")


async def test_one_that_was_turned_away_says_why_and_cannot_be_used() -> None:
    teacher = ScriptedTeacher([REJECTED])
    async with run(chat(teacher)) as pilot:
        await learn(pilot)
        await see_result(pilot)
        text = shown(pilot.app)
        assert "turned it away" in text and "It became worse at general questions." in text
        assert "Use it" not in text and "Close" in text
        await pilot.press("u")
        await pilot.pause()
    assert not teacher.answers


async def test_one_that_failed_says_why() -> None:
    teacher = ScriptedTeacher([TRAINING, StoreProblem("The disk is full.", "Make room.")])
    async with run(chat(teacher, "zh")) as pilot:
        await learn(pilot)
        await see_result(pilot)
        text = shown(pilot.app)
        assert "失败，一切保持不变" in text and "The disk is full." in text and "Make room." in text


async def test_the_help_explains_the_keys_of_the_result() -> None:
    async with run(chat(ScriptedTeacher())) as pilot:
        await learn(pilot)
        await see_result(pilot)
        await pilot.press("f1")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await wait_for_text(pilot, "let it answer, on trial")
        assert "teach.undo" in shown(pilot.app)


# Leaving.


async def test_leaving_asks_while_a_lesson_would_end_by_it() -> None:
    teacher = ScriptedTeacher([TRAINING, Flag(), PASSED])
    async with run(chat(teacher)) as pilot:
        await learn(pilot)
        await wait_for_text(pilot, "learning 12/40")
        await pilot.press("ctrl+q")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, LeaveScreen))
        await pilot.press("escape")
        await wait_for(pilot, lambda: pilot.app.screen is chat_of(pilot).chat)
        assert not teacher.ended.is_set()
        await send(pilot, "/quit")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, LeaveScreen))
        await pilot.press("enter")
        await wait_for(pilot, lambda: not pilot.app.is_running or pilot.app._exit)
    assert teacher.ended.wait(5)


async def test_without_a_lesson_it_leaves_at_once() -> None:
    async with run(chat(ScriptedTeacher())) as pilot:
        await pilot.press("ctrl+q")
        assert not isinstance(pilot.app.screen, LeaveScreen)
        await wait_for(pilot, lambda: pilot.app._exit)
