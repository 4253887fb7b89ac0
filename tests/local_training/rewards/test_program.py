"""Programs that a model wrote: what they are worth, and what they cannot do."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import RuntimeFailed
from local_training.rewards import RewardProblem, build_reward, confined
from local_training.rewards.confined import Limits, run_python
from local_training.rewards.program import program_in
from local_training.tasks import RewardSpec
from tests.local_training.rewards.judging import judge

ADD = [{"arguments": [1, 2], "result": 3}, {"arguments": [-1, 1], "result": 0}]


@pytest.fixture(autouse=True)
def sandbox(require_program: Callable[[str], str]) -> None:
    require_program("bwrap")


@pytest.mark.parametrize(
    ("said", "value", "reason"),
    [
        pytest.param("def add(a, b):\n    return a + b", 1, "2 of 2 cases", id="bare"),
        pytest.param("加法：\n```python\ndef add(a, b):\n    return a + b\n```\n完成。", 1, "2 of 2", id="fenced"),
        pytest.param("def add(a, b):\n    print(3)\n    return a + b", 1, "2 of 2", id="printing_is_no_result"),
        pytest.param("def add(a, b):\n    return 3", 0, "case 2 gives 3", id="one_case_by_heart"),
        pytest.param("def add(a, b):\n    return True", 0, "case 1 gives true", id="true_is_no_number"),
        pytest.param("def add(a, b) return", 0, "case 1 gives no result (SyntaxError", id="syntax"),
        pytest.param("def plus(a, b):\n    return a + b", 0, "KeyError: 'add'", id="another_name"),
        pytest.param("def add(a, b):\n    return {a, b}", 0, "not JSON serializable", id="no_json"),
        pytest.param("def add(a, b):\n    return float('nan')", 0, "not JSON compliant", id="nan"),
        pytest.param("", 0, "no program", id="empty"),
        pytest.param("I cannot do that.", 0, "SyntaxError", id="talk"),
    ],
)
def test_a_function_is_called_with_every_case(said, value, reason):
    result = judge("program", said, function="add", cases=ADD)
    assert (result.value, reason in result.reason) == (value, True), result.reason


def test_a_share_of_the_cases_counts_where_that_is_wanted():
    result = judge("program", "def add(a, b):\n    return 3", function="add", cases=ADD, partial=True)
    assert (result.value, result.reason) == (0.5, "1 of 2 cases pass; case 2 gives 3")


def test_a_program_that_waits_is_not_tried_again():
    started = time.monotonic()
    result = judge(
        "program",
        "def add(a, b):\n    while a < 0: pass\n    return a + b",
        function="add",
        partial=True,
        time_s=3,
        cases=[{"arguments": [1, 2], "result": 3}, *[{"arguments": [-1, 1], "result": 0}] * 20],
    )
    assert result.value == pytest.approx(1 / 21)
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("text", "program"),
    [
        pytest.param("x = 1", "x = 1", id="no_fence"),
        pytest.param("First:\n```python\nx = 1\n```\nbetter:\n```py\nx = 2\n```\n", "x = 2", id="last"),
        pytest.param("```rust\nlet x;\n```\n```\nx = 1\n```\nThat is it.", "x = 1", id="another_language"),
        pytest.param("```python\nx = 1\n```\n```json\n{}\n```", "x = 1", id="another_language_last"),
        pytest.param("```python\nx = 1\ny = 2", "x = 1\ny = 2", id="left_open"),
        pytest.param('```python\ns = """\n ``` \n"""\n```', 's = """\n ``` \n"""', id="fence_within_a_text"),
    ],
)
def test_the_program_is_the_last_fence_of_python(text, program):
    assert program_in(text) == program


def test_a_program_reads_and_writes():
    cases = [{"input": "3\n4\n", "output": "7\n"}, {"input": "1\n1\n", "output": "2"}]
    assert judge("program", "print(int(input()) + int(input()))", cases=cases).value == 1
    assert judge("program", "print(7)", cases=cases).reason == "case 2 writes '7'"
    assert "case 1 fails (NameError" in judge("program", "print(7)\nx", cases=cases).reason


