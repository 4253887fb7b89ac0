"""The chat as a person has it: the real program on the real starter, in a terminal of 80 by 24, read off the screen."""

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.opening import open_store
from app.paths import Paths
from engine.values import Answer, Route
from tests.app.running import ROOT, macaron, profile_like_starter
from tests.support.terminal import Terminal, open_terminal

pytestmark = pytest.mark.model

START_TIMEOUT_S = 30.0
ANSWER_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 2.0
"""One second for the program, one for tmux and for looking."""
ECHO_TIMEOUT_S = 5.0
"""For a key to be seen while the model works on both cores."""
EXPERT = re.compile(r" L\d · ")
WRITING = re.compile(r"^ writing", re.MULTILINE)
STATUS = re.compile(r"^ L\d · .+ \| context ([\d,]+)/8,192 \| read [\d,]+ \+ reused [\d,]+", re.MULTILINE)


@pytest.fixture
def terminal(require_program: Callable[[str], str]) -> Iterator[Terminal]:
    with open_terminal(require_program("tmux")) as terminal:
        yield terminal


def start_chat(terminal: Terminal, *options: str) -> None:
    terminal.type(f"{shlex.join([sys.executable, '-m', 'app', 'chat', *options])}; echo ended with $?")
    terminal.press("Enter")


def write(terminal: Terminal, text: str) -> None:
    """Type a message of one line, see it in the composer, send it, and see it in the conversation."""
    terminal.type(text)
    terminal.wait_for_text(f"│ {text} ", ECHO_TIMEOUT_S)
    terminal.press("Enter")
    terminal.wait_for_text(f"\n   {text}\n", ECHO_TIMEOUT_S)


def ask(terminal: Terminal, text: str) -> str:
    """The screen after the answer; the context meter tells that it is a new one."""
    before = context_in_use(terminal.screen())
    write(terminal, text)
    return terminal.wait_for(lambda screen: context_in_use(screen) not in (None, before), ANSWER_TIMEOUT_S)


def context_in_use(screen: str) -> str | None:
    """As the status line between turns has it."""
    status = STATUS.search(screen)
    return status and status[1]


def test_a_conversation_in_english_and_chinese_is_answered_stopped_and_found_again(terminal: Terminal) -> None:
    start_chat(terminal)
    welcome = terminal.wait_for_text("ready", START_TIMEOUT_S)
    assert "A conversation with several experts, on this computer." in welcome

    screen = ask(terminal, "What is the capital of France?")
    assert "Paris" in screen.split("What is the capital of France?")[1]
    ask(terminal, "法国的首都是哪里？")

    terminal.paste("Tell me a long story about a fox, in ten chapters.\nBegin it at a river in winter.")
    terminal.wait_for_text("│ Begin it at a river in winter.", ECHO_TIMEOUT_S)
    terminal.press("Enter")
    terminal.wait_for(WRITING.search, ANSWER_TIMEOUT_S)
    terminal.press("Escape")
    screen = terminal.wait_for_text("■ stopped", STOP_TIMEOUT_S)
    last_line = screen.split("■ stopped")[0].splitlines()[-2]
    assert last_line.strip() and not EXPERT.match(last_line), "some of the answer stands above the mark"

    terminal.press("C-q")
    screen = terminal.wait_for_text("ended with 0", START_TIMEOUT_S)
    assert "ready" not in screen and terminal.modes() == "0 0 1"

    (listed,) = macaron("history", "list", "--json").json
    assert listed["turn_count"] == 3
    turns = macaron("history", "show", listed["conversation_id"], "--json").json["turns"]
    assert [turn["state"] for turn in turns] == ["answered", "answered", "stopped"]
    assert [turn["provenance"] for turn in turns] == ["typed", "typed", "pasted"]
    assert all(turn["answer_text"].strip() for turn in turns)
    for words in ("首都", "capital"):
        hits = macaron("history", "search", words, "--json").json
        assert {hit["conversation_id"] for hit in hits} == {listed["conversation_id"]}


