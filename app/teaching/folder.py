"""The folder of one lesson: what was proposed, what it was made from, and what came of it. Knows no model.

lesson.json       what was proposed and the corrections behind it
inputs/           the recipe of its run, the examples, the held-out prompts
answers.json      what was answered to the held-out prompts, before and after
result.json       the outcome, as faces show it
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Final, TypeVar

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from app.paths import Paths
from engine.adapters.files import put, written
from engine.errors import HomeBusy, StoreProblem, UnknownName
from engine.signals.values import Correction
from ui.teaching import Compared, Proposal, Taught

KEPT_LESSONS: Final = 50
"""Folders of lessons that are kept; older ones that brought nothing are removed when a new one is made."""

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class StoredLesson:
    proposal: Proposal
    profile: str
    profile_folder: str
    corrections: tuple[Correction, ...]
    created_at: str
    """ISO 8601, local time."""
    earlier: tuple[str, ...] = ()
    """Lessons that this expert has in use, oldest first: they are learned again together with this one."""
    version: int = 1


@dataclass(frozen=True, slots=True)
class HeldOutAnswers:
    """Every held-out prompt, answered before and after."""

    compared: tuple[Compared, ...]


_LESSON: Final = TypeAdapter(StoredLesson)
_TAUGHT: Final = TypeAdapter(Taught)
_ANSWERS: Final = TypeAdapter(HeldOutAnswers)


class LessonFolder:
    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.abspath(path))
        self.lesson = self.path / "lesson.json"
        self.inputs = self.path / "inputs"
        self.recipe = self.inputs / "lesson.toml"
        self.examples = self.inputs / "examples.jsonl"
        self.answers = self.path / "answers.json"
        self.result = self.path / "result.json"

    @property
    def lesson_id(self) -> str:
        return self.path.name

    def exists(self) -> bool:
        return self.lesson.is_file()

    def read(self) -> StoredLesson:
        """Raises: StoreProblem."""
        return _read(_LESSON, self.lesson)

    def read_result(self) -> Taught | None:
        """None where there is none yet. Raises: StoreProblem."""
        return _read(_TAUGHT, self.result) if self.result.is_file() else None

    def read_answers(self) -> HeldOutAnswers | None:
        """None where there are none yet. Raises: StoreProblem."""
        return _read(_ANSWERS, self.answers) if self.answers.is_file() else None

    def write(self, lesson: StoredLesson) -> None:
        """Raises: DiskFull, AgentError."""
        self._make()
        put(self.lesson, [_LESSON.dump_json(lesson, indent=1)])

    def write_result(self, taught: Taught) -> None:
        """Raises: DiskFull, AgentError."""
        put(self.result, [_TAUGHT.dump_json(taught, indent=1)])

    def write_answers(self, answers: HeldOutAnswers) -> None:
        """Raises: DiskFull, AgentError."""
        put(self.answers, [_ANSWERS.dump_json(answers, indent=1)])

    def remove(self) -> None:
        with written(self.path):
            shutil.rmtree(self.path, ignore_errors=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        """While the block runs nobody else works on this lesson. Raises: HomeBusy."""
        lock = FileLock(self.path / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise HomeBusy(
                f"The lesson {self.lesson_id} is being taught already.", "Wait until it is done, or stop it there."
            ) from error
        try:
            yield
        finally:
            lock.release()

    def _make(self) -> None:
        with written(self.path):
            self.inputs.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.chmod(self.path, 0o700)


def new_lesson(paths: Paths, started: datetime) -> LessonFolder:
    """A folder that is not there yet, such as 2026-11-29-1030. `started` is local time."""
    wanted = f"{started:%Y-%m-%d-%H%M}"
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in count(1))
    return LessonFolder(next(paths.lessons / name for name in names if not os.path.lexists(paths.lessons / name)))


def find_lesson(paths: Paths, lesson_id: str) -> LessonFolder:
    """Raises: UnknownName."""
    folder = LessonFolder(paths.lessons / lesson_id)
    if os.path.basename(lesson_id) != lesson_id or not folder.exists():
        raise UnknownName(f"There is no lesson {lesson_id:.60}.", "See `macaron teach --list`.")
    return folder


def lessons_of(paths: Paths) -> list[LessonFolder]:
    """All there are, the oldest first."""
    return [folder for folder in map(LessonFolder, sorted(paths.lessons.glob("[!.]*"))) if folder.exists()]


def tidy(paths: Paths) -> None:
    """Remove old lessons that brought no adapter. Raises: DiskFull, AgentError."""
    for folder in lessons_of(paths)[:-KEPT_LESSONS]:
        result = folder.read_result()
        if result is None or not result.adapter_hash:
            folder.remove()


def _read(adapter: TypeAdapter[_Value], path: Path) -> _Value:
    try:
        with written(path):
            return adapter.validate_json(path.read_bytes())
    except ValidationError as error:
        raise StoreProblem(
            f"{path} is damaged.", "Remove the folder it is in; the lesson can be taught anew."
        ) from error
