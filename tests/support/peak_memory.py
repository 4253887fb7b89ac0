"""How much memory a piece of work takes at its highest, and how to do it in a process that did nothing before."""

import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import psutil

P = ParamSpec("P")
T = TypeVar("T")

_BETWEEN_LOOKS_S = 0.002


@dataclass(frozen=True, slots=True)
class Peak:
    """Resident bytes of the process: before the work, and the most that were seen during it."""

    before_bytes: int
    highest_bytes: int


def peak_while(work: Callable[[], Any]) -> Peak:
    """Do `work` and look at this process all the while.

    The system's own high-water mark would also count what came before, such as the loading of a model.
    """
    process = psutil.Process()
    before = process.memory_info().rss
    seen, is_done = [before], threading.Event()

    def watch() -> None:
        while not is_done.wait(_BETWEEN_LOOKS_S):
            seen[0] = max(seen[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        is_done.set()
        watcher.join()
    return Peak(before, max(seen[0], process.memory_info().rss))


def in_fresh_process(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of a module's own function, called in a new process; its error is raised here."""
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()
