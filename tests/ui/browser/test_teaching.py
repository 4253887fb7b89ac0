"""The panel of teaching in a real browser: what is proposed, how it goes on, what its result shows and does."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag
from typing import Any, cast

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.errors import HomeBusy, StoreProblem, UsageProblem
from tests.ui.browser.conftest import Connecting, OpenTab
from tests.ui.browser.running import RunningPage, page_running
from tests.ui.lessons import PASSED, PROPOSAL, REJECTED, ScriptedTeacher
from tests.ui.scripted import ScriptedClient
from ui.browser.payloads import lesson_of
from ui.browser.teaching import proposal_html, taught_html
from ui.teaching import TeachProgress
from ui.teaching_work import Teaching

TRAINING = TeachProgress("training", 12, 40, 240.0)
TIMEOUT_S = 10.0


class Lent:
    """The lessons that the test under way prepared, for a page that outlives it."""

    def __init__(self) -> None:
        self.now = Teaching(ScriptedTeacher())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.now, name)


@pytest.fixture(scope="module")
def lent() -> Lent:
    return Lent()


@pytest.fixture(scope="module")
def served(connecting: Connecting, lent: Lent, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPage]:
    home: Path = tmp_path_factory.mktemp("page") / "home"
    with page_running(connecting, home, cast(Teaching, lent)) as page:
        yield page


@pytest.fixture
def teacher(lent: Lent) -> Iterator[ScriptedTeacher]:
    """Of every tab that this test opens."""
    scripted = ScriptedTeacher()
    lent.now = Teaching(scripted)
    yield scripted
    lent.now.close(TIMEOUT_S)


def panel(tab: Page, opener: str = "Teach") -> Locator:
    tab.get_by_role("button", name=opener, exact=True).click()
    return tab.locator(".teaching dialog")


def press(within: Locator, name: str) -> None:
    within.get_by_role("button", name=name, exact=True).click()


def learn(tab: Page) -> Locator:
    opened = panel(tab)
    press(opened, "Learn it")
    return opened


# What can be learned.


@pytest.mark.parametrize(
    ("language", "opener", "texts"),
    [
        ("en", "Teach", ("What can be learned", "From 9 corrections of L2", "up to 10 minutes")),
        ("zh", "教学", ("可以学到什么", "从对 L2 的 9 条更正中", "最多需要 10 分钟")),
    ],
)
def test_what_would_change_is_shown_before_anything_is_learned(
    client: ScriptedClient,
    teacher: ScriptedTeacher,
    open_tab: OpenTab,
    language: str,
    opener: str,
    texts: tuple[str, ...],
) -> None:
    tab = open_tab(language)
    opened = panel(tab, opener)
    for text in texts:
        expect(opened).to_contain_text(text)
    expect(opened.locator("li")).to_have_text("Answers are short: at most 40 words.")
    expect(opened.locator("tbody td")).to_have_text(
        ["What is tea?", "A [bold]<b>long</b>[/] answer.", "Leaves in water."]
    )
    press(opened, {"en": "Not now", "zh": "暂不"}[language])
    expect(opened).to_be_hidden()
    assert teacher.asked == [(None, language)] and teacher.begun == []


def test_a_refusal_is_said_plainly_with_what_to_do(
    client: ScriptedClient, teacher: ScriptedTeacher, open_tab: OpenTab
) -> None:
    teacher.refusal = UsageProblem("Three corrections are too few.", "Correct more answers.")
    opened = panel(open_tab())
    expect(opened.locator(".refusal p")).to_have_text(["Three corrections are too few.", "Correct more answers."])
    expect(opened.locator(".problem")).to_have_count(0)


def test_what_goes_wrong_is_told_and_can_be_tried_again(
    client: ScriptedClient, teacher: ScriptedTeacher, open_tab: OpenTab
) -> None:
    teacher.refusal = StoreProblem("The disk is gone.", "Plug it in.")
    opened = panel(open_tab())
    expect(opened.locator(".problem")).to_contain_text("Plug it in.")
    teacher.refusal = None
    press(opened, "What else can be learned?")
    expect(opened.locator("h2")).to_have_text("What can be learned")


# While it goes on.


@pytest.mark.parametrize(
    ("language", "opener", "learn_it", "line"),
    [
        ("en", "Teach", "Learn it", "Lesson for L2: learning 12/40 · at most 4 min left"),
        ("zh", "教学", "学习", "L2 的课：学习 12/40 · 最多还需 4 分钟"),
    ],
)
def test_it_goes_on_beside_the_chat_and_every_tab_sees_it(
    client: ScriptedClient,
    teacher: ScriptedTeacher,
    open_tab: OpenTab,
    language: str,
    opener: str,
    learn_it: str,
    line: str,
) -> None:
    rest = Flag()
    teacher.steps = [TRAINING, rest, PASSED]
    tab = open_tab(language)
    opened = panel(tab, opener)
    press(opened, learn_it)
    expect(opened.locator("[data-part=progress]")).to_have_text(line)
    expect(opened.locator("progress")).to_have_js_property("value", 12)
    tab.keyboard.press("Escape")
    expect(opened).to_be_hidden()
    tab.locator("textarea[data-part=text]").fill("Tea?")
    tab.locator("textarea[data-part=text]").press("Enter")
    expect(tab.locator("article.turn")).to_have_count(1)
    expect(tab.locator(".teaching > [data-part=line]")).to_have_text(line)
    other = open_tab(language, beside=tab)
    expect(other.locator(".teaching > [data-part=line]")).to_have_text(line)
    rest.set()
    for one in (tab, other):
        over = {"en": "Lesson for L2: it passed.", "zh": "L2 的课：已通过。"}[language]
        expect(one.locator(".teaching > [data-part=line]")).to_have_text(over)
    assert teacher.begun == [(PROPOSAL.lesson_id, False, language)]


def test_it_is_stopped_and_nothing_changes(client: ScriptedClient, teacher: ScriptedTeacher, open_tab: OpenTab) -> None:
    teacher.steps = [TRAINING, Flag(), PASSED]
    opened = learn(open_tab())
    press(opened, "Stop")
    expect(opened).to_contain_text("Stopped. Nothing changes.")
    expect(opened.get_by_role("button", name="Use it")).to_have_count(0)
    expect(opened.locator("progress")).to_be_hidden()
    assert teacher.ended.is_set() and not teacher.answers


# What came of it.


def test_one_that_passed_shows_figures_reasons_and_answers_side_by_side_as_text(
    client: ScriptedClient, teacher: ScriptedTeacher, open_tab: OpenTab
) -> None:
    opened = learn(open_tab())
    for text in ("The gate let it pass.", "92 % (95 % interval 80 % to 97 %", "It follows the lesson more often."):
        expect(opened).to_contain_text(text)
    cells = opened.locator("tbody td")
    expect(cells).to_have_text(["What is <i>rain</i>?", "✗ Much [red]said[/].", "✓ Water <script>x</script>."])
    expect(cells.locator("i, script")).to_have_count(0)
    expect(cells.get_by_role("img")).to_have_count(2)


def test_it_answers_once_the_user_wants_it_and_is_taken_back(
    client: ScriptedClient, teacher: ScriptedTeacher, open_tab: OpenTab
) -> None:
    opened = learn(open_tab())
    expect(opened.locator(".note")).to_have_text("It does not answer yet.")
    assert not teacher.answers
    press(opened, "Use it")
    expect(opened.locator(".note")).to_contain_text("It answers from the next turn on")
    assert teacher.answers
    press(opened, "Undo")
    expect(opened.locator(".note")).to_have_text("L2 answers as before the lesson.")
    assert not teacher.answers


def test_one_that_was_turned_away_says_why_and_cannot_be_used(
    client: ScriptedClient, teacher: ScriptedTeacher, open_tab: OpenTab
) -> None:
    teacher.steps = [REJECTED]
    tab = open_tab("zh")
    opened = panel(tab, "教学")
    press(opened, "学习")
    expect(opened).to_contain_text("未通过关卡")
    expect(opened).to_contain_text("It became worse at general questions.")
    expect(opened.get_by_role("button", name="启用")).to_have_count(0)


def test_one_that_failed_says_why_and_another_can_be_proposed(
    client: ScriptedClient, teacher: ScriptedTeacher, open_tab: OpenTab
) -> None:
    teacher.steps = [StoreProblem("The <b>disk</b> is full.", "Make room.")]
    opened = learn(open_tab())
    expect(opened).to_contain_text("The <b>disk</b> is full.")
    expect(opened).to_contain_text("Make room.")
    press(opened, "What else can be learned?")
    expect(opened.locator("h2")).to_have_text("What can be learned")


def test_one_that_cannot_be_used_says_why_beside_its_result(
    client: ScriptedClient, teacher: ScriptedTeacher, open_tab: OpenTab
) -> None:
    opened = learn(open_tab())
    expect(opened.locator("h2")).to_have_text("What came of the lesson")
    teacher.problem = HomeBusy("The store is locked.", "Close the other window.")
    press(opened, "Use it")
    expect(opened.locator(".problem")).to_contain_text("Close the other window.")
    expect(opened.get_by_role("button", name="Use it")).to_have_count(1)


# Without a browser.


def test_what_is_drawn_holds_no_markup_of_others() -> None:
    drawn = proposal_html(PROPOSAL, "en") + taught_html(PASSED, "en")
    assert "<b>" not in drawn and "<script>" not in drawn and "&lt;script&gt;" in drawn


def test_a_long_answer_is_cut() -> None:
    long = replace(PASSED, compared=(replace(PASSED.compared[0], after="word " * 5000),))
    drawn = taught_html(long, "en")
    assert len(drawn) < 6000 and "…" in drawn


@pytest.mark.parametrize("sent", [None, {}, {"lesson": 7}, {"lesson": "a" * 101}])
def test_a_name_of_a_lesson_that_is_none_is_refused(sent: object) -> None:
    with pytest.raises(UsageProblem):
        lesson_of(sent)
