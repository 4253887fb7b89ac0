"""What a hostile or careless block cannot use up: time, memory, disk, processes, output. Each is tried for real."""

import time
from collections.abc import Callable
from threading import Event, Thread, Timer

import psutil
import pytest

from engine.harness.repl.running import Outside, reason_to_end
from engine.harness.repl.session import Repl
from engine.harness.repl.values import Limits
from engine.harness.repl.wording import as_text
from tests.engine.harness.repl.conftest import SHORT

IGNORING = (
    "import signal\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n    except OSError: pass\n"
)


def tree(repl: Repl) -> list[psutil.Process]:
    """The sandbox and everything in it."""
    assert repl._process is not None and repl._process._process is not None
    outer = psutil.Process(repl._process._process.pid)
    return [outer, *outer.children(recursive=True)]


def is_gone(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=5)[1]


# Time


def test_E3_a_block_that_sleeps_for_ever_is_interrupted_and_its_variables_are_kept(hasty: Repl):
    hasty.run("kept = 1")
    result = hasty.run("print('begun')\nimport time\ntime.sleep(10**6)")
    assert (result.ending, result.output) == ("interrupted", "begun\n")
    assert "longer than 1 s" in result.why and "variables are kept" in result.why
    assert hasty.run("kept").value == "1"


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("while True:\n    pass", id="a loop"),
        pytest.param("import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()", id="a deadlock"),
        pytest.param("import os\nread, write = os.pipe()\nos.read(read, 1)", id="an empty pipe"),
    ],
)
def test_E3_however_it_hangs_it_is_interrupted(hasty: Repl, code: str):
    assert hasty.run(code).ending == "interrupted"
    assert hasty.run("1").value == "1"


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            "while True:\n    try:\n        while True: pass\n    except BaseException: pass", id="it catches"
        ),
        pytest.param(f"{IGNORING}while True: pass", id="it ignores every signal"),
        pytest.param("10 ** 10 ** 9", id="it never comes back to Python"),
        pytest.param("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", id="it stops itself"),
    ],
)
def test_E3_one_that_does_not_heed_the_interrupt_takes_its_whole_process_tree_along(hasty: Repl, code: str):
    hasty.run("kept = 1")
    processes = tree(hasty)
    begun = time.monotonic()
    result = hasty.run(code)
    assert result.ending in ("lost", "interrupted")
    assert time.monotonic() - begun < 20
    if result.ending == "lost":
        assert "did not heed the interrupt" in result.why
        assert is_gone(processes)
    assert hasty.run("1").value == "1"


def test_E3_processor_time_is_limited_over_all_blocks(new_repl: Callable[..., Repl]):
    repl = new_repl(Limits(wall_s=30, cpu_s=1))
    result = repl.run("while True: pass")
    assert result.ending == "lost"
    assert "1 seconds of processor time" in result.why


def test_E3_what_a_block_leaves_running_stands_still_between_blocks(repl: Repl):
    code = "import threading\ncount = 0\ndef spin():\n    global count\n    while True: count += 1\n"
    repl.run(f"{code}threading.Thread(target=spin, daemon=True).start()")
    python = tree(repl)[-1]
    before = python.cpu_times().user
    time.sleep(0.5)
    assert python.status() == psutil.STATUS_STOPPED
    assert python.cpu_times().user == before
    assert repl.run("import time\nfirst = count\ntime.sleep(0.3)\ncount > first").value == "True"


# Stop


def test_a_stop_ends_a_block_within_a_second_and_says_so(repl: Repl):
    repl.start()
    stop = Event()
    Timer(0.2, stop.set).start()
    begun = time.monotonic()
    result = repl.run("import time\ntime.sleep(60)", Outside(stop=stop))
    assert (result.ending, result.was_stopped) == ("interrupted", True)
    assert time.monotonic() - begun < 3


def test_an_interrupt_from_another_thread_does_the_same(repl: Repl):
    repl.run("kept = 1")
    Timer(0.2, repl.interrupt).start()
    assert repl.run("import time\ntime.sleep(60)").was_stopped
    assert repl.run("kept").value == "1"


def test_an_interrupt_while_nothing_runs_ends_nothing(repl: Repl):
    repl.run("kept = 1")
    repl.interrupt()
    assert repl.run("kept").value == "1"


def test_closing_ends_a_block_that_runs(repl: Repl):
    repl.start()
    results = []
    thread = Thread(target=lambda: results.append(repl.run("import time\ntime.sleep(60)")))
    thread.start()
    time.sleep(0.3)
    repl.close()
    thread.join(timeout=10)
    assert results[0].was_stopped
    assert not repl.is_running


# Memory


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("bytearray(64 << 30)", id="64 GiB at once"),
        pytest.param("hoard = []\nwhile True: hoard.append(bytearray(64 << 20))", id="bit by bit"),
        pytest.param("import mmap\nmmap.mmap(-1, 64 << 30)", id="mapped"),
        pytest.param("'x' * (64 << 30)", id="a text"),
    ],
)
def test_E3_memory_beyond_the_limit_is_an_exception_and_no_more(new_repl: Callable[..., Repl], code: str):
    repl = new_repl(Limits(wall_s=30, memory_bytes=256 << 20))
    result = repl.run(code)
    assert result.ending == "raised"
    assert "MemoryError" in result.error or "Cannot allocate memory" in result.error
    assert repl.run("hoard = None\n1").value == "1"


