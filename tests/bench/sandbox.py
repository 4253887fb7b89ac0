"""What Python in the sandbox costs: starting a namespace, and running a block in one that has started.

`python -m tests.bench.sandbox [--json] [--quick] [--seed N]`. Nothing here is random. Each round starts a namespace of
its own and runs trivial blocks of several kinds in it, in turn; a block is timed as the one who asked for it sees it.
"""

import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from engine.harness.repl.running import Outside
from engine.harness.repl.session import Repl
from engine.harness.sandbox import working_sandbox
from engine.harness.tool_calls import Tool
from engine.harness.tools.values import ToolResult, ToolSpec
from tests.bench.report import Figure, Goal, Report, arguments, middle, missing, progress, show

GOALS: Final = {
    "block_ms": Goal("block_ms", "ms, trivial block in a started namespace", "<=20"),
    "start_ms": Goal("start_ms", "ms, until a namespace can run blocks", "<=300"),
}
TRIVIAL: Final = "1 + 1"
BLOCKS: Final = {
    "an expression": TRIVIAL,
    "one line printed": "print('hello')",
    "one tool called": "echo(text='hello')",
    "an exception": "1 / 0",
}
OUTSIDE: Final = Outside(
    (ToolSpec(Tool("echo", "Says it.", {"type": "object", "properties": {"text": {}}}), "nothing", False),),
    lambda call: ToolResult(call.arguments),
)


@dataclass(frozen=True, slots=True)
class Round:
    """One namespace."""

    start_ms: float
    first_block_ms: float
    blocks_ms: Mapping[str, Sequence[float]]
    """Of the later blocks, by kind."""


def main() -> None:
    options = arguments("sandbox", __doc__ or "").parse_args()
    rounds, blocks = (3, 5) if options.quick else (15, 40)
    show(report(measure(rounds, blocks)), as_json=options.json)


def measure(rounds: int, blocks: int) -> list[Round]:
    """Empty where there is no sandbox. `blocks` are those of each kind in each round."""
    # Tried once and remembered, so that no round pays for it.
    if working_sandbox() is None:
        return []
    measured = []
    for number in range(rounds):
        measured.append(one_round(blocks))
        progress(f"round {number + 1} of {rounds}: started in {measured[-1].start_ms:.0f} ms")
    return measured


def one_round(blocks: int) -> Round:
    repl = Repl()
    try:
        started = time.perf_counter()
        repl.start()
        start_ms = 1000 * (time.perf_counter() - started)
        first_ms = timed(repl, TRIVIAL)
        times: dict[str, list[float]] = {kind: [] for kind in BLOCKS}
        for _ in range(blocks):
            for kind, code in BLOCKS.items():
                times[kind].append(timed(repl, code))
        return Round(start_ms, first_ms, times)
    finally:
        repl.close()


def timed(repl: Repl, code: str) -> float:
    """How long one block took, in ms."""
    started = time.perf_counter()
    result = repl.run(code, OUTSIDE)
    took_ms = 1000 * (time.perf_counter() - started)
    assert result.ending in ("finished", "raised"), result
    return took_ms


def report(rounds: Sequence[Round]) -> Report:
    if not rounds:
        nothing = missing("no sandbox works here; `macaron doctor` tells why")
        return Report("sandbox", [(goal, nothing) for goal in GOALS.values()], packages=("psutil",))
    figures: dict[str, Figure] = {
        "block_ms": middle([each for one in rounds for each in one.blocks_ms["an expression"]]),
        "start_ms": middle([one.start_ms for one in rounds]),
    }
    starts = [
        {"round": number, "start_ms": one.start_ms, "first_block_ms": one.first_block_ms}
        for number, one in enumerate(rounds, start=1)
    ]
    kinds = []
    for kind in BLOCKS:
        times = [each for one in rounds for each in one.blocks_ms[kind]]
        kinds.append({"block": kind, "median_ms": median(times), "slowest_ms": max(times), "runs": len(times)})
    return Report(
        "sandbox",
        [(goal, figures[name]) for name, goal in GOALS.items()],
        {"starts": starts, "blocks by kind": kinds},
        packages=("psutil",),
        notes={"sandbox": sandbox_version()},
    )


def sandbox_version() -> str:
    program = shutil.which("bwrap")
    if program is None:
        return "none"
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
