"""Ask the gate about an adapter: measure it, the champion and the factory, judge, and write down what was said.

Works on whichever bench it is given, and with the catalogue only through a shelf, which it opens for moments: before
it measures, and after.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal

from app.adapters.shelf import check_file
from app.paths import Paths
from engine.adapters.gate import (
    NIGHT,
    TEACH,
    AdapterResults,
    Case,
    GateRules,
    GeneralDrift,
    Integrity,
    Parity,
    SuiteResult,
    Verdict,
    judge,
)
from engine.adapters.records import AdapterRecord, Evaluation
from engine.errors import OutOfMemory, RuntimeFailed, ScoringStopped, UsageProblem
from engine.evaluation.drift import measure_drift, measure_reference
from engine.evaluation.integrity import inspect, is_sound
from engine.evaluation.measuring import Tell, is_remembered, measure
from engine.evaluation.reading import Bench
from engine.evaluation.remembering import Remembered
from engine.evaluation.results import figures_of
from engine.evaluation.suites import GeneralText, Suite, shipped_general_texts, shipped_suites
from engine.evaluation.thinning import thinned
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import NEVER, AdapterRef, AdapterStack, Stop
from ui.adapter_shelf import AdapterShelf
from ui.verdicts import verdict_lines

GATE: Final = "gate"
"""The name of the evaluation that holds the verdict."""

Who = Literal["factory", "champion", "candidate", "expert"]
"""`expert`: as it answers now, whatever that is."""
OpenShelf = Callable[[], AbstractContextManager[AdapterShelf]]


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """`done` of `total` items of all that is measured of this adapter in one go; `suite` is at it."""

    who: Who
    suite: str
    done: int
    total: int


TellProgress = Callable[[EvaluationProgress], None]


def tell_nobody(_progress: EvaluationProgress) -> None:
    """For those who do not wait."""


MeasureMore = Callable[[AdapterStack], tuple[SuiteResult, ...]]
"""Results of these adapters in what is no file of items, such as the rules of a lesson."""


def measure_no_more(_stack: AdapterStack) -> tuple[SuiteResult, ...]:
    """Where there is nothing of the kind."""
    return ()


@dataclass(frozen=True, slots=True)
class Examination:
    """What an adapter is examined in: all that is shipped, and what it was trained for."""

    suites: tuple[Suite, ...]
    texts: tuple[GeneralText, ...]
    also: MeasureMore = measure_no_more


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found, and what follows from it."""

    case: Case
    verdict: Verdict


def no_request(_request: str) -> bool:
    """Where an adapter was trained for no kind of request as a whole."""
    return False


def shipped_examination(
    targets: Sequence[Suite] = (),
    also: MeasureMore = measure_no_more,
    *,
    rules: GateRules = TEACH,
    is_concerned: Callable[[str], bool] = no_request,
) -> Examination:
    """What comes with the program, `targets`, and what `also` measures.

    Rules that ask for less than those of a night get about as much as they ask for. Drift is measured on requests that
    are not concerned, as long as there are enough: on the others every answer is meant to change.

    Raises: ModelMissing, UsageProblem.
    """
    shipped, texts = shipped_suites(), shipped_general_texts()
    unconcerned = tuple(text for text in texts if not is_concerned(text.request))
    texts = unconcerned if len(unconcerned) >= rules.drift_prompts else texts
    if rules.general_items < NIGHT.general_items:
        shipped, texts = thinned(shipped, rules), texts[: rules.drift_prompts]
    suites = (*targets, *shipped)
    if len({suite.name for suite in suites}) < len(suites):
        raise UsageProblem("Two suites have the same name.", "Rename that of what the adapter was trained for.")
    return Examination(suites, texts, also)


def judge_candidate(
    bench: Bench,
    record: AdapterRecord,
    base: Path,
    paths: Paths,
    open_shelf: OpenShelf,
    *,
    examination: Examination,
    rules: GateRules = TEACH,
    parity: Parity | None = None,
    length_is_objective: bool = False,
    opening_is_objective: bool = False,
    stop: Stop = NEVER,
    tell: TellProgress = tell_nobody,
) -> Judged:
    """The verdict on the adapter of `record`, which the catalogue has and of which it keeps what was said.

    `base` is the file that the bench runs. A champion itself is held against the factory alone. A candidate whose file
    is broken is not measured, and then nothing else is.

    Raises: UsageProblem for one of the factory, ModelMissing, ScoringStopped when `stop` was set; RuntimeFailed where
    the engine fails without the candidate; StoreProblem.
    """
    if record.kind == "factory":
        raise UsageProblem("An adapter of the factory is what others are held against.", "Name one that was trained.")
    with open_shelf() as shelf:
        champion = champion_of(shelf, bench, paths, besides=record.content_hash)
    path = paths.adapters / record.file
    integrity = inspect(path, record.content_hash, record.base_hash, base, bench, stop)
    work = _Work(bench, examination, Remembered(paths.evaluations), stop, tell)
    factory = work.reference("factory", None) if is_sound(integrity) else _nothing("")
    other = factory if champion is None else _nothing(champion.content_hash)
    if champion is not None and is_sound(integrity):
        other = work.reference("champion", champion)
    candidate, drift = _nothing(record.content_hash), None
    if is_sound(integrity):
        candidate, drift, integrity = work.candidate(adapter_ref(path), champion, integrity)
    case = Case(candidate, other, factory, integrity, drift, parity, length_is_objective, opening_is_objective)
    judged = Judged(case, judge(case, rules))
    with open_shelf() as shelf:
        for evaluation in evaluations_of(judged):
            shelf.add_evaluation(record.content_hash, evaluation)
    return judged


