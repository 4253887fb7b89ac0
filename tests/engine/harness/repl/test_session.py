"""The namespace: blocks share it, say what they print, return and raise, and lose it only with their process."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from engine.errors import RuntimeFailed
from engine.harness.repl.process import way_out
from engine.harness.repl.session import Repl
from engine.harness.repl.values import MOST_CODE_CHARACTERS, Limits
from engine.harness.repl.wording import as_text
from engine.harness.sandbox import working_sandbox
from tests.support.imports import PACKAGES, imports_of, module_files

ROOT = Path(__file__).parents[4]


def sandboxes() -> set[int]:
    """Processes of sandboxes that we started, or whose starter is gone."""
    return {each.pid for each in psutil.Process().children(recursive=True) if each.name() == "bwrap"}


def test_variables_functions_and_imports_last_from_block_to_block(shared: Repl):
    shared.run("import math\ntwo = 2\ndef half(x):\n    return x / two")
    assert shared.run("half(math.floor(9.5))").value == "4.5"


@pytest.mark.parametrize(
    ("code", "value"),
    [
        pytest.param("1 + 1", "2", id="an expression"),
        pytest.param("'text'", "'text'", id="a text as Python writes it"),
        pytest.param("x = 3\nx", "3", id="the last of several lines"),
        pytest.param("x = 3", None, id="a statement"),
        pytest.param("None", None, id="nothing"),
        pytest.param("", None, id="an empty block"),
        pytest.param("# only words", None, id="a comment"),
        pytest.param("'咖啡'", "'咖啡'", id="Chinese"),
    ],
)
def test_the_value_is_that_of_the_last_expression(shared: Repl, code: str, value: str | None):
    result = shared.run(code)
    assert (result.ending, result.value) == ("finished", value)


def test_the_last_value_goes_by_the_name_of_a_line(shared: Repl):
    shared.run("6 * 7")
    assert shared.run("_ + 1").value == "43"


def test_both_streams_are_printed_in_their_order_also_past_python(shared: Repl):
    code = (
        "import os, sys\nprint('one')\nprint('two', file=sys.stderr)\nos.write(1, b'three\\n')\nprint('four', end='')"
    )
    assert shared.run(code).output == "one\ntwo\nthree\nfour"


def test_what_one_block_printed_is_not_told_by_the_next(shared: Repl):
    shared.run("print('before')")
    assert shared.run("print('after')").output == "after\n"


def test_a_block_that_spoiled_its_output_spoils_no_later_one(shared: Repl):
    shared.run("import sys\nsys.stdout.close()\nsys.stdout = None")
    assert shared.run("print('here')").output == "here\n"


def test_an_exception_is_told_with_the_lines_of_the_block_only(shared: Repl):
    result = shared.run("def f():\n    return 1 / 0\nf()")
    assert result.ending == "raised"
    assert result.error.splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert "return 1 / 0" in result.error
    assert "<string>" not in result.error


@pytest.mark.parametrize(
    ("code", "word"),
    [
        pytest.param("x = (", "SyntaxError", id="syntax"),
        pytest.param("raise SystemExit(3)", "variables are kept", id="exit"),
        pytest.param("exit()", "NameError", id="exit of the site module"),
        pytest.param("raise KeyboardInterrupt", "KeyboardInterrupt", id="an interrupt of its own"),
        pytest.param("def f(): f()\nf()", "RecursionError", id="recursion"),
        pytest.param("class A:\n  def __repr__(self): raise ValueError('no')\nA()", "ValueError", id="its own repr"),
        pytest.param("class E(Exception):\n  def __str__(self): 1/0\nraise E", "E: <exception str", id="its own text"),
        pytest.param("x = '\\ud800'\nprint(x)\nraise ValueError(x)", "ValueError", id="half a character"),
        pytest.param("'\ud800'", "Error", id="half a character in the code"),
        pytest.param("1\x00", "null bytes", id="a zero in the code"),
        pytest.param("(" * 5_000 + ")" * 5_000, "Error", id="deep code"),
    ],
)
def test_whatever_a_block_raises_the_namespace_stays(shared: Repl, code: str, word: str):
    shared.run("kept = 1")
    result = shared.run(code)
    assert result.ending == "raised"
    assert word in result.error
    assert shared.run("kept").value == "1"


def test_classes_of_blocks_know_their_module(shared: Repl):
    code = "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: 'int'\nimport pickle\n"
    assert shared.run(f"{code}pickle.loads(pickle.dumps(Point(3)))").value == "Point(x=3)"


def test_threads_run_and_files_are_kept_in_the_scratch_folder(shared: Repl):
    code = "import threading\nt = threading.Thread(target=lambda: open('note', 'w').write('hi'))\nt.start(); t.join()"
    assert shared.run(code).ending == "finished"
    assert shared.run("import os\n(open('/tmp/note').read(), os.getcwd(), os.path.expanduser('~'))").value == (
        "('hi', '/tmp', '/tmp')"
    )


def test_a_long_value_and_a_long_error_are_cut_and_say_so(shared: Repl):
    result = shared.run("'x' * 10_000_000")
    assert result.value is not None and len(result.value) < 7_000
    assert "characters left out here" in result.value
    assert "characters left out here" in shared.run("raise ValueError('x' * 10_000_000)").error


def test_a_block_beyond_all_measure_is_refused(shared: Repl):
    result = shared.run("#" * (MOST_CODE_CHARACTERS + 1))
    assert result.ending == "refused"
    assert "shorten" in result.why


def test_two_namespaces_know_nothing_of_each_other(shared: Repl, repl: Repl):
    shared.run("mine = 1\nopen('/tmp/mine', 'w').close()")
    assert "NameError" in repl.run("mine").error
    assert repl.run("import os\nos.listdir('/tmp')").value == "[]"


# Ends


@pytest.mark.parametrize(
    ("code", "words"),
    [
        pytest.param("import os\nos._exit(3)", "exit code 3", id="exit"),
        pytest.param("import ctypes\nctypes.string_at(0)", "SIGSEGV", id="crash"),
        pytest.param("import os\nos.abort()", "SIGABRT", id="abort"),
        pytest.param("import os\nos.kill(os.getpid(), 9)", "system ended it", id="kill"),
        pytest.param("import os\nos.execv('/bin/true', ['true'])", "exit code 0", id="another program in its place"),
    ],
)
def test_when_the_process_dies_the_result_says_how_and_that_all_variables_are_gone(repl: Repl, code: str, words: str):
    repl.run("kept = 1")
    result = repl.run(code)
    assert result.ending == "lost"
    assert words in result.why
    assert "All variables are gone" in as_text(result)
    assert not repl.is_running
    assert "NameError" in repl.run("kept").error


def test_a_restart_empties_the_namespace(repl: Repl):
    repl.run("x = 1")
    repl.restart()
    assert repl.is_running
    assert "NameError" in repl.run("x").error


def test_nothing_of_it_is_left_after_it_was_closed(repl: Repl):
    before, descriptors = sandboxes(), len(os.listdir("/proc/self/fd"))
    repl.run("1")
    assert sandboxes() - before
    repl.close()
    repl.close()
    assert not sandboxes() - before
    assert not repl.is_running
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_it_outlives_the_thread_that_started_it(repl: Repl):
    thread = threading.Thread(target=lambda: repl.run("x = 1"))
    thread.start()
    thread.join()
    assert repl.run("x").value == "1"


def test_it_ends_with_the_program_that_started_it(sandboxed: None):
    source = (
        "import os\n"
        "from engine.harness.repl.session import Repl\n"
        "repl = Repl()\n"
        "repl.run('import signal\\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)')\n"
        "print(repl._process._first_pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == -signal.SIGKILL
    psutil.wait_procs([psutil.Process(int(done.stdout))] if psutil.pid_exists(int(done.stdout)) else [], timeout=10)
    assert not psutil.pid_exists(int(done.stdout))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exit code 0"),
        (1, "exit code 1"),
        (137, "600 seconds of processor time"),
        (139, "SIGSEGV"),
        (255, "signal 127"),
    ],
)
def test_an_exit_code_becomes_words(code: int, words: str):
    assert words in way_out(code, Limits())


# What runs inside


def test_what_runs_blocks_imports_the_standard_library_only_and_is_imported_by_nothing():
    inside = "engine.harness.repl.child"
    modules = {name: path for package in PACKAGES for name, path in module_files(ROOT, package).items()}
    assert {each.package for each in imports_of(inside, modules[inside])} <= sys.stdlib_module_names
    # Reading every file as Python takes long; only these can name it.
    naming = [name for name, path in modules.items() if "child" in (text := path.read_text("utf-8")) and "repl" in text]
    assert not [each for name in naming for each in imports_of(name, modules[name]) if each.is_of(inside)]


# Where there is no sandbox


def test_without_a_sandbox_nothing_runs_and_the_result_says_what_to_install(tmp_path: Path):
    result = Repl(sandbox=lambda: None).run(f"open({str(tmp_path / 'ran')!r}, 'w')")
    assert result.ending == "refused"
    assert "bubblewrap" in result.why and "macaron doctor" in result.why
    assert not (tmp_path / "ran").exists()


def test_one_that_cannot_start_says_in_its_own_words_why(sandboxed: None):
    sandbox = working_sandbox()
    assert sandbox is not None
    broken = [*sandbox[:-1], "--bind", "/no/such/folder", "/x", sandbox[-1]]
    with pytest.raises(RuntimeFailed, match="/no/such/folder") as caught:
        Repl(sandbox=lambda: broken).start()
    assert "macaron doctor" in caught.value.hint


def test_one_that_is_not_there_is_an_error_like_any_other(sandboxed: None):
    result = Repl(sandbox=lambda: ["/no/such/bwrap", "--"]).run("1")
    assert result.ending == "refused"
    assert "could not be started" in result.why
