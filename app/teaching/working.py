"""A lesson from beginning to end: answers as they are, learning, tests, the gate's word, and perhaps a trial.

Runs in a process of its own. Everything is told through `tell`; the store is open for moments only.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from app.adapters.opening import open_shelf
from app.adapters.shelf import check_file
from app.bases import find_base
from app.evaluation.judging import (
    EvaluationProgress,
    Examination,
    Judged,
    champion_of,
    has_references,
    judge_candidate,
    measure_references,
    shipped_examination,
)
from app.evaluation.opening import open_bench
from app.evaluation.parity import parity_of
from app.paths import Paths
from app.profiles import load_chosen_profile
from app.settings import load_settings, screen_language
from app.teaching.folder import HeldOutAnswers, LessonFolder, StoredLesson
from app.teaching.held_out import HeldOut, sampled
from app.teaching.learning import EarlierLesson, bring_in, read_earlier, train, with_earlier
from app.teaching.proposing import require_lesson
from app.teaching.timing import Budget, reading_seconds, step_seconds
from app.training.trainer import OUR_TRAINER, TrainerProgram
from engine.adapters.gate import TEACH
from engine.adapters.records import AdapterRecord
from engine.errors import AgentError, ScoringStopped
from engine.evaluation.reading import Bench
from engine.routing.profile import Profile
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import AdapterStack, Stop
from local_training.lessons.building import LessonData, build_planned
from local_training.lessons.comparing import Comparison, Pair, compare
from local_training.lessons.lesson import Lesson
from local_training.lessons.planning import BRIEF_SIZES, DEFAULT_SIZES, LessonSizes, plan_lesson
from local_training.lessons.practice import concerned_languages
from local_training.lessons.sampling import sampling_requests
from local_training.lessons.wording import LANGUAGES, Language, language_of
from ui.teaching import Compared, Taught, TeachProgress
from ui.verdicts import verdict_lines

SEED: Final = 0
SIZES: Final = DEFAULT_SIZES
Tell = Callable[[TeachProgress], None]


def _whole(examination: Examination) -> Examination:
    return examination


def _tell_nobody(_judged: Judged) -> None:
    """For those to whom the result is enough."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a lesson is taught under. Users have these; benchmarks choose others, to see what lessons are worth."""

    seed: int = SEED
    """Of what is held out, learned and shown, and of the run."""
    sizes: LessonSizes | None = None
    """How much is made of the corrections; None: as much as usual."""
    allows_unsafe: bool = False
    """Teach what would be refused as dangerous, to see whether the gate stops it."""
    shorten: Callable[[Examination], Examination] = _whole
    """What is left of the examination."""
    told: Callable[[Judged], None] = _tell_nobody
    """Told what the gate saw and said."""


USUAL: Final = Conditions()


def teach(
    paths: Paths,
    environment: Mapping[str, str],
    folder: LessonFolder,
    *,
    use: bool,
    stop: Stop,
    tell: Tell,
    threads: int | None = None,
    language: str | None = None,
    trainer: TrainerProgram = OUR_TRAINER,
    conditions: Conditions = USUAL,
) -> Taught:
    """Work through a lesson within its minutes, and write down what came of it, also where it is stopped or fails.

    use: begin a trial of its adapter where the gate passes it. What fails for a reason that the user can change is a
    result like any other; only a lesson that could not be begun raises. language: of the reasons; None is the user's.

    Raises: HomeBusy, StoreProblem, UsageProblem, ModelProblem.
    """
    trainer.require()
    with folder.held():
        stored = folder.read()
        settings = load_settings(paths.settings)
        language = language or screen_language(settings, environment)
        profile = load_chosen_profile(paths, stored.profile_folder)
        work = _Work(
            paths,
            folder,
            stored,
            profile,
            find_base(profile, paths),
            language,
            settings.threads if threads is None else threads,
            stop,
            Budget(60 * stored.proposal.minutes, tell),
            trainer,
            conditions,
        )
        folder.result.unlink(missing_ok=True)
        taught = work.result(use=use)
        folder.write_result(taught)
        return taught


