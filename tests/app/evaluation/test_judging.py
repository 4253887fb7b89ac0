"""The gate joined to engine and catalogue, on a tiny random base: sound adapters, broken ones, and champions."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from app.adapters.shelf import StoreShelf
from app.evaluation.judging import (
    EvaluationProgress,
    Examination,
    Judged,
    TellProgress,
    champion_of,
    judge_candidate,
    measure_references,
    shipped_examination,
    tell_nobody,
)
from app.opening import open_store
from app.paths import Paths
from engine.adapters.catalogue import Catalogue
from engine.adapters.gate import NIGHT, TEACH, GateRules, Parity
from engine.adapters.records import AdapterRecord
from engine.errors import ModelMissing, ScoringStopped, UsageProblem
from engine.evaluation.measuring import measure
from engine.evaluation.reading import Bench
from engine.evaluation.suites import ChoiceItem, Suite, shipped_suites
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import NEVER, Stop
from tests.support.adapters import write_random_adapter
from tests.support.evaluating import (
    choices,
    exploded_adapter,
    foreign_adapter,
    nan_adapter,
    open_bench,
    said,
    texts,
    written,
    zero_adapter,
)
from ui.adapter_shelf import AdapterShelf

pytestmark = pytest.mark.model

EXAMINATION = Examination((choices(count=4), written(count=4)), texts(2))
PARITY = Parity(64, 0.0)
RULES = replace(TEACH, general_items=4, probes=("short",), probe_items=4, drift_prompts=2, parity_prompts=1)
"""Those of a lesson, for fewer items."""
LENIENT = replace(
    RULES,
    general_margin_points=60.0,
    general_margin_nats_share=9.0,
    suite_margin_nats_share=9.0,
    kl_from_champion_nats=9.0,
    kl_from_factory_nats=9.0,
    nats_rise_share=9.0,
    length_change_share=9.0,
)
"""A random adapter changes everything; these rules look at what it was trained for and at what it must not do."""


@pytest.fixture(autouse=True)
def short_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.evaluation.drift.MOST_TOKENS", 8)


@pytest.fixture(scope="module")
def bench(tiny_moe: Path) -> Iterator[Bench]:
    with open_bench(tiny_moe, "L2") as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class Workshop:
    """A home with its catalogue, and adapters put into it."""

    paths: Paths
    base: Path
    shelf: AdapterShelf
    bench: Bench

    def put(self, make: Callable[[Path, Path], Path], name: str = "one", **changes: Any) -> AdapterRecord:
        self.paths.adapters.mkdir(parents=True, exist_ok=True)
        path = make(self.base, self.paths.adapters / f"{name}.gguf")
        record = AdapterRecord(
            adapter_ref(path).content_hash,
            self.bench.mixture.info.base_hash,
            self.bench.mixture.profile.name,
            "L2",
            "personal",
            path.name,
            path.stat().st_size,
            2,
        )
        return self.shelf.add_adapter(replace(record, **changes))

    def judge(
        self,
        record: AdapterRecord,
        rules: GateRules = RULES,
        *,
        examination: Examination = EXAMINATION,
        stop: Stop = NEVER,
        tell: TellProgress = tell_nobody,
        parity: Parity | None = PARITY,
    ) -> Judged:
        return judge_candidate(
            self.bench,
            record,
            self.base,
            self.paths,
            self.open,
            examination=examination,
            rules=rules,
            parity=parity,
            stop=stop,
            tell=tell,
        )

    def open(self) -> AbstractContextManager[AdapterShelf]:
        return nullcontext(self.shelf)


@pytest.fixture
def workshop(home: Path, tiny_moe: Path, bench: Bench) -> Iterator[Workshop]:
    paths = Paths(home)
    with open_store(paths) as store:
        yield Workshop(paths, tiny_moe, StoreShelf(Catalogue(store.database), paths.adapters), bench)


def codes(judged: Judged, outcome: str) -> set[str]:
    return {finding.code for finding in judged.verdict.findings if finding.outcome == outcome}


def mild(base: Path, target: Path) -> Path:
    return write_random_adapter(base, target, rank=2, strength=0.15)


def strong(base: Path, target: Path) -> Path:
    return write_random_adapter(base, target, rank=2, strength=0.5)


def other_mild(base: Path, target: Path) -> Path:
    return write_random_adapter(base, target, rank=2, strength=0.15, seed=1)


def preferring(bench: Bench, stacks: Sequence[Any]) -> list[tuple[ChoiceItem, list[bool]]]:
    """Two answers each, the first of which is called right, and which of the stacks find it likelier."""
    pairs = list(combinations("ABCDEFGHIJ", 2))
    items = tuple(ChoiceItem(one + other, said("Choose."), one, (other,)) for one, other in pairs)
    found = [measure(bench, stack, [Suite("q", "general", "q", items)], content_hash="").suites[0] for stack in stacks]
    return [(item, [bool(result.items[place].is_right) for result in found]) for place, item in enumerate(items)]


def turned(item: ChoiceItem) -> ChoiceItem:
    """With the other answer as the right one."""
    return replace(item, right=item.wrong[0], wrong=(item.right,))


# Sound ones


def test_an_adapter_that_learned_its_target_and_lost_nothing_passes_and_that_is_kept(workshop: Workshop):
    record = workshop.put(strong)
    factory, mine = workshop.bench.stack(), workshop.bench.stack(adapter_ref(workshop.paths.adapters / record.file))
    asked = preferring(workshop.bench, [factory, mine])
    gained = [item if after else turned(item) for item, (before, after) in asked if before != after]
    kept = [item if after else turned(item) for item, (before, after) in asked if before == after]
    assert min(len(gained), len(kept)) >= 8, "the two adapters must differ in some answers and agree in others"
    suites = (
        Suite("lesson", "target", "l", tuple(gained)),
        Suite("rest", "general", "r", tuple(kept)),
        written(count=4),
    )
    judged = workshop.judge(record, LENIENT, examination=Examination(suites, texts(2)))
    assert (judged.verdict.decision, judged.verdict.reasons) == ("promote", ())
    gate, *others = workshop.shelf.adapter(record.content_hash).evaluations
    assert (gate.suite, gate.verdict, gate.items) == ("gate", "passed", len(gained) + len(kept) + 5)
    assert gate.reasons[0].startswith("The candidate may be promoted")
    assert {one.suite: one.figures.get("accuracy") for one in others} == {"lesson": 1.0, "rest": 1.0, "short": 4 / 5}
    lesson = next(one for one in others if one.suite == "lesson")
    assert lesson.figures["factory"] == 0.0 and not lesson.verdict


def test_an_adapter_that_changes_nothing_is_equal_everywhere_and_not_promoted_without_a_win(workshop: Workshop):
    target = Suite("lesson", "target", "l", choices("lesson", count=8).items)
    examination = Examination((target, *EXAMINATION.suites), EXAMINATION.texts)
    judged = workshop.judge(workshop.put(zero_adapter), examination=examination)
    assert judged.case.candidate.suites == judged.case.factory.suites
    assert codes(judged, "fails") == set()
    assert codes(judged, "open") == {"target.no_win", "general.unclear", "general.unclear_nats"} & codes(judged, "open")
    assert "target.no_win" in codes(judged, "open")
    assert judged.verdict.decision == "not_enough_evidence"
    assert workshop.shelf.adapter(judged.case.candidate.content_hash).evaluations[0].verdict == "failed"


def test_what_nobody_measured_is_said_to_be_missing(workshop: Workshop):
    judged = workshop.judge(workshop.put(zero_adapter), parity=None)
    assert {"target.missing", "parity.missing"} <= codes(judged, "open")
    gate = workshop.shelf.adapter(judged.case.candidate.content_hash).evaluations[0]
    assert (
        "There is no suite for what the candidate was trained for, so nothing shows that it learned it." in gate.reasons
    )


# Broken ones


def test_an_adapter_whose_weights_exploded_is_rejected(workshop: Workshop):
    judged = workshop.judge(workshop.put(exploded_adapter))
    assert judged.verdict.decision == "reject"
    assert codes(judged, "fails") & {"drift.kl.beyond", "drift.nats.beyond", "integrity.loads"}


def test_an_adapter_with_a_weight_that_is_no_number_is_rejected_before_it_is_asked_anything(workshop: Workshop):
    told: list[EvaluationProgress] = []
    judged = workshop.judge(workshop.put(nan_adapter), tell=told.append)
    assert codes(judged, "fails") == {"integrity.finite"}
    assert judged.verdict.decision == "reject" and told == []
    gate = workshop.shelf.adapter(judged.case.candidate.content_hash).evaluations[0]
    assert (gate.verdict, gate.reasons[1]) == (
        "failed",
        "The adapter holds numbers that are not finite: training broke it.",
    )


def test_an_adapter_for_another_base_is_rejected(workshop: Workshop):
    assert codes(workshop.judge(workshop.put(foreign_adapter)), "fails") == {"integrity.base"}


def test_an_adapter_that_says_it_is_for_another_base_is_rejected(workshop: Workshop):
    assert codes(workshop.judge(workshop.put(mild, base_hash="0" * 32)), "fails") == {"integrity.base"}


def test_an_adapter_whose_file_was_changed_or_is_gone_does_not_pass(workshop: Workshop):
    record = workshop.put(mild)
    path = workshop.paths.adapters / record.file
    other_mild(workshop.base, path)
    assert codes(workshop.judge(record), "fails") == {"integrity.hash"}
    path.write_bytes(b"GGUF")
    assert codes(workshop.judge(record), "fails") == {"integrity.hash", "integrity.loads"}
    path.unlink()
    with pytest.raises(ModelMissing):
        workshop.judge(record)


def test_an_adapter_with_which_the_engine_computes_no_numbers_is_rejected(workshop: Workshop):
    def huge(base: Path, target: Path) -> Path:
        return write_random_adapter(base, target, rank=2, strength=1e30)

    # On an engine of its own: numbers that are none stay behind in its memory.
    with open_bench(workshop.base, "L2") as bench:
        judged = replace(workshop, bench=bench).judge(workshop.put(huge))
    assert codes(judged, "fails") == {"integrity.loads"}


# References


def test_a_candidate_is_held_against_the_champion_and_the_factory(workshop: Workshop):
    champion, record = workshop.put(mild), workshop.put(other_mild, "two")
    workshop.shelf.promote_adapter(champion.content_hash)
    told: list[EvaluationProgress] = []
    judged = workshop.judge(record, tell=told.append)
    assert [name for name, _ in judged.case.references] == ["champion", "factory"]
    assert judged.case.champion.content_hash == champion.content_hash
    assert judged.case.drift is not None
    assert judged.case.drift.kl_from_champion_nats != judged.case.drift.kl_from_factory_nats
    assert list(dict.fromkeys(progress.who for progress in told)) == ["factory", "champion", "candidate"]
    figures = workshop.shelf.adapter(record.content_hash).evaluations[1].figures
    assert {"accuracy", "champion", "factory"} <= set(figures)


def test_the_champion_itself_is_held_against_the_factory_alone(workshop: Workshop):
    champion = workshop.put(mild)
    workshop.shelf.promote_adapter(champion.content_hash)
    assert [name for name, _ in workshop.judge(champion).case.references] == ["factory"]


def test_only_the_champion_of_this_expert_and_base_counts(workshop: Workshop):
    def champion() -> Any:
        return champion_of(workshop.shelf, workshop.bench, workshop.paths)

    for name, changes in (("other expert", {"expert": "L1"}), ("other base", {"base_hash": "0" * 32})):
        made = workshop.put(
            lambda base, target: write_random_adapter(base, target, seed=len(str(target))), name, **changes
        )
        workshop.shelf.promote_adapter(made.content_hash)
    trial = workshop.put(mild, "trial")
    workshop.shelf.begin_canary(trial.content_hash)
    assert champion() is None
    workshop.shelf.promote_adapter(trial.content_hash)
    assert champion().content_hash == trial.content_hash


def test_a_reference_is_measured_once_and_a_candidate_every_time(workshop: Workshop):
    def asked(record: AdapterRecord) -> dict[str, int]:
        """How many reports of progress there were of each."""
        told: list[EvaluationProgress] = []
        workshop.judge(record, tell=told.append)
        names = [progress.who for progress in told]
        return {name: names.count(name) for name in dict.fromkeys(names)}

    one, two = workshop.put(mild), workshop.put(other_mild, "two")
    first, again, other = asked(one), asked(one), asked(two)
    suites = len(EXAMINATION.suites)
    assert first["factory"] > suites
    assert again["factory"] == other["factory"] == suites, "nothing but the ends of the suites"
    assert again["candidate"] > suites < other["candidate"]


def test_the_same_candidate_gets_the_same_verdict_from_remembered_references(workshop: Workshop):
    record = workshop.put(mild)
    first = workshop.judge(record)
    assert workshop.judge(record) == first


def test_references_can_be_measured_beforehand(workshop: Workshop):
    workshop.shelf.promote_adapter(workshop.put(mild).content_hash)
    record = workshop.put(other_mild, "two")
    measure_references(workshop.bench, workshop.paths, workshop.open, examination=EXAMINATION)
    told: list[EvaluationProgress] = []
    workshop.judge(record, tell=told.append)
    others = [progress for progress in told if progress.who != "candidate"]
    assert len(others) == 2 * len(EXAMINATION.suites), "nothing but the ends of the suites, of champion and factory"


def test_rules_of_a_lesson_get_as_much_as_they_ask_for_and_those_of_a_night_everything():
    night, lesson = shipped_examination(rules=NIGHT), shipped_examination(rules=TEACH)
    for rules, examination in ((NIGHT, night), (TEACH, lesson)):
        general = [item for suite in examination.suites if suite.role == "general" for item in suite.items]
        assert len({item.group or item.item_id for item in general}) >= rules.general_items
        assert {suite.name for suite in examination.suites if suite.role == "probe"} >= set(rules.probes)
        assert all(len(suite.items) >= rules.probe_items for suite in examination.suites if suite.role == "probe")
        assert len(examination.texts) >= rules.drift_prompts
    assert night.suites == shipped_suites()
    sizes = [sum(len(suite.items) for suite in examination.suites) for examination in (lesson, night)]
    assert sizes[0] < 0.7 * sizes[1]


def test_drift_is_measured_on_requests_that_are_not_concerned_as_long_as_there_are_enough():
    def is_chinese(request: str) -> bool:
        return "\u4e00" <= request[0] <= "\u9fff"

    mixed, english = shipped_examination(), shipped_examination(is_concerned=is_chinese)
    assert any(is_chinese(text.request) for text in mixed.texts)
    assert not any(is_chinese(text.request) for text in english.texts)
    assert len(english.texts) == len(mixed.texts) == TEACH.drift_prompts
    chinese = shipped_examination(is_concerned=lambda request: not is_chinese(request))
    assert chinese.texts == mixed.texts, "too few are left"


def test_a_target_of_the_name_of_a_shipped_suite_is_refused():
    taken = replace(shipped_suites()[0], role="target")
    with pytest.raises(UsageProblem, match="same name"):
        shipped_examination([taken])


def test_an_adapter_of_the_factory_is_not_judged(workshop: Workshop):
    record = replace(workshop.put(mild), kind="factory")
    with pytest.raises(UsageProblem):
        workshop.judge(record)


# Ends


def test_a_stop_ends_it_and_nothing_is_kept(workshop: Workshop):
    record, stop = workshop.put(mild), threading.Event()
    told: list[EvaluationProgress] = []

    def tell(progress: EvaluationProgress) -> None:
        told.append(progress)
        if progress.who == "candidate":
            stop.set()

    with pytest.raises(ScoringStopped):
        workshop.judge(record, stop=stop, tell=tell)
    assert [progress.who for progress in told].count("candidate") == 1
    assert workshop.shelf.adapter(record.content_hash).evaluations == ()
