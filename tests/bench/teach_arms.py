"""The arms of the teach benchmark: a home with corrections, a lesson proposed and taught in it, and what came of that.

Every arm and seed has a folder, with a home that is made once; an outcome that is there is only read. The first lesson
measures what the factory's experts do, as a user's first lesson does; the others are given that, as every later lesson
of a home has it. Works in the process that calls it: the benchmark starts one for each arm.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from app.bases import find_base
from app.evaluation.judging import Examination, Judged
from app.evaluation.opening import open_bench
from app.opening import open_library, open_store
from app.paths import Paths
from app.profiles import load_chosen_profile
from app.teaching.folder import LessonFolder
from app.teaching.proposing import propose
from app.teaching.working import Conditions, teach
from app.training.trainer import OUR_TRAINER, TrainerProgram
from engine.adapters.files import put
from engine.adapters.gate import GeneralDrift
from engine.errors import AgentError
from engine.evaluation.reading import TOGETHER, Bench, Reader
from engine.evaluation.suites import EvaluationMessage
from engine.runtime.protocol import NEVER
from engine.signals.keeping import KeptSignals
from engine.values import Answer, Route
from local_training.lessons.inferring import infer_lesson
from local_training.lessons.lesson import Refusal
from local_training.lessons.planning import LessonSizes
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import read_history
from tests.bench.teach_lessons import SABOTAGES, Pairs, drawn
from ui.teaching import Compared, Taught, TeachProgress

EXPERT: Final = "L0"
MINUTES: Final = 10.0
QUICK_MINUTES: Final = 2.0
ENVIRONMENT: Final[Mapping[str, str]] = {"LC_ALL": "en_US.UTF-8"}
"""Reasons in English, whatever the user's language is."""
_ANSWER_TOKENS: Final = 160
"""Of what is corrected: most answers are over before."""
_QUICK_ITEMS: Final = 4
_QUICK_SIZES: Final = LessonSizes(training_practice=8, held_out_practice=8, off_target=4, contrast=4)


@dataclass(frozen=True, slots=True)
class Arm:
    name: str
    seed: int

    @property
    def is_sabotage(self) -> bool:
        return self.name in SABOTAGES

    def __str__(self) -> str:
        return f"{self.name}-{self.seed}"


@dataclass(frozen=True, slots=True)
class Work:
    """How arms are taught, and where they are."""

    folder: Path
    threads: int | None = None
    """None: as the program itself chooses."""
    is_quick: bool = False
    profile: str = "starter"
    trainer: TrainerProgram = OUR_TRAINER

    @property
    def minutes(self) -> float:
        return QUICK_MINUTES if self.is_quick else MINUTES

    @property
    def references(self) -> Path:
        return self.folder / "references"

    def path(self, arm: Arm) -> Path:
        return self.folder / str(arm)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one arm."""

    made_of: str
    """Hash of its corrections and minutes: the outcome of others is no outcome."""
    taught: Taught
    compared: tuple[Compared, ...]
    """Every held-out prompt."""
    rules: tuple[str, ...]
    """Kinds of the rules that were taught; none of an imitation."""
    refusal: str
    """Why this is refused to users before anything is trained; empty where it is not."""
    verdict: str
    """The gate's word; empty where it was not asked."""
    drift: GeneralDrift | None
    """As the gate was told it; None where it was not measured."""
    steps: int
    """Of training."""
    is_first: bool
    """Whether it had to measure what the factory's experts do."""

    @property
    def is_final(self) -> bool:
        """The gate came to a verdict; anything else would be otherwise next time, or should be."""
        return self.taught.decision in ("passed", "rejected")


_OUTCOME: Final = TypeAdapter(Outcome)
_ARM: Final = "arm.json"
_RESULT: Final = "outcome.json"


def made_of(work: Work, arm: Arm) -> str:
    content = [drawn(arm.name, arm.seed), work.minutes, work.profile]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode("utf-8")).hexdigest()[:16]


