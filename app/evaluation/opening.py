"""An engine for measuring, apart from the one that answers: small, and giving way to everything else on the machine."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import psutil

from app.paths import Paths
from app.wiring import engine_child
from engine.evaluation.reading import VIEWS, Bench
from engine.harness.formats import choose_format
from engine.mixture import Mixture, harness_of
from engine.routing.profile import Profile
from engine.runtime import ladder
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import LoadPlan, ModelInfo, Runtime

CONTEXT_TOKENS: Final = 4096
"""Items are short; the longest are documents that a probe reads."""
_NICE: Final = 10


def evaluation_plan(profile: Profile, base: Path, threads: int) -> LoadPlan:
    """What measuring needs of a runtime; who brings a larger one measures the same."""
    context = min(profile.context_tokens, CONTEXT_TOKENS)
    return LoadPlan(str(base), context_tokens=context, pool_tokens=2 * context, threads=threads, max_views=VIEWS)


def bench_of(runtime: Runtime, info: ModelInfo, profile: Profile, expert: str) -> Bench:
    """The bench on a runtime that has loaded the profile's base. Raises: UnknownName, ModelMissing."""
    profile.expert(expert)
    chat_format, _ = choose_format(info.architecture, info.markup, bos=info.bos, family=profile.family)
    stacks = {one.expert: (adapter_ref(one.adapter),) if one.adapter else () for one in profile.experts}
    return Bench(runtime, Mixture(profile, harness_of(profile, chat_format, info.markup), info, stacks), expert)


@contextmanager
def open_bench(paths: Paths, profile: Profile, base: Path, expert: str, *, threads: int) -> Iterator[Bench]:
    """An engine child of its own with the base loaded; it ends on the way out.

    Raises: UnknownName, ModelProblem, RuntimeFailed.
    """
    give_way()
    with closing(engine_child(paths)) as runtime:
        info, _, _ = ladder.load(runtime, evaluation_plan(profile, base, threads))
        yield bench_of(runtime, info, profile, expert)


def give_way() -> None:
    """Let this process, and those it starts from now on, take what others leave of the processor."""
    if sys.platform == "win32":
        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
        return
    os.nice(max(0, _NICE - os.nice(0)))