def test_the_newest_conversation_is_continued_on_chinese_screens(terminal: Terminal, home: Path) -> None:
    with open_store(Paths(home)) as store:
        turn = store.open_turn("推荐一种咖啡。", conversation_id=None, parent_turn_id=None, profile="starter")
        store.close_turn(Answer(turn.turn_id, "answered", "来一杯拿铁吧。", Route("L0", "default")))

    start_chat(terminal, "--language", "zh", "--continue")
    screen = terminal.wait_for_text("来一杯拿铁吧。", START_TIMEOUT_S)
    assert "\n   推荐一种咖啡。\n" in screen
    assert "Enter 发送  ^N 新对话" in screen

    terminal.press("C-l")
    terminal.wait_for(lambda screen: "对话历史" in screen and "推荐一种咖啡。  · 1 轮" in screen, START_TIMEOUT_S)
    terminal.press("Escape")
    terminal.wait_for(lambda screen: "对话历史" not in screen, START_TIMEOUT_S)
    terminal.press("C-q")
    terminal.wait_for_text("ended with 0", START_TIMEOUT_S)
    assert terminal.modes() == "0 0 1"


def test_a_file_goes_with_a_chinese_message_and_its_versions_are_stepped_through(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "笔记.txt").write_text("周一：买牛奶。\n周二：喝咖啡。\n", encoding="utf-8")
    terminal.type(f"export PYTHONPATH={shlex.quote(str(ROOT))}; cd {shlex.quote(str(tmp_path))}")
    terminal.press("Enter")
    before = terminal.title()
    # Short answers, so that question and files stay on the screen whatever the model makes of them.
    brief = profile_like_starter(tmp_path / "brief", [("max_answer_tokens = 512", "max_answer_tokens = 24")])
    start_chat(terminal, "--language", "zh", "--profile", str(brief))
    terminal.wait_for_text("就绪", START_TIMEOUT_S)
    assert terminal.title() == "Macaron Tall"

    terminal.type("a中b文")
    terminal.wait_for_text("│ a中b文 ", ECHO_TIMEOUT_S)
    column = terminal.cursor_column()
    for key, width in (("Left", 2), ("Left", 1), ("Left", 2)):
        terminal.press(key)
        column -= width
        terminal.wait_for(lambda _, expected=column: terminal.cursor_column() == expected, ECHO_TIMEOUT_S)
    terminal.press("End")
    for _ in range(4):
        terminal.press("BSpace")
    terminal.wait_for_text("│ 输入消息", ECHO_TIMEOUT_S)

    terminal.type("周一买什么？看@笔")
    terminal.wait_for(lambda screen: "\n 笔记.txt\n" in screen, ECHO_TIMEOUT_S)
    terminal.press("Tab")
    terminal.wait_for_text("将随消息附上：笔记.txt", ECHO_TIMEOUT_S)
    terminal.press("Enter")
    screen = terminal.wait_for_text("词元/秒", ANSWER_TIMEOUT_S)
    assert "\n   周一买什么？看@笔记.txt\n   附件：笔记.txt\n" in screen

    terminal.press("C-r")
    terminal.wait_for_text("分支 2/2", ANSWER_TIMEOUT_S)
    terminal.press("M-Left")
    terminal.wait_for_text("分支 1/2", ECHO_TIMEOUT_S)
    terminal.press("C-b")
    terminal.wait_for(lambda screen: "● 周一买什么？" in screen and "○ 周一买什么？" in screen, ECHO_TIMEOUT_S)
    terminal.press("Escape")
    # Otherwise both keys would arrive together, as one that no keyboard has.
    terminal.wait_for(lambda screen: "分支：" not in screen, ECHO_TIMEOUT_S)
    terminal.press("M-Up")
    terminal.wait_for_text("▌你", ECHO_TIMEOUT_S)
    terminal.type("+")
    terminal.wait_for_text("赞（+1）", ECHO_TIMEOUT_S)

    terminal.press("C-q")
    terminal.wait_for_text("ended with 0", START_TIMEOUT_S)
    assert terminal.title() == before
    (listed,) = macaron("history", "list", "--json").json
    (turn,) = macaron("history", "show", listed["conversation_id"], "--json").json["turns"]
    assert turn["user_text"] == "周一买什么？看@笔记.txt"
    assert [attachment["name"] for attachment in turn["attachments"]] == ["笔记.txt"]
    assert turn["rating"] == 1
