"""Whether memory finds what was told, leaves out what holds no more, keeps nothing that is not of the user, and is
quick among a hundred thousand.

`python -m tests.bench.memory [--json] [--quick] [--arm ARM] [--seed N] [--locomo PATH] [--embedder FILE]`. With the
embedder that comes with the program, which reads no Chinese, or another: `--arm sets --embedder bge-m3-Q8_0.gguf`. The
LoCoMo conversations are not part of the project: name their file, or set MACARON_LOCOMO; without it what needs them
says so. `--quick` takes one of them, few memories and a short conversation. The arms: locomo, sets, updates, pollution,
folding, scale.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from engine.memory.embedding import Embedder
from tests.bench import memory_folding, memory_scale, report
from tests.bench.memory_arms import Arm, OfflineEmbedder, Updated, arm_of, updated, written_share
from tests.bench.memory_pollution import Polluted, read_stream, run_through
from tests.bench.memory_sets import LANGUAGES, Question, Told, read_locomo, read_set, recall_at
from tests.bench.report import Figure, Goal, Report, Row, missing, progress

ARMS: Final = ("locomo", "sets", "updates", "pollution", "folding", "scale")
DEPTHS: Final = (5, 10, 20)
OWN_DEPTH: Final = 5
MEMORIES: Final = 100_000
RUNS: Final = 300
QUICK_MEMORIES: Final = 2_000
QUICK_RUNS: Final = 20
LOCOMO_PLACE: Final = "MACARON_LOCOMO"
GOALS: Final = {
    goal.goal_id: goal
    for goal in (
        Goal("locomo_evidence_recall_10", "of the evidence, among 10 utterances", ">=0.70"),
        Goal("locomo_evidence_recall_5", "of the evidence, among 5 utterances", "reported"),
        Goal("locomo_evidence_recall_20", "of the evidence, among 20 utterances", "reported"),
        Goal("recall5_en", "of the evidence, among 5 memories, own English set", ">=0.80"),
        Goal("recall5_zh", "of the evidence, among 5 memories, own Chinese set", ">=0.60"),
        Goal("hybrid_lead_en", "recall at 5 above the better of words and vectors alone", ">0"),
        Goal("hybrid_lead_zh", "recall at 5 above the better of words and vectors alone", ">0"),
        Goal("stale_returned", "updates after which the old memory still comes back", "<=0"),
        Goal("fresh_missing", "updates after which the new memory does not come back", "reported"),
        Goal("absent_taken_for_known", "questions about what was never said", "<=0"),
        Goal("known_share_en", "of the questions that can be answered, taken for known", "reported"),
        Goal("known_share_zh", "of the questions that can be answered, taken for known", "reported"),
        Goal("written_share_en", "of the messages with evidence, written by the rules alone", "reported"),
        Goal("written_share_zh", "of the messages with evidence, written by the rules alone", "reported"),
        Goal("pollution_junk_share", "of what was stored of a polluted stream, not true of the user", "<0.02"),
        Goal("pollution_facts_stored", "of the turns that tell something of the user, kept", "reported"),
        Goal("pollution_changed", "turns that tell nothing of the user and have changed a memory", "<=0"),
        Goal("folding_pinned_kept", "of what must not be lost, in the running memory or recalled", ">=1.0"),
        Goal("folding_turns_stored", "of the turns of a 40,000-token conversation, in the database", ">=1.0"),
        Goal("folding_prompt_drift", "of prompt tokens a turn, last tenth from first", "<=0.10"),
        Goal("folding_read_drift", "of prompt tokens read anew a turn, last tenth from first", "<=0.10"),
        Goal("folding_line_faults", "lines of running memories that their turn does not bear out", "<=0"),
        Goal("question_embedding_ms", "ms to embed a question, median", "reported"),
        Goal("search_p95_ms", "ms, without the question's embedding", "<=10"),
        Goal("write_p95_ms", "ms, without the text's embedding", "<=50"),
    )
}
_OF_ARM: Final = {
    "locomo": ("locomo_evidence_recall_10", "locomo_evidence_recall_5", "locomo_evidence_recall_20"),
    "sets": (
        *(f"{name}_{one}" for name in ("recall5", "hybrid_lead", "known_share", "written_share") for one in LANGUAGES),
        "absent_taken_for_known",
        "question_embedding_ms",
    ),
    "updates": ("stale_returned", "fresh_missing"),
    "pollution": ("pollution_junk_share", "pollution_facts_stored", "pollution_changed"),
    "folding": (
        "folding_pinned_kept",
        "folding_turns_stored",
        "folding_prompt_drift",
        "folding_read_drift",
        "folding_line_faults",
    ),
    "scale": ("search_p95_ms", "write_p95_ms"),
}

Find = Callable[[Arm, str, int], Sequence[str]]
WAYS: Final[Mapping[str, Find]] = {
    "hybrid": lambda arm, question, most: arm.hybrid(question, most),
    "product": lambda arm, question, most: arm.product(question, most),
    "words": lambda arm, question, most: arm.by_words(question, most),
    "vectors": lambda arm, question, most: arm.by_vectors(question, most),
}
"""Without and with the least relevance that the program asks for; by words alone; by vectors alone."""


def recalls(arm: Arm, way: str, most: int) -> list[float]:
    """Of each question, the share of its evidence that was found."""
    return [recall_at(WAYS[way](arm, one.text, most), one.evidence) for one in arm.told.questions]


def locomo_figures(told: Sequence[Told], embedder: Embedder) -> tuple[dict[str, Figure], list[Row]]:
    found = {(way, most): list[float]() for way in WAYS for most in DEPTHS}
    for number, one in enumerate(told, 1):
        progress(f"LoCoMo conversation {number} of {len(told)}: {len(one.messages)} utterances")
        with arm_of(one, embedder) as arm:
            for way, most in found:
                found[way, most] += recalls(arm, way, most)
    rows: list[Row] = [
        {"way": way} | {f"at {most}": float(np.mean(found[way, most])) for most in DEPTHS} for way in WAYS
    ]
    figures = {
        f"locomo_evidence_recall_{most}": Figure(float(np.mean(found["hybrid", most])), len(found["hybrid", most]))
        for most in DEPTHS
    }
    return figures, rows


def set_figures(language: str, told: Told, embedder: Embedder) -> tuple[dict[str, Figure], Row, list[Row]]:
    with arm_of(told, embedder) as arm:
        means = {way: float(np.mean(recalls(arm, way, OWN_DEPTH))) for way in WAYS}
        known = [arm.knows(one.text) for one in told.questions]
        taken = [question for question in told.absent if arm.knows(question)]
        missed = [_missed_row(language, arm, one) for one in told.questions]
    figures = {
        f"recall5_{language}": Figure(means["product"], len(told.questions)),
        f"hybrid_lead_{language}": Figure(
            means["product"] - max(means["words"], means["vectors"]), len(told.questions)
        ),
        f"known_share_{language}": Figure(float(np.mean(known)), len(known)),
        f"written_share_{language}": Figure(written_share(told), len(told.questions)),
        f"absent_{language}": Figure(len(taken), len(told.absent)),
    }
    row: Row = {"language": language, "messages": len(told.messages), "questions": len(told.questions), **means}
    return figures, row, [one for one in missed if one]


def _missed_row(language: str, arm: Arm, question: Question) -> Row:
    """A question whose evidence was not found; empty where it was."""
    found = arm.product(question.text, OWN_DEPTH)
    if set(question.evidence) <= set(found):
        return {}
    texts = {message.message_id: message.text for message in arm.told.messages}
    first = texts[found[0]] if found else ""
    return {"language": language, "question": question.text, "wanted": texts[question.evidence[0]], "first": first}


def update_figures(done: Sequence[Updated]) -> tuple[dict[str, Figure], list[Row]]:
    rows: list[Row] = [
        {
            "said": one.update.first,
            "then": one.update.then,
            "question": one.update.question,
            "found": " / ".join(text.strip() for text in one.found),
            "stale": one.stale,
            "fresh": one.fresh,
        }
        for one in done
    ]
    return {
        "stale_returned": Figure(sum(one.stale for one in done), len(done)),
        "fresh_missing": Figure(sum(not one.fresh for one in done), len(done)),
    }, rows


def pollution_figures(done: Sequence[Polluted]) -> tuple[dict[str, Figure], list[Row]]:
    junk = sum(len(one.junk) for one in done)
    stored = junk + sum(len(one.true) for one in done)
    telling = [one for one in done if one.turn.holds]
    rows: list[Row] = [
        {
            "kind": one.turn.kind,
            "said": one.turn.text.replace("\n", " / "),
            "what": what,
            "stored": " / ".join(texts),
        }
        for one in done
        for what, texts, is_so in (
            ("junk", [memory.text for memory in one.junk], bool(one.junk)),
            ("missed", [], one.is_missed),
            ("changed", [], one.has_changed),
        )
        if is_so
    ]
    return {
        "pollution_junk_share": Figure(junk / max(stored, 1), stored),
        "pollution_facts_stored": Figure(sum(not one.is_missed for one in telling) / len(telling), len(telling)),
        "pollution_changed": Figure(sum(one.has_changed for one in done), len(done)),
    }, rows


def scale_figures(times: memory_scale.Times) -> tuple[dict[str, Figure], list[Row]]:
    figures = {
        "search_p95_ms": Figure(_p95(times.search_ms), len(times.search_ms), _spread(times.search_ms)),
        "write_p95_ms": Figure(_p95(times.write_ms), len(times.write_ms), _spread(times.write_ms)),
    }
    row: Row = {
        "memories": times.memories,
        "search median ms": float(np.median(times.search_ms)),
        "write median ms": float(np.median(times.write_ms)),
        "load s": times.load_s,
    }
    return figures, [row]


def make_report(
    arms: Sequence[str], locomo: Path | None, *, is_quick: bool, seed: int, file: Path | None = None
) -> Report:
    """`file`: of another embedder than the one that comes with the program."""
    figures, tables = dict[str, Figure](), dict[str, list[Row]]()
    with _embedder(arms, file) as embedder:
        if "locomo" in arms and locomo is not None and embedder is not None:
            told = read_locomo(locomo)[: 1 if is_quick else None]
            taken, tables["LoCoMo, evidence recall"] = locomo_figures(told, embedder)
            figures |= taken
        if "sets" in arms and embedder is not None:
            figures |= _own_sets(embedder, tables)
            took = embedder.embed_ms([one.text for language in LANGUAGES for one in read_set(language).questions])
            figures["question_embedding_ms"] = Figure(float(np.median(took)), len(took), _spread(took))
        if "updates" in arms and embedder is not None:
            done = [updated(update, embedder) for language in LANGUAGES for update in read_set(language).updates]
            taken, tables["updates"] = update_figures(done)
            figures |= taken
        if "pollution" in arms and embedder is not None:
            progress("a polluted stream")
            taken, tables["a polluted stream"] = pollution_figures(run_through(read_stream(), embedder))
            figures |= taken
        if "folding" in arms and embedder is not None:
            tokens = memory_folding.QUICK_TOKENS if is_quick else memory_folding.CONVERSATION_TOKENS
            progress(f"a conversation of {tokens:,} tokens in a view of {memory_folding.CONTEXT_TOKENS:,}")
            lived = memory_folding.live(tokens, seed, embedder, memory_folding.planted())
            taken, tables["long conversation"] = memory_folding.figures(lived)
            figures |= taken
            tables["lost"] = memory_folding.lost_rows(lived)
    if "scale" in arms:
        memories, runs = (QUICK_MEMORIES, QUICK_RUNS) if is_quick else (MEMORIES, RUNS)
        progress(f"timing among {memories:,} memories")
        taken, tables["among many"] = scale_figures(memory_scale.measure(memories, runs, seed))
        figures |= taken
    return Report(
        "memory",
        [(goal, figures.get(name) or missing(_reason(name, arms, locomo))) for name, goal in GOALS.items()],
        {title: rows for title, rows in tables.items() if rows},
        notes={"embedder": embedder.name if embedder is not None else "none"},
    )


def _own_sets(embedder: Embedder, tables: dict[str, list[Row]]) -> dict[str, Figure]:
    figures, rows, missed = dict[str, Figure](), list[Row](), list[Row]()
    for language in LANGUAGES:
        progress(f"own set, {language}")
        taken, row, unfound = set_figures(language, read_set(language), embedder)
        figures |= taken
        rows.append(row)
        missed += unfound
    absent = [figures.pop(f"absent_{language}") for language in LANGUAGES]
    figures["absent_taken_for_known"] = Figure(sum(one.value or 0 for one in absent), sum(one.runs for one in absent))
    tables["own sets, recall at 5"], tables["not found"] = rows, missed
    return figures


@contextmanager
def _embedder(arms: Sequence[str], file: Path | None) -> Iterator[OfflineEmbedder | None]:
    if set(arms) == {"scale"}:
        yield None
        return
    embedder = OfflineEmbedder(file)
    try:
        yield embedder
    finally:
        embedder.close()


def _reason(name: str, arms: Sequence[str], locomo: Path | None) -> str:
    arm = next(arm for arm, names in _OF_ARM.items() if name in names)
    if arm not in arms:
        return f"this is part of --arm {arm}"
    if arm == "locomo" and locomo is None:
        return f"the conversations are not part of the project: name their file with --locomo or in {LOCOMO_PLACE}"
    return "nothing was measured"


def _p95(values: Sequence[float]) -> float:
    return float(np.percentile(values, 95))


def _spread(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def main(words: Sequence[str]) -> int:
    parser = report.arguments("memory", "Recall, updates and speed of long-term memory.")
    parser.add_argument("--arm", choices=ARMS, help="only this part")
    parser.add_argument("--locomo", type=Path, help=f"the LoCoMo conversations; default: ${LOCOMO_PLACE}")
    parser.add_argument("--embedder", type=Path, help="GGUF file of another embedder, such as a multilingual one")
    options = parser.parse_args(words)
    place = options.locomo or (Path(os.environ[LOCOMO_PLACE]) if os.environ.get(LOCOMO_PLACE) else None)
    if place is not None and not place.exists():
        parser.error(f"there is no file {place}")
    if options.embedder is not None and not options.embedder.is_file():
        parser.error(f"there is no file {options.embedder}")
    arms = ARMS if options.arm is None else (options.arm,)
    made = make_report(arms, place, is_quick=options.quick, seed=options.seed, file=options.embedder)
    report.show(made, as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
