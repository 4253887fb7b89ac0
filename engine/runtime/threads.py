"""How many threads to compute with, found out at start instead of guessed.

On a busy or small machine more threads can be many times slower: they wait for one another while other programs hold
the cores. So a few tokens are decoded with each candidate, and the fastest wins.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

WORTH_A_THREAD: Final = 1.1
"""More threads must be this much faster than fewer ones; else the cores are left to other programs."""
_BUDGET_S: Final = 2.0
_DECODED_TOKENS: Final = 6
_PASSES: Final = 2


def usable_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def candidates(cores: int) -> tuple[int, ...]:
    """Thread counts worth trying, fewest first."""
    return tuple(sorted({1, max(1, cores // 2), cores}))


def choose(seconds: Mapping[int, float]) -> int:
    """The thread count to use, given the time the same work took with each."""
    best = min(seconds)
    for count in sorted(seconds):
        if seconds[best] >= seconds[count] * WORTH_A_THREAD:
            best = count
    return best


def measure(
    counts: Sequence[int], work: Callable[[int, int], None], *, clock: Callable[[], float] = time.perf_counter
) -> dict[int, float]:
    """Seconds per candidate: the better of two passes, which are interleaved so that a passing load hits all alike.

    `work(threads, tokens)` decodes that many tokens. Large bases get one pass within the budget.
    """
    started = clock()
    seconds: dict[int, float] = {}
    for _ in range(_PASSES):
        for count in counts:
            work(count, 1)  # the first token after a change of threads pays for the change
            before = clock()
            work(count, _DECODED_TOKENS)
            seconds[count] = min(seconds.get(count, float("inf")), clock() - before)
        if clock() - started > _BUDGET_S:
            break
    return seconds
