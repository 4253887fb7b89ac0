"""The training half of a lesson: its data as a run, the run seen through, its adapter brought into the catalogue."""

import hashlib
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from app.adapters.importing import list_imported
from app.files import written
from app.paths import Paths
from app.teaching.folder import LessonFolder, StoredLesson
from app.teaching.timing import Pace
from app.training.supervising import ask_to_stop, supervise
from app.training.trainer import OUR_TRAINER, TrainerProgram
from engine.adapters.importing import import_adapter
from engine.adapters.records import AdapterRecord, Source
from engine.errors import RuntimeFailed, ScoringStopped, StoreProblem
from engine.routing.profile import Profile
from engine.runtime.identity import fingerprint
from engine.runtime.protocol import Stop
from engine.signals.values import Correction
from local_training.example_files import read_examples
from local_training.examples import AnswerExample
from local_training.lessons.building import CONTRAST, MOST_EXAMPLES, LessonData
from local_training.lessons.lesson_files import (
    EXAMPLES,
    HELD_OUT,
    Anchor,
    LessonRecipe,
    read_held_out,
    write_lesson,
)
from local_training.lessons.wording import Language
from local_training.runs.creating import create_run
from local_training.runs.events import Progress
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import Metrics

ANCHOR: Final = Anchor(weight=3.0, requests=32, tokens=32, batch=4, within_nats=0.04)
_EARLIER_SHARE: Final = 0.5
"""Of the examples, at most, that are of lessons before."""


@dataclass(frozen=True, slots=True)
class EarlierLesson:
    """One that the expert has in use."""

    lesson_id: str
    data: LessonData
    """Its examples too."""


def read_earlier(paths: Paths, stored: StoredLesson) -> tuple[EarlierLesson, ...]:
    """Those that are still there; a folder that was removed is forgotten. Raises: StoreProblem."""
    found = []
    for lesson_id in stored.earlier:
        inputs = LessonFolder(paths.lessons / lesson_id).inputs
        if not (inputs / HELD_OUT).is_file():
            continue
        try:
            held_out = read_held_out((inputs / HELD_OUT).read_text(encoding="utf-8"))
            examples = read_examples(inputs / EXAMPLES, "sft").examples
        except (OSError, ValueError) as error:
            raise StoreProblem(f"The lesson {lesson_id} is damaged: {error}.", f"Remove {inputs.parent}.") from error
        found.append(EarlierLesson(lesson_id, replace(held_out, examples=examples)))
    return tuple(found)


def with_earlier(data: LessonData, earlier: Sequence[EarlierLesson]) -> LessonData:
    """The data with examples of the lessons before: what is rebuilt from the factory would forget them otherwise.

    Contrast is left out of all of them: one lesson's is the factory's answer to what another may be about.
    """
    if not earlier:
        return data
    learned = _without_contrast(data.examples)
    room = round(min(MOST_EXAMPLES, len(learned)) * _EARLIER_SHARE / len(earlier))
    replayed = [
        replace(example, example_id=f"{one.lesson_id} {example.example_id}", group=f"{one.lesson_id} {example.group}")
        for one in earlier
        for example in _apart(_without_contrast(one.data.examples), data)[:room]
    ]
    return replace(data, examples=(*learned, *replayed))


def _without_contrast(examples: Sequence[AnswerExample]) -> list[AnswerExample]:
    return [example for example in examples if CONTRAST not in example.tags]


def _apart(examples: Sequence[AnswerExample], data: LessonData) -> list[AnswerExample]:
    """Those about none of the prompts that this lesson is tested with."""
    tested = {item.prompt for item in data.held_out}
    return [example for example in examples if example.messages[-1].text not in tested]