@pytest.mark.parametrize(
    "trick",
    [
        pytest.param("import os\nos._exit(0)", id="leaves_early"),
        pytest.param("raise SystemExit(0)", id="exits"),
        pytest.param("import sys, json\nprint(json.dumps(3))\nsys.exit(0)", id="prints_a_result"),
        pytest.param("import os\nos.kill(os.getpid(), 9)", id="kills_itself"),
        pytest.param("class Yes(int):\n    __eq__ = lambda a, b: True\nadd = lambda a, b: Yes(5)", id="equal_to_all"),
    ],
)
def test_no_trick_passes_for_a_result(trick):
    assert judge("program", trick, function="add", cases=[{"arguments": [1, 2], "result": 3}]).value == 0


def test_what_is_expected_is_nowhere_in_the_process():
    spy = (
        "import gc, sys\n"
        "def add(a, b):\n"
        "    frame, seen = sys._getframe(), ''\n"
        "    while frame:\n"
        "        seen += repr(frame.f_locals) + repr(frame.f_globals)\n"
        "        frame = frame.f_back\n"
        "    return str(sum([459136822, 459136823])) in seen + repr(gc.get_objects()) + repr(sys.argv)\n"
    )
    case = {"arguments": [1, 2], "result": 918273645}
    assert judge("program", spy, function="add", cases=[case]).reason == "case 1 gives false"


def test_a_program_that_does_not_end_is_ended():
    started = time.monotonic()
    result = judge("program", "while True: pass", cases=[{"input": "", "output": ""}], time_s=0.5)
    assert (result.value, result.reason) == (0, "case 1 takes longer than 0.5 s")
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("source", "told"),
    [
        pytest.param("x = 'a' * (1 << 30)", "MemoryError", id="memory"),
        pytest.param("import sys\nwhile True: sys.stdout.write('x' * 65536)", "File too large", id="output"),
        pytest.param("open('/tmp/x', 'wb').write(b'x' * (1 << 22))", "File too large", id="file"),
        pytest.param("open('/usr/x', 'w')", "Read-only file system", id="writing_to_the_system"),
        pytest.param("[open('/dev/null') for _ in range(100)]", "Too many open files", id="open_files"),
        pytest.param(
            "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))",
            "not allowed to raise maximum limit",
            id="raising_a_limit",
        ),
    ],
)
def test_a_program_stays_within_its_limits(source, told):
    end = run_python(source, "", Limits(time_s=5.0, memory_bytes=256 << 20))
    assert end.exit_code != 0
    assert told in end.last_words


def test_what_a_program_leaves_behind_ends_with_it():
    marker = f"7{os.getpid()}.25"
    source = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep({marker})'])"
    run_python(source, "", Limits(time_s=5.0))
    deadline = time.monotonic() + 10
    # The system ends them a moment after the sandbox; left alone they would sleep for hours.
    while left := [path for path in Path("/proc").glob("[0-9]*/cmdline") if marker.encode() in content(path)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it ended meanwhile
        return b""


def test_without_a_sandbox_nothing_runs_and_that_is_said(monkeypatch):
    monkeypatch.setattr(confined, "working_sandbox", lambda: None)
    with pytest.raises(RuntimeFailed, match="no sandbox") as caught:
        judge("program", "print(1)", cases=[{"input": "", "output": "1"}])
    assert "bubblewrap" in caught.value.hint


def test_only_the_caller_may_do_without_a_sandbox(monkeypatch):
    monkeypatch.setattr(confined, "working_sandbox", lambda: None)
    assert run_python("print(1)", "", Limits(), may_be_unconfined=True).output == "1\n"
    with pytest.raises(RewardProblem, match="no parameter `may_be_unconfined`"):
        build_reward(RewardSpec("program", {"cases": [{"input": "", "output": ""}], "may_be_unconfined": True}))


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        pytest.param({}, "list of 1 to 50", id="no_cases"),
        pytest.param({"cases": [{"input": "x"}]}, "`input` and `output`", id="half_a_case"),
        pytest.param({"cases": [{"input": 1, "output": "1"}]}, "texts", id="input_is_a_number"),
        pytest.param({"cases": ADD}, "`input` and `output`", id="calls_without_a_function"),
        pytest.param({"cases": ADD, "function": "os.system"}, "no name of a function", id="function"),
        pytest.param({"cases": ADD, "function": "add", "time_s": 600}, "from 0.1 to 60", id="time"),
        pytest.param({"cases": ADD, "function": "add", "memory_mib": 1}, "from 64", id="memory"),
    ],
)
def test_wrong_parameters_are_refused(parameters, reason):
    with pytest.raises(RewardProblem, match=reason):
        build_reward(RewardSpec("program", parameters))