@dataclass(frozen=True, slots=True)
class _Work:
    paths: Paths
    folder: LessonFolder
    stored: StoredLesson
    profile: Profile
    base: Path
    language: str
    threads: int
    stop: Stop
    budget: Budget
    trainer: TrainerProgram
    conditions: Conditions

    def result(self, *, use: bool) -> Taught:
        """What came of it, whatever that is."""
        nothing = Taught(self.folder.lesson_id, self.stored.proposal.expert, "failed")
        try:
            taught = self._taught(use=use)
        except ScoringStopped:
            taught = replace(nothing, decision="stopped")
        except AgentError as error:
            taught = replace(nothing, reasons=(error.problem, error.hint))
        return replace(taught, minutes=self.budget.spent_s / 60)

    def _taught(self, *, use: bool) -> Taught:
        lesson = require_lesson(self.stored.corrections, self.language, allows_unsafe=self.conditions.allows_unsafe)
        earlier = read_earlier(self.paths, self.stored)
        concerned = self._concerned(lesson, earlier)
        expert = self.stored.proposal.expert
        self.budget.tell("loading", 0, 0)
        with ExitStack() as stack:
            bench = stack.enter_context(open_bench(self.paths, self.profile, self.base, expert, threads=self.threads))
            examination = self._examination(concerned)
            sizes = self.conditions.sizes or self._sizes(bench, examination)
            plan = plan_lesson(lesson, self.stored.corrections, self.conditions.seed, sizes=sizes)
            now = self._answering(bench)
            answers = sampled(bench, sampling_requests(plan), self.stop, partial(self.budget.tell, "answering"))
            data = with_earlier(build_planned(plan, answers, expert=expert), earlier)
            before = {one.lesson_id: one.data for one in earlier}
            held_out = HeldOut(bench, data, before, self.stop, partial(self.budget.tell, "answering"))
            held_out.answers(now)
            record = self._learned(bench, data, concerned, examination)
            judged = self._judged(bench, record, held_out, lesson, examination)
            mine = bench.stack(adapter_ref(check_file(self.paths.adapters, record)))
            compared = partial(compare, data, held_out.answers(now), held_out.answers(mine), self.conditions.seed)
            comparison, everything = compared(), compared(shown=len(data.held_out))
        self.budget.tell("saving", 0, 0)
        self.folder.write_answers(HeldOutAnswers(tuple(map(_compared, everything.shown))))
        return self._decided(record, judged, comparison, use=use)

    def _concerned(self, lesson: Lesson, earlier: Sequence[EarlierLesson]) -> frozenset[Language]:
        """By this lesson, or by one that is rebuilt with it."""
        found = concerned_languages(lesson, [one.prompt for one in self.stored.corrections])
        for one in earlier:
            found |= concerned_languages(one.data.lesson, [item.prompt for item in one.data.held_out])
        return found if len(found) < len(LANGUAGES) else frozenset()

    def _sizes(self, bench: Bench, examination: Examination) -> LessonSizes:
        """The first lesson of a home spends a third of its minutes on what candidates are held against."""
        known = has_references(bench, self.paths, partial(open_shelf, self.paths), examination=examination)
        return SIZES if known else BRIEF_SIZES

    def _examination(self, concerned: frozenset[Language]) -> Examination:
        """`concerned`: languages of requests on which every answer is meant to become another one."""

        def is_concerned(request: str) -> bool:
            return language_of(request) in concerned

        return self.conditions.shorten(shipped_examination(is_concerned=is_concerned))

    def _answering(self, bench: Bench) -> AdapterStack:
        """What the user is answered by now."""
        with open_shelf(self.paths) as shelf:
            return bench.stack(champion_of(shelf, bench, self.paths))

    def _learned(
        self, bench: Bench, data: LessonData, concerned: frozenset[Language], examination: Examination
    ) -> AdapterRecord:
        """The adapter of a run within what is left for it."""
        read_s = reading_seconds(bench)
        # Now, and not after training: what they take is then known, and once is enough for all lessons.
        measure_references(
            bench,
            self.paths,
            partial(open_shelf, self.paths),
            examination=examination,
            stop=self.stop,
            tell=self._tell_testing,
        )
        run = train(
            self.folder,
            self.paths,
            data,
            self.profile,
            self.base,
            concerned=concerned,
            pace=self.budget.pace(read_s, step_seconds(bench, data, read_s)),
            seed=self.conditions.seed,
            threads=self.threads,
            language=self.language,
            stop=self.stop,
            tell=partial(self.budget.tell, "training"),
            trainer=self.trainer,
        )
        earlier = [LessonFolder(self.paths.lessons / name) for name in self.stored.earlier]
        return bring_in(run, self.paths, self.stored, [one for one in earlier if one.exists()], self.base)

    def _judged(
        self,
        bench: Bench,
        record: AdapterRecord,
        held_out: HeldOut,
        lesson: Lesson,
        examination: Examination,
    ) -> Judged:
        judged = judge_candidate(
            bench,
            record,
            self.base,
            self.paths,
            partial(open_shelf, self.paths),
            examination=replace(examination, also=held_out.suites),
            rules=TEACH,
            parity=parity_of(self.paths, record),
            length_is_objective=lesson.changes_length,
            opening_is_objective=lesson.changes_opening,
            stop=self.stop,
            tell=self._tell_testing,
        )
        self.conditions.told(judged)
        return judged

    def _tell_testing(self, progress: EvaluationProgress) -> None:
        self.budget.tell("testing", progress.done, progress.total)

    def _decided(self, record: AdapterRecord, judged: Judged, comparison: Comparison, *, use: bool) -> Taught:
        passed = judged.verdict.decision == "promote"
        if passed and use:
            with open_shelf(self.paths) as shelf:
                shelf.begin_canary(record.content_hash, f"lesson {self.folder.lesson_id}")
        low, high = comparison.after_interval
        return Taught(
            lesson_id=self.folder.lesson_id,
            expert=record.expert,
            decision="passed" if passed else "rejected",
            adapter_hash=record.content_hash,
            items=comparison.items,
            right_before=comparison.right_before,
            right_after=comparison.right_after,
            low=low,
            high=high,
            p_value=comparison.p_value,
            reasons=tuple(verdict_lines(judged.verdict, self.language))[1:],
            compared=tuple(map(_compared, comparison.shown)),
            is_in_use=passed and use,
        )


def _compared(pair: Pair) -> Compared:
    return Compared(
        pair.prompt, pair.before, pair.after, pair.change in ("kept", "lost"), pair.change in ("kept", "won")
    )
