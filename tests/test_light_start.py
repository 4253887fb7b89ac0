"""Asking for help costs almost nothing: no heavy library is imported before a verb needs it."""

import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAVY = ("fastapi", "gradio", "llama_cpp", "mcp", "numpy", "peft", "textual", "torch", "transformers")
HELP_THEN_HEAVY_MODULES = f"""
import runpy, sys
sys.argv = ["macaron", "--help"]
try:
    runpy.run_module("app", run_name="__main__", alter_sys=True)
except SystemExit as end:
    assert not end.code, end.code
print("heavy:", *sorted(sys.modules.keys() & {set(HEAVY)!r}))
"""


def run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def user_seconds_of_help() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run("-m", "app", "--help")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def test_help_names_the_commands_of_the_first_turn():
    text = run("-m", "app", "--help")
    assert {"ask", "chat", "history"} <= set(text.split())


def test_help_takes_under_half_a_second_of_processor_time():
    run("-m", "app", "--help")  # writes the bytecode, so that the clock sees only starts
    assert statistics.median(user_seconds_of_help() for _ in range(3)) < 0.5


def test_help_imports_no_heavy_library():
    assert run("-c", HELP_THEN_HEAVY_MODULES).splitlines()[-1] == "heavy:"
