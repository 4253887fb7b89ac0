"""The catalogue of adapters with a million rows: how long do a page of the list, a lookup and a promotion take?

Then, of what it names, 200 files through the engine with room for four: see `tests.bench.hot_loading`.

Run as `python -m tests.bench.catalogue [--json] [--quick] [--seed N]`. The rows are made by statements, not through the
catalogue; with --quick there are 20,000 of them and 40 files. What is timed goes through the catalogue on a real file,
at the disk's own pace: a promotion waits until it is written. Pages are taken from the newest end, from anywhere, and
of one profile, expert or state; lookups are by a whole hash, by its beginning, by a turn that was trained on, and of
who answers.
"""

import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterRecord
from engine.store import Store
from tests.bench import report
from tests.bench.hot_loading import ROOM, HotLoading, hot_load
from tests.bench.report import Figure, Goal, Report, Row, middle, progress
from tests.support.models import starter_base

PAGE: Final = Goal("list_page_ms", "ms, slowest kind of page", "<=10")
LOOKUP: Final = Goal("lookup_ms", "ms, slower kind of lookup", "<=10")
PROMOTION: Final = Goal("promotion_ms", "ms, written to the disk", "<=10")
GROWTH: Final = Goal("adapters_200_rss_growth_mb", "MB of the engine child, from the 20th load to the last", "<=8")
HOT_LOAD: Final = Goal("hot_load_ms", "ms more than under an adapter that is loaded", "reported with its size")

EXPERTS: Final = ("L0", "L1", "L2", "L3")
BASE: Final = "b" * 32
SOURCES_EACH: Final = 3
_BATCH: Final = 10_000


@dataclass(frozen=True, slots=True)
class Size:
    rows: int
    repeats: int
    files: int


FULL: Final = Size(1_000_000, 200, 200)
QUICK: Final = Size(20_000, 20, 40)


@dataclass(frozen=True, slots=True)
class Timed:
    what: str
    figure: Figure


def fill(path: Path, rows: int, random_numbers: random.Random) -> list[str]:
    """Write `rows` candidates, every tenth retired, with their sources and an evaluation; their hashes."""
    Store.open(path).close()
    hashes = [f"{random_numbers.getrandbits(128):032x}" for _ in range(rows)]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for start in range(0, rows, _BATCH):
            progress(f"making rows: {start} of {rows}")
            numbers = range(start + 1, min(start + _BATCH, rows) + 1)
            connection.execute("BEGIN")
            connection.executemany(
                """
                INSERT INTO adapters (adapter_id, content_hash, base_hash, profile, expert, kind, file, size_bytes,
                    rank, parent_hash, recipe_hash, data_hash, note, state, created_at)
                VALUES (?, ?, ?, 'starter', ?, 'personal', ?, 1000000, 8, ?, ?, ?, 'A lesson.', ?, '2026-01-01')
                """,
                (_row(number, hashes) for number in numbers),
            )
            connection.executemany(
                "INSERT INTO adapter_sources (adapter_id, source_id, content_hash) VALUES (?, ?, '')",
                ((number, f"t-{number * 7 + step}") for number in numbers for step in range(SOURCES_EACH)),
            )
            connection.executemany(
                "INSERT INTO evaluations (adapter_id, suite, items, figures, verdict, reasons, created_at)"
                " VALUES (?, 'general', 800, '{\"nats\": 1.5}', 'passed', '[]', '2026-01-01')",
                ((number,) for number in numbers),
            )
            connection.execute("COMMIT")
    return hashes


def _row(number: int, hashes: Sequence[str]) -> tuple[object, ...]:
    content_hash = hashes[number - 1]
    parent = hashes[number - 1 - len(EXPERTS)] if number > len(EXPERTS) else ""
    state = "retired" if number % 10 == 0 else "candidate"
    expert = EXPERTS[number % len(EXPERTS)]
    return number, content_hash, BASE, expert, f"{content_hash}.gguf", parent, "1" * 64, "2" * 64, state