def train(
    folder: LessonFolder,
    paths: Paths,
    data: LessonData,
    profile: Profile,
    base: Path,
    *,
    pace: Pace,
    concerned: frozenset[Language],
    seed: int,
    threads: int,
    language: str,
    stop: Stop,
    tell: Callable[[int, int], None],
    trainer: TrainerProgram = OUR_TRAINER,
) -> RunFolder:
    """A finished run of the lesson, of as many steps as there is time for.

    It is held to what the expert was, but for requests in `concerned` languages, which the lesson is about.

    Raises: ScoringStopped when `stop` was set or Ctrl+C was pressed; RuntimeFailed where the trainer failed; DiskFull.
    """
    recipe = LessonRecipe(
        minutes=pace.seconds / 60,
        start_seconds=pace.start_s,
        seconds_per_step=pace.step_s,
        threads=threads,
        anchor=replace(ANCHOR, leave_out=tuple(sorted(concerned))),
    )
    with written(folder.inputs):
        path = write_lesson(folder.inputs, data, recipe, seed=seed)
    place = paths.runs / f"{folder.lesson_id}-lesson"
    if place.exists():
        with written(place):
            shutil.rmtree(place)
    expert = profile.expert(data.examples[0].expert)
    run = create_run(place, path, profile=profile.folder, base=base, expert_adapter=expert.adapter)
    outcome = supervise(run, trainer.command(run), _Show(run, stop, tell), go_on="macaron teach", language=language)
    if outcome.state == "failed":
        raise RuntimeFailed(outcome.problem, outcome.hint)
    if outcome.state != "finished" or stop.is_set():
        raise ScoringStopped("The lesson was stopped while it was learned.", "Teach it again.")
    return run


class _Show:
    """What a run tells, as steps; and the way in which a lesson that is stopped stops its run."""

    def __init__(self, run: RunFolder, stop: Stop, tell: Callable[[int, int], None]) -> None:
        self._run, self._stop, self._tell = run, stop, tell

    def begin(self, folder: str) -> None:
        self._tell(0, 0)
        self.look()

    def progress(self, progress: Progress) -> None:
        if progress.activity == "training":
            self._tell(progress.step, progress.steps)
        self.look()

    def metrics(self, metrics: Metrics) -> None:
        self.look()

    def waiting(self, waits: bool) -> None:
        """Only the run's own folder can ask for that, and whoever did knows."""

    def stopping(self, go_on: str) -> None:
        """Whoever pressed Ctrl+C knows."""

    def look(self) -> None:
        if self._stop.is_set() and not self._run.stop.exists():
            with suppress(OSError):
                ask_to_stop(self._run)

    def end(self) -> None:
        """Nothing is left to be told."""


def bring_in(
    run: RunFolder, paths: Paths, stored: StoredLesson, earlier: Sequence[LessonFolder], base: Path
) -> AdapterRecord:
    """The run's adapter as a candidate of the catalogue, with the turns that it was made from. Raises: AgentError."""
    imported = import_adapter(run.adapter_gguf, base, paths.adapters, data_type="f16")
    frozen = run.read_frozen()
    corrections = [*stored.corrections, *(one for folder in earlier for one in folder.read().corrections)]
    record = AdapterRecord(
        content_hash=imported.adapter.content_hash,
        base_hash=fingerprint(base),
        profile=stored.profile,
        expert=stored.proposal.expert,
        kind="personal",
        file=Path(imported.adapter.path).name,
        size_bytes=imported.size_bytes,
        rank=imported.ranks[1],
        parent_hash=frozen.expert_adapter_hash,
        recipe_hash=frozen.recipe_hash,
        data_hash=frozen.data_hash,
        note=f"lesson {stored.proposal.lesson_id}",
    )
    return list_imported(paths, imported, record, sources_of(corrections))


def sources_of(corrections: Sequence[Correction]) -> tuple[Source, ...]:
    """Every turn once, with the hash of what was read of it: question and better answer."""
    found = {
        one.turn_id: Source(one.turn_id, hashlib.sha256(f"{one.prompt}\0{one.after}".encode()).hexdigest())
        for one in corrections
    }
    return tuple(found.values())