def measure_references(
    bench: Bench,
    paths: Paths,
    open_shelf: OpenShelf,
    *,
    examination: Examination,
    stop: Stop = NEVER,
    tell: TellProgress = tell_nobody,
) -> None:
    """Measure what candidates will be held against, so that judging one costs no more than measuring it.

    For moments in which the engine has nothing else to do; `judge_candidate` does what is left of it.

    Raises: ModelMissing, AdapterMismatch when the champion's file is gone or changed; ScoringStopped, RuntimeFailed,
    StoreProblem.
    """
    with open_shelf() as shelf:
        champion = champion_of(shelf, bench, paths)
    work = _Work(bench, examination, Remembered(paths.evaluations), stop, tell)
    work.remember("factory", None)
    if champion is not None:
        work.remember("champion", champion)


def has_references(bench: Bench, paths: Paths, open_shelf: OpenShelf, *, examination: Examination) -> bool:
    """Whether `measure_references` would have next to nothing to do. Raises: as that."""
    with open_shelf() as shelf:
        champion = champion_of(shelf, bench, paths)
    stacks = {bench.stack(), bench.stack(champion)}
    remembered = Remembered(paths.evaluations)
    return all(is_remembered(bench, stack, examination.suites, remembered) for stack in stacks)


def champion_of(shelf: AdapterShelf, bench: Bench, paths: Paths, *, besides: str = "") -> AdapterRef | None:
    """What answers for the bench's expert and is not on trial; None for the factory's, or where it is `besides`.

    Raises: ModelMissing, AdapterMismatch when its file is gone or changed; StoreProblem.
    """
    mixture = bench.mixture
    for record in shelf.adapters_in_use(mixture.profile.name):
        is_meant = record.expert == bench.expert and record.base_hash == mixture.info.base_hash
        if is_meant and record.state == "champion" and record.content_hash != besides:
            return adapter_ref(check_file(paths.adapters, record))
    return None


def evaluations_of(judged: Judged) -> tuple[Evaluation, ...]:
    """What the catalogue keeps: one for every suite, and one with the verdict, which is the newest."""
    suites = judged.case.candidate.suites
    kept = [Evaluation(suite.suite, len(suite.items), _figures(suite, judged.case)) for suite in suites]
    outcomes = [finding.outcome for finding in judged.verdict.findings]
    figures = {outcome: float(outcomes.count(outcome)) for outcome in ("holds", "fails", "open")}
    verdict: Literal["passed", "failed"] = "passed" if judged.verdict.decision == "promote" else "failed"
    # Sentences are kept in one language; faces that have the verdict itself say it in the user's.
    reasons = tuple(verdict_lines(judged.verdict, "en"))
    return (*kept, Evaluation(GATE, sum(len(suite.items) for suite in suites), figures, verdict, reasons))


def _figures(suite: SuiteResult, case: Case) -> dict[str, float]:
    """Of the candidate, and by the reference's name how often that was right."""
    found = figures_of(suite)
    for name, reference in case.references:
        other = next((one for one in reference.suites if one.suite == suite.suite), None)
        accuracy = None if other is None else figures_of(other).get("accuracy")
        if accuracy is not None:
            found[name] = accuracy
    return found


def _nothing(content_hash: str) -> AdapterResults:
    return AdapterResults(content_hash, ())


@dataclass(frozen=True, slots=True)
class _Work:
    """What is measured of each of the adapters."""

    bench: Bench
    examination: Examination
    remembered: Remembered
    stop: Stop
    tell: TellProgress

    def remember(self, who: Who, adapter: AdapterRef | None) -> None:
        """All of a reference that is the same for every candidate."""
        self._suites(who, adapter)
        measure_reference(
            self.bench,
            self.examination.texts,
            self.bench.stack(adapter),
            remembered=self.remembered,
            stop=self.stop,
            tell=self._as(who),
        )

    def reference(self, who: Who, adapter: AdapterRef | None) -> AdapterResults:
        return self._with_more(self._suites(who, adapter), self.bench.stack(adapter))

    def _suites(self, who: Who, adapter: AdapterRef | None) -> AdapterResults:
        return measure(
            self.bench,
            self.bench.stack(adapter),
            self.examination.suites,
            content_hash="" if adapter is None else adapter.content_hash,
            remembered=self.remembered,
            stop=self.stop,
            tell=self._as(who),
        )

    def candidate(
        self, adapter: AdapterRef, champion: AdapterRef | None, integrity: Integrity
    ) -> tuple[AdapterResults, GeneralDrift | None, Integrity]:
        """One with which the engine fails, as it did not with the references, is one that it cannot run."""
        stack, suites = self.bench.stack(adapter), self.examination.suites
        tell = self._as("candidate")
        try:
            drift = measure_drift(
                self.bench,
                self.examination.texts,
                stack,
                self.bench.stack(champion),
                self.bench.stack(),
                remembered=self.remembered,
                stop=self.stop,
                tell=tell,
            )
            results = measure(self.bench, stack, suites, content_hash=adapter.content_hash, stop=self.stop, tell=tell)
            results = self._with_more(results, stack)
        except (OutOfMemory, ScoringStopped):
            raise
        except RuntimeFailed:
            return _nothing(adapter.content_hash), None, replace(integrity, loads_in_engine=False)
        return results, drift, integrity

    def _with_more(self, results: AdapterResults, stack: AdapterStack) -> AdapterResults:
        return replace(results, suites=(*results.suites, *self.examination.also(stack)))

    def _as(self, who: Who) -> Tell:
        return partial(_tell, self.tell, who)


def _tell(tell: TellProgress, who: Who, suite: str, done: int, total: int) -> None:
    tell(EvaluationProgress(who, suite, done, total))