def read_outcome(work: Work, arm: Arm) -> Outcome | None:
    """What is there of an arm; None where there is nothing, or it was made of other corrections."""
    try:
        outcome = _OUTCOME.validate_json((work.path(arm) / _RESULT).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
    return outcome if outcome.made_of == made_of(work, arm) else None


def teach_arm(work: Work, arm: Arm, tell: Callable[[str], None]) -> Outcome:
    """Teach an arm from the beginning, in its home, and write down what came of it.

    Raises: AgentError where the home cannot be made; what goes wrong later is an outcome.
    """
    paths = _home(work, arm, tell)
    is_first = not _copied(work.references, paths.evaluations)
    seen: list[Judged] = []
    conditions = Conditions(
        seed=arm.seed,
        sizes=_QUICK_SIZES if work.is_quick else None,
        allows_unsafe=arm.is_sabotage,
        shorten=_shortened if work.is_quick else Conditions().shorten,
        told=seen.append,
    )
    folder: LessonFolder | None = None
    try:
        folder = propose(
            paths,
            ENVIRONMENT,
            profile=work.profile,
            expert=EXPERT,
            minutes=work.minutes,
            allows_unsafe=arm.is_sabotage,
        )
        taught = teach(
            paths,
            ENVIRONMENT,
            folder,
            use=False,
            stop=NEVER,
            tell=_Phases(tell),
            threads=work.threads,
            trainer=work.trainer,
            conditions=conditions,
        )
    except AgentError as error:
        taught = Taught("", EXPERT, "failed", reasons=(error.problem, error.hint))
    outcome = _outcome(work, arm, paths, taught, seen[-1] if seen else None, folder, is_first)
    if is_first and outcome.is_final:
        _copied(paths.evaluations, work.references)
    put(work.path(arm) / _RESULT, [_OUTCOME.dump_json(outcome, indent=1)])
    return outcome


def _outcome(
    work: Work,
    arm: Arm,
    paths: Paths,
    taught: Taught,
    judged: Judged | None,
    folder: LessonFolder | None,
    is_first: bool,
) -> Outcome:
    with open_library(paths) as library:
        corrections = library.corrections(EXPERT)
    lesson, known = infer_lesson(corrections, allow_unsafe=True), infer_lesson(corrections)
    answers = folder.read_answers() if folder else None
    return Outcome(
        made_of(work, arm),
        taught,
        answers.compared if answers else (),
        () if isinstance(lesson, Refusal) else tuple(trait.kind for trait in lesson.traits),
        known.code if isinstance(known, Refusal) else "",
        judged.verdict.decision if judged else "",
        judged.case.drift if judged else None,
        _steps(paths, taught.lesson_id),
        is_first,
    )


def _copied(source: Path, target: Path) -> int:
    """How many remembered results there were. Those of a candidate are never asked for in another home."""
    files = sorted(source.glob("*.json"))
    target.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copy2(file, target / file.name)
    return len(files)


def _steps(paths: Paths, lesson_id: str) -> int:
    run = RunFolder(paths.runs / f"{lesson_id}-lesson")
    return len(read_history(run.metrics).steps) if run.exists() else 0


def _shortened(examination: Examination) -> Examination:
    """A few items of every suite: the verdict then lacks evidence, but everything was done once."""
    suites = tuple(replace(suite, items=suite.items[:_QUICK_ITEMS]) for suite in examination.suites)
    return replace(examination, suites=suites, texts=examination.texts[:_QUICK_ITEMS])


def _home(work: Work, arm: Arm, tell: Callable[[str], None]) -> Paths:
    """The arm's home with its corrections; made where it is not there, or holds others."""
    path, wanted = work.path(arm), made_of(work, arm)
    paths, mark = Paths(path / "home"), path / _ARM
    if mark.is_file() and json.loads(mark.read_text(encoding="utf-8")) == {"made_of": wanted}:
        return paths
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    pairs = drawn(arm.name, arm.seed)
    tell(f"asking {len(pairs)} questions")
    _correct(paths, work.profile, pairs, _answers(work, paths, pairs))
    put(mark, [json.dumps({"made_of": wanted}).encode()])
    return paths


def _answers(work: Work, paths: Paths, pairs: Pairs) -> list[str]:
    """What the expert answers greedily as it came."""
    profile = load_chosen_profile(paths, work.profile)
    found: list[str] = []
    with open_bench(paths, profile, find_base(profile, paths), EXPERT, threads=work.threads or 0) as bench:
        for start in range(0, len(pairs), TOGETHER):
            found += _written(bench, pairs[start : start + TOGETHER])
    return found


def _written(bench: Bench, pairs: Pairs) -> list[str]:
    asked = [((EvaluationMessage("user", prompt),), _ANSWER_TOKENS) for prompt, _ in pairs]
    with Reader(bench, bench.stack(), NEVER) as reader:
        return [answer.text for answer in reader.write(asked)]


def _correct(paths: Paths, profile: str, pairs: Pairs, answers: list[str]) -> None:
    """Every question was asked, answered and corrected, each in a conversation of its own."""
    with open_store(paths) as store:
        kept = KeptSignals(store.database)
        for (prompt, after), before in zip(pairs, answers, strict=True):
            turn = store.open_turn(prompt, conversation_id=None, parent_turn_id=None, profile=profile)
            # Where the model says nothing at all there is still an answer to be corrected.
            store.close_turn(Answer(turn.turn_id, "answered", before.strip() or "…", Route(EXPERT, "best")))
            kept.correct(turn.turn_id, after)


class _Phases:
    """Tells of a lesson's phases, once each."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell, self._phase = tell, ""

    def __call__(self, progress: TeachProgress) -> None:
        if progress.phase != self._phase:
            self._phase = progress.phase
            left = "" if progress.seconds_left is None else f", {progress.seconds_left / 60:.1f} minutes left"
            self._tell(f"{progress.phase}{left}")
