"""The agent with its real hands on a real home; only the model is scripted."""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from app.harness.hands import HomeHands
from app.harness.home_tools import HomeTools
from app.opening import open_store
from app.paths import Paths, make_home
from engine.asides import Aside
from engine.events import ApprovalAsked, Notice, ToolReturned, TurnClosed
from engine.harness.permissions import Rule
from engine.harness.sandbox import working_sandbox
from engine.store import Store
from tests.support.hands import call_text
from tests.support.talking import Talk, make_profile
from ui.present import notice_line

needs_sandbox = pytest.mark.skipif(working_sandbox() is None, reason="no working bubblewrap here")
NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
THREE_STEPS = """
first = add_note(title="Tea", text="Buy green tea")
found = search_notes(words="tea")
text = read_note(note=1)
print("green" in text)
"""
SAVE = '''
def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())

save_tool(count_words, "assert count_words('a b c') == 3")
'''


def saving(name: str, value: str, example: str) -> str:
    """A block that saves a function without arguments."""
    return f'def {name}() -> int:\n    """Give it."""\n    return {value}\n\nsave_tool({name}, "assert {example}")\n'


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths(tmp_path / "home")
    make_home(paths)
    (tmp_path / "papers").mkdir()
    write_harness(paths, "[budgets]\ntool_tokens = 1000000\n", folder=tmp_path / "papers")
    return paths


def write_harness(paths: Paths, text: str, folder: Path | None = None) -> None:
    folders = f'[[folders]]\npath = "{folder}"\naccess = "write"\n' if folder else ""
    (paths.home / "harness.toml").write_text(text + folders, encoding="utf-8")