# Processes


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param("os.fork()", id="fork"),
        pytest.param("os.forkpty()", id="fork with a terminal"),
        pytest.param("os.posix_spawn('/bin/true', ['true'], {})", id="spawn"),
        pytest.param("os.system('true') and 1/0", id="a shell"),
        pytest.param("subprocess.run(['/bin/true'])", id="subprocess"),
        pytest.param("multiprocessing.get_context('fork').Process(target=print).start()", id="multiprocessing"),
        pytest.param("ctypes.CDLL(None).vfork() == -1 and 1/0", id="vfork"),
        pytest.param("ctypes.CDLL(None).syscall(56, 17, 0, 0, 0, 0) == -1 and 1/0", id="clone"),
        pytest.param("ctypes.CDLL(None).syscall(435, 0, 0) == -1 and 1/0", id="clone3"),
        pytest.param("ctypes.CDLL(None).daemon(0, 0) == -1 and 1/0", id="daemon"),
    ],
)
def test_E3_no_process_can_be_started_so_no_bomb_and_no_daemon(shared: Repl, attempt: str):
    shared.start()
    before = len(tree(shared))
    result = shared.run(f"import ctypes, multiprocessing, os, subprocess\n{attempt}")
    assert result.ending == "raised", result
    assert len(tree(shared)) == before == 3, "bubblewrap outside, bubblewrap inside, Python"


def test_E3_a_bomb_of_forks_and_threads_ends_with_its_block(hasty: Repl):
    code = """
import os, threading, time
threading.stack_size(1 << 15)
def bomb():
    while True:
        try: os.fork()
        except OSError: pass
        try: threading.Thread(target=bomb, daemon=True).start()
        except (RuntimeError, MemoryError): time.sleep(0.01)
bomb()
"""
    hasty.start()
    processes = tree(hasty)
    result = hasty.run(code)
    assert result.ending in ("interrupted", "lost")
    hasty.close()
    assert is_gone(processes)


# Disk


def test_E3_the_scratch_folder_is_limited_in_size_and_nothing_else_can_be_filled(repl: Repl):
    code = """
import os
written = 0
try:
    for name in range(100):
        with open(f"/tmp/{name}", "wb", buffering=0) as file:
            for _ in range(16):
                written += file.write(bytes(1 << 20))
except OSError as problem:
    print(problem.strerror)
written >> 20
"""
    result = repl.run(code)
    assert result.output == "No space left on device\n"
    assert 50 <= int(result.value or 0) <= 64
    places = "[place for place in ('/dev/shm', '/dev', '/', '/proc', '/usr', '/var/tmp') if os.access(place, os.W_OK)]"
    assert repl.run(places).value == "[]"
    assert repl.run(
        "for name in os.listdir('/tmp'): os.unlink(f'/tmp/{name}')\nopen('/tmp/x', 'w').write('ok')"
    ).value == ("2")


def test_E3_so_is_the_number_of_files_in_it(new_repl: Callable[..., Repl]):
    repl = new_repl(Limits(wall_s=30, scratch_files=500))
    result = repl.run("import os\nname = 0\nwhile True:\n    os.mkdir(f'/tmp/{name}')\n    name += 1")
    assert (result.ending, "it made more than 500 files" in result.why) == ("lost", True)
    assert repl.run("import os\nos.listdir('/tmp')").value == "[]"


def test_E3_descriptors_are_limited(repl: Repl):
    result = repl.run("import os\nheld = []\nwhile True: held.append(os.pipe())")
    assert "Too many open files" in result.error
    assert repl.run("for pair in held:\n    for end in pair: os.close(end)\n1").ending == "finished"


# Output


def test_E3_E4_endless_printing_is_cut_labelled_and_ended(repl: Repl):
    result = repl.run("print('begin')\nwhile True: print('x' * 1000)")
    assert result.ending == "interrupted"
    assert "printed more than 8192 KiB" in result.why
    assert result.output.startswith("begin\n")
    assert "bytes left out here" in result.output
    assert len(as_text(result)) < 10_000


def test_E4_a_hundred_million_bytes_cost_a_few_thousand(new_repl: Callable[..., Repl]):
    repl = new_repl(Limits(wall_s=60, output_bytes=200_000_000))
    result = repl.run("import sys\nfor _ in range(100): sys.stdout.write('y' * 1_000_000)\nprint('end')")
    assert result.ending == "finished"
    assert result.output.endswith("end\n")
    assert len(result.output) < 7_000


def test_E4_control_characters_are_written_out_wherever_they_stand(shared: Repl):
    result = shared.run("print('\\x1b[2J')\nraise ValueError('\\x1b]0;title\\x07')")
    assert "\x1b" not in as_text(result)
    assert "\\x1b[2J" in result.output and "\\x1b]0;title" in result.error


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        pytest.param({}, "", id="within all limits"),
        pytest.param({"was_stopped": True}, "stopped", id="stopped"),
        pytest.param({"ran_s": SHORT.wall_s + 0.1}, "longer than 1 s.", id="time"),
        pytest.param({"printed_bytes": SHORT.output_bytes + 1}, "8192 KiB", id="output"),
        pytest.param({"refused": 101}, "32 calls", id="calls"),
    ],
)
def test_a_block_is_ended_for_one_of_four_reasons(changed: dict[str, object], words: str):
    state = {"ran_s": 1.0, "printed_bytes": 10, "refused": 0, "was_stopped": False, **changed}
    reason = reason_to_end(**state, limits=SHORT)
    assert words in reason and bool(words) == bool(reason)