def measure(size: Size, seed: int, base: Path) -> Report:
    """`base` is what the adapters that are loaded are for."""
    random_numbers = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="macaron-catalogue-") as folder:
        path = Path(folder) / "macaron.db"
        hashes = fill(path, size.rows, random_numbers)
        with Store.open(path) as store:
            catalogue = Catalogue(store.database)
            timed = [
                Timed(what, middle([_milliseconds(work) for work in works]))
                for what, works in _works(catalogue, hashes, size, random_numbers)
            ]
        file_mib = path.stat().st_size / (1 << 20)
    return make_report(timed, hot_load(base, size.files, seed), size, file_mib)


def _works(
    catalogue: Catalogue, hashes: Sequence[str], size: Size, random_numbers: random.Random
) -> Iterator[tuple[str, list[Callable[[], object]]]]:
    """What is timed, under its name; each piece of work is done once."""
    some = [random_numbers.choice(hashes) for _ in range(size.repeats)]
    places = [random_numbers.randrange(2, size.rows) for _ in range(size.repeats)]
    candidates = random_numbers.sample([one for n, one in enumerate(hashes, 1) if n % 10], size.repeats)
    yield "page: newest", [catalogue.page] * size.repeats
    yield "page: anywhere", [partial(catalogue.page, before=place) for place in places]
    yield (
        "page: one expert and state",
        [partial(catalogue.page, expert="L2", state="retired", before=place) for place in places],
    )
    yield (
        "page: one profile and expert",
        [partial(catalogue.page, profile="starter", expert="L2")] * size.repeats,
    )
    yield "page: a profile nobody has", [partial(catalogue.page, profile="tall")] * size.repeats
    yield "page: a state nobody is in", [partial(catalogue.page, state="canary")] * size.repeats
    yield "lookup: whole hash", [partial(catalogue.get, one) for one in some]
    yield "lookup: beginning of a hash", [partial(catalogue.get, one[:12]) for one in some]
    yield "lookup: all that is known", [partial(catalogue.details, one) for one in some]
    yield (
        "lookup: adapters that hold a turn",
        [partial(catalogue.find_by_source, f"t-{place * 7}") for place in places],
    )
    yield "lookup: who answers", [partial(catalogue.answering, "starter", BASE)] * size.repeats
    yield "promotion", [partial(catalogue.promote, one) for one in candidates]
    yield "rollback", [partial(catalogue.rollback, one) for one in _champions(catalogue)]


def _champions(catalogue: Catalogue) -> list[str]:
    """Those that answer, one rollback each."""
    records: Sequence[AdapterRecord] = catalogue.in_use("starter", BASE)
    return [record.content_hash for record in records]


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - started)


def make_report(timed: Sequence[Timed], loading: HotLoading, size: Size, file_mib: float) -> Report:
    def slowest(kind: str, goal: Goal) -> Figure:
        return report.worst([one.figure for one in timed if one.what.startswith(kind)], goal.goal)

    rows: list[Row] = [
        {
            "what": one.what,
            "median_ms": one.figure.value,
            "fastest_ms": one.figure.spread[0] if one.figure.spread else None,
            "slowest_ms": one.figure.spread[1] if one.figure.spread else None,
            "runs": one.figure.runs,
        }
        for one in timed
    ]
    return Report(
        "catalogue",
        [
            *(
                (goal, slowest(kind, goal))
                for kind, goal in (("page", PAGE), ("lookup", LOOKUP), ("promotion", PROMOTION))
            ),
            (GROWTH, Figure(loading.growth_mb, 1)),
            (HOT_LOAD, loading.load_ms),
        ],
        {"times": rows, "hot loading": [_loading_row(loading)]},
        ("sqlite-utils", "llama-cpp-python"),
        {"rows": size.rows, "file_mib": round(file_mib, 1), "sqlite": sqlite3.sqlite_version},
    )


def _loading_row(loading: HotLoading) -> Row:
    return {
        "files": loading.files,
        "file_mb": loading.file_bytes / 1e6,
        "room_for": ROOM,
        "resident_mb_settled": loading.settled_bytes / 1e6,
        "resident_mb_end": loading.end_bytes / 1e6,
        "growth_mb_if_none_were_freed": loading.leaked_mb,
        "changed_on_return": loading.changed,
    }


def main(words: Sequence[str]) -> int:
    options = report.arguments("catalogue", "The catalogue of adapters with a million rows.").parse_args(words)
    found = measure(QUICK if options.quick else FULL, options.seed, starter_base())
    report.show(found, as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