class Home:
    """A home that is open, as one process after another has it."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self._open()

    def _open(self) -> None:
        self.opening = open_store(self.paths)
        self.store: Store = self.opening.__enter__()
        profile = make_profile(context_tokens=1 << 20)
        self.talk = Talk(self.store, profile)
        self.tools = HomeTools(self.paths, self.store.database, now=lambda: NOW, zone=ZoneInfo("UTC"))
        self.talk.restart(hands=HomeHands(self.tools, profile, self.talk.runtime, "json"))

    def restart(self) -> None:
        self.close()
        self._open()

    def close(self) -> None:
        self.tools.close()
        self.opening.__exit__(None, None, None)

    def say(self, *answers: str, approve: str = "once", text: str = "Do it.") -> TurnClosed:
        """A turn of L1 in which the model answers these, one after the other; every question is answered alike."""
        self.talk.runtime.will_say(*answers)
        self.talk.events = []
        for step in self.talk.agent.turn(text, conversation_id=self.talk.conversation_id, expert="L1"):
            if isinstance(step, Aside):
                step.run()
                continue
            self.talk.events.append(step)
            if isinstance(step, ApprovalAsked):
                self.tools.approvals.answer(step.approval_id, approve)  # type: ignore[arg-type]
        closed = self.talk.events[-1]
        assert isinstance(closed, TurnClosed)
        self.talk.conversation_id = closed.conversation_id
        return closed

    def results(self) -> list[ToolReturned]:
        return [event for event in self.talk.events if isinstance(event, ToolReturned)]

    def asked(self) -> list[ApprovalAsked]:
        return [event for event in self.talk.events if isinstance(event, ApprovalAsked)]


@pytest.fixture
def home(paths: Paths) -> Iterator[Home]:
    home = Home(paths)
    yield home
    home.close()


@needs_sandbox
def test_a_three_step_task_is_done_in_one_block_of_python_with_the_other_tools(home: Home) -> None:
    closed = home.say(call_text("python", code=THREE_STEPS), "It is noted.")
    assert closed.text == "It is noted."
    assert [event.tool for event in home.results()] == ["add_note", "search_notes", "read_note", "python"]
    assert "True" in home.results()[-1].text
    assert [event.tool for event in home.asked()] == ["python", "add_note"] or [
        event.tool for event in home.asked()
    ] == ["add_note"]


@needs_sandbox
def test_a_tool_that_was_saved_is_promoted_by_a_person_and_used_in_a_new_conversation_after_a_restart(
    home: Home,
) -> None:
    home.say(call_text("python", code=SAVE), "Saved.")
    assert "saved count_words; its example passed" in home.results()[-1].text
    home.say(call_text("promote_tool", name="count_words"), "Kept.")
    (asked,) = home.asked()
    assert "return len(text.split())" in asked.detail and "calls: no other tool" in asked.detail
    home.restart()
    home.say(call_text("count_words", text="one two three four"), "Four.")
    (result,) = home.results()
    assert (result.tool, result.state, result.text) == ("count_words", "done", "4")


@needs_sandbox
def test_E7_promotion_is_asked_for_each_time_whatever_was_permitted(home: Home) -> None:
    home.say(call_text("python", code=SAVE), "Saved.")
    home.tools.permits.remember(Rule("promote_tool", "*", True))
    home.tools.permits.set_mode(home.talk.conversation_id or "", "auto")
    home.say(call_text("promote_tool", name="count_words"), "No.", approve="reject")
    assert len(home.asked()) == 1
    assert not any("count_words" in text for text in (home.talk.runtime.last_prompt().split("</tools>")[0],))


@needs_sandbox
def test_E11_a_promoted_tool_waits_again_once_what_it_calls_has_changed(home: Home) -> None:
    first = saving("one", "1", "one() == 1")
    second = saving("two", "int(tools.one()) + 1", "two() == 2")
    home.say(call_text("python", code=first), call_text("promote_tool", name="one"), "Kept.")
    home.say(call_text("python", code=second), "Saved.")
    home.say(call_text("promote_tool", name="two"), "Kept.")
    home.say(call_text("two"), "Two.")
    assert [(event.tool, event.state) for event in home.results()][-1] == ("two", "done")
    changed = 'def one() -> int:\n    """Give one."""\n    return 2\n'
    home.tools.saved.add("one", changed, "assert one() == 2", "user")
    home.say(call_text("two"), "It is gone.", "Really.")
    assert [event for event in home.results() if event.state == "done"] == []


@needs_sandbox
def test_of_tools_that_do_not_all_fit_those_come_first_that_were_used(home: Home, paths: Paths) -> None:
    for name in ("alpha", "beta", "gamma"):
        home.say(
            call_text("python", code=saving(name, "1", f"{name}() == 1")), call_text("promote_tool", name=name), "Kept."
        )
    home.say(call_text("gamma"), call_text("beta"), "Done.")
    home.say(call_text("gamma"), "Done.")
    home.restart()
    home.say("Hello.")
    head = home.talk.runtime.last_prompt().split("</tools>")[0]
    assert head.index('"gamma"') < head.index('"beta"') < head.index('"alpha"')
    versions = {home.talk.agent.current_mixture().harness.version}
    home.say(call_text("alpha"), call_text("alpha"), "Done.")
    versions.add(home.talk.agent.current_mixture().harness.version)
    assert len(versions) == 1, "a use alone begins no view anew"


def test_files_of_granted_folders_are_read_without_asking_and_written_after(home: Home, tmp_path: Path) -> None:
    (tmp_path / "papers" / "a.txt").write_text("hello", encoding="utf-8")
    home.say(call_text("read_file", path="papers/a.txt"), "It says hello.")
    assert (home.asked(), "hello" in home.results()[0].text) == ([], True)
    home.say(call_text("write_file", path="papers/b.txt", text="new"), "Written.", approve="reject")
    assert not (tmp_path / "papers" / "b.txt").exists()
    home.say(call_text("write_file", path="papers/b.txt", text="new"), "Written.")
    assert (tmp_path / "papers" / "b.txt").read_text() == "new"


def test_a_text_for_an_expert_counts_from_the_next_turn_on_under_another_version(home: Home, paths: Paths) -> None:
    before = home.say("One.")
    write_harness(paths, '[system]\nL1 = "Always whisper."\n')
    after = home.say("Two.")
    versions = [home.talk.trace(turn).harness_version for turn in (before, after)]
    assert versions[0] != versions[1]
    assert "Always whisper." in home.talk.read(after)


def test_a_tool_that_is_switched_off_is_not_offered(home: Home, paths: Paths) -> None:
    write_harness(paths, "[budgets]\ntool_tokens = 1000000\n[tools]\nadd_note = false\n")
    home.say("Hi.")
    prompt = home.talk.runtime.last_prompt()
    assert '"name": "search_notes"' in prompt and '"name": "add_note"' not in prompt


def test_a_reminder_is_kept_after_it_was_permitted(home: Home) -> None:
    home.say(call_text("add_reminder", text="Call Ann", at="2026-03-05 09:00"), "Done.")
    (asked,) = home.asked()
    assert "Call Ann" in asked.title
    home.say(call_text("list_events"), "There.")
    assert "Call Ann" in home.results()[0].text


def notices(home: Home) -> list[tuple[str, str]]:
    return [(event.code, event.values["subject"]) for event in home.talk.events if isinstance(event, Notice)]


def test_what_waits_for_a_person_or_is_wrong_is_told_once(home: Home, paths: Paths, tmp_path: Path) -> None:
    papers = (tmp_path / "papers").resolve()
    server = '[mcpServers.clock]\ncommand = "/nowhere/clock"\n'
    write_harness(paths, server, folder=papers)
    home.say("Hello.")
    assert notices(home) == [("server_waits", "clock")]
    (papers / "AGENTS.md").write_text("Be brief.", encoding="utf-8")
    home.say("Hello.")
    assert notices(home) == [("folder_waits", str(papers))]
    home.say("Hello.")
    assert notices(home) == []
    (paths.home / "harness.toml").write_text("[budgets]\nturn_seconds = 'long'\n", encoding="utf-8")
    home.say("Hello.")
    (notice,) = [event for event in home.talk.events if isinstance(event, Notice)]
    assert notice.code == "harness_wrong" and "line 2" in notice.values["problem"]
    for language in ("en", "zh"):
        assert "line 2" in notice_line(notice, language)


def hook(when: str, source: str, *, tools: str = "[]") -> str:
    command = json.dumps([sys.executable, "-c", source])
    return f"[[hooks]]\nwhen = {json.dumps(when)}\ncommand = {command}\ntools = {tools}\n"


def test_a_hook_forbids_a_call_before_anybody_is_asked(home: Home, paths: Paths) -> None:
    objects = "import sys; print('no notes today', file=sys.stderr); sys.exit(1)"
    write_harness(paths, hook("before_tool", objects, tools='["add_note"]'))
    home.say(call_text("add_note", title="Tea", text="Buy tea"), "It was not noted.")
    (result,) = home.results()
    assert (result.state, home.asked()) == ("refused", [])
    assert "no notes today" in result.text
    assert "no notes today" in home.talk.runtime.last_prompt()


def test_a_hook_forbids_a_turn_and_nothing_of_it_is_answered(home: Home, paths: Paths) -> None:
    objects = "import json, sys; sys.exit('secret' in json.load(sys.stdin)['text'])"
    write_harness(paths, hook("before_turn", objects))
    assert home.say("Hello.", text="Good morning").text == "Hello."
    refused = home.say("Hello.", text="Tell the secret")
    assert (refused.state, refused.text) == ("failed", "")
    assert "A hook of yours forbids this turn" in refused.problem


def test_hooks_after_a_call_and_a_turn_are_told_what_came_of_them(home: Home, paths: Paths, tmp_path: Path) -> None:
    appends = f"import sys; open({str(tmp_path / 'told')!r}, 'a').write(sys.stdin.read() + chr(10))"
    fails = "import sys; sys.exit('the log is full')"
    write_harness(paths, hook("after_tool", appends) + hook("after_turn", appends) + hook("after_turn", fails))
    closed = home.say(call_text("search_notes", words="tea"), "There is none.")
    told = [json.loads(line) for line in (tmp_path / "told").read_text(encoding="utf-8").splitlines()]
    assert [one["moment"] for one in told] == ["after_tool", "after_turn"]
    assert (told[0]["tool"], told[0]["state"]) == ("search_notes", "done")
    assert (told[1]["state"], told[1]["text"]) == ("answered", "There is none.")
    assert closed.state == "answered"
    assert [event.code for event in home.talk.events if isinstance(event, Notice)] == ["hook_failed"]
