"""Hooks as real programs: what they are told, what makes them forbid, and that nothing of them is left."""

import json
import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from engine.errors import ScoringStopped
from engine.harness.config import HarnessConfig, PlacedHook
from engine.harness.hooks import NO_HOOKS, Hooks
from engine.runtime.protocol import NEVER


class Now:
    def is_set(self) -> bool:
        return True


@pytest.fixture
def hooks(tmp_path: Path):
    """Hooks of Python sources, in a folder of their own."""

    def make(*sources: str, when: str = "before_tool", timeout_s: float = 20.0, tools: tuple[str, ...] = ()) -> Hooks:
        made = []
        for number, source in enumerate(sources):
            file = tmp_path / f"hook{number}.py"
            file.write_text(source, encoding="utf-8")
            made.append(
                PlacedHook(when=when, command=(sys.executable, str(file)), timeout_s=timeout_s, tools=tools)  # type: ignore[arg-type]
            )
        return Hooks(HarnessConfig(hooks=tuple(made)), {**os.environ, "HUB_TOKEN": "secret"}, str(tmp_path))

    return make


def test_a_hook_is_told_what_happens_and_gets_no_secret(hooks, tmp_path: Path) -> None:
    source = "import json, os, sys; json.dump([json.load(sys.stdin), dict(os.environ)], open('told.json', 'w'))"
    facts = {"tool": "add_note", "arguments": "{}", "turn": "t", "text": "茶"}
    assert hooks(source).run("before_tool", facts, NEVER) == ""
    told, environment = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))
    assert told == {"moment": "before_tool", **facts}
    assert "HUB_TOKEN" not in environment and "PATH" in environment


def test_the_first_that_objects_says_why_and_the_others_do_not_run(hooks, tmp_path: Path) -> None:
    objects = "import sys; print('first\\nnot on Sundays\\n', file=sys.stderr); sys.exit(3)"
    found = hooks("", objects, "open('ran', 'w')").run("before_tool", {}, NEVER)
    assert found == "hook1.py: not on Sundays"
    assert not (tmp_path / "ran").exists()
    assert hooks("import sys; sys.exit(3)").run("before_tool", {}, NEVER) == "hook0.py: it ended with 3"


def test_one_that_takes_too_long_objects_and_leaves_nothing(hooks, tmp_path: Path) -> None:
    spawns = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('children', 'w').write(f'{os.getpid()} {child.pid}')\n"
        "time.sleep(60)\n"
    )
    assert hooks(spawns, timeout_s=3.0).run("before_tool", {}, NEVER) == "hook0.py: it took longer than 3 s"
    for pid in map(int, (tmp_path / "children").read_text().split()):
        for _ in range(100):
            if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                break
            time.sleep(0.05)
        else:
            pytest.fail(f"{pid} still runs")


def test_one_that_prints_for_ever_or_reads_nothing_holds_up_nobody(hooks) -> None:
    source = "import sys\nfor _ in range(20000): print('x' * 100); print('y' * 100, file=sys.stderr)"
    assert hooks(source).run("before_tool", {"text": "z" * 1_000_000}, NEVER) == ""


def test_a_stop_ends_it(hooks) -> None:
    with pytest.raises(ScoringStopped):
        hooks("import time; time.sleep(60)").run("before_tool", {}, Now())


def test_a_program_that_is_not_there_objects(tmp_path: Path) -> None:
    missing = Hooks(
        HarnessConfig(hooks=(PlacedHook(when="before_turn", command=("/nowhere/check",)),)), os.environ, str(tmp_path)
    )
    assert missing.run("before_turn", {}, NEVER).startswith("check: it cannot be started")


def test_a_hook_is_run_at_its_moment_and_for_its_tools(hooks) -> None:
    made = hooks("import sys; sys.exit(1)", tools=("add_*",))
    assert made.are_at("before_tool", "add_note") and not made.are_at("before_tool", "read_file")
    assert not made.are_at("after_tool", "add_note") and not NO_HOOKS.are_at("before_turn")
    assert made.run("before_tool", {}, NEVER, "read_file") == ""
