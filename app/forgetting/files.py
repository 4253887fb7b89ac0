"""What of a home's files was made from turns, or says the words, and how it goes. Opens no database.

Where the words go everywhere, lessons and runs go that say them, whatever they name.

    lessons/            the whole folder, where its corrections name the turn; so do lessons that learned it again
    runs/               the whole folder, where its data names the turn, and those of such lessons
    adapters/           the file of an adapter that was made from it, and results of measuring it in cache/evaluations/
    undo/               what a file was before a tool wrote to it, where that says the words
    page/, cache/       what says the words
    host.log            emptied where it says the words
    copies.jsonl        lines whose file is called after the words
    backups/            named, never touched; as copies elsewhere
    everything else     the user's own: named where it says the words; so are runs that do not know from which turns
    models/, downloads/, .restore/, host.json, face.token, api.key, quarantine.json: nobody's words, not looked at
"""

import base64
import json
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.copies_made import copies_made, remove_notes
from app.paths import Paths
from app.teaching.folder import LessonFolder, lessons_of
from engine.adapters.files import written
from engine.adapters.records import AdapterRecord
from engine.errors import StoreProblem
from engine.store.forgetting import Step
from engine.store.spans import Spans
from local_training.runs.folder import RunFolder

_LARGEST_BYTES: Final = 64 << 20
"""A larger file holds weights or token ids, or belongs to nobody here."""
_OURS: Final = ("undo", "page", "cache", "host.log")
"""Where words lie that nobody would miss."""
_NOT_LOOKED_AT: Final = frozenset(
    {"models", "downloads", "adapters", "runs", "lessons", "backups", ".restore", "host.json", "face.token", "api.key"}
    | {"quarantine.json", "copies.jsonl"}
)


@dataclass(frozen=True, slots=True)
class Held:
    """What lessons and runs are held against."""

    turn_ids: frozenset[str]
    spans: Spans
    """Empty where the words matter only if they were learned from these turns: others may say them too."""

    def is_in(self, *files: Path) -> bool:
        """Whether one of them names one of the turns or says the words."""
        return any(self._names(text := _text_of(file)) or _tells(text, self.spans) for file in files)

    def _names(self, text: str) -> bool:
        return any(turn_id in text for turn_id in self.turn_ids)


def lessons_that_hold(paths: Paths, held: Held) -> list[LessonFolder]:
    """Also those that were taught together with one that does."""
    folders = lessons_of(paths)
    gone = {folder.lesson_id for folder in folders if held.is_in(folder.lesson)}
    for folder in folders:  # the oldest first
        with suppress(StoreProblem):
            if gone.intersection(folder.read().earlier):
                gone.add(folder.lesson_id)
    return [folder for folder in folders if folder.lesson_id in gone]


def runs_that_hold(paths: Paths, held: Held, lessons: Collection[LessonFolder]) -> list[RunFolder]:
    """Of the home; also what a run that was being made left behind."""
    of_lessons = {f"{folder.lesson_id}-lesson" for folder in lessons}
    return [
        run for run in _runs_of(paths) if run.path.name in of_lessons or held.is_in(run.frozen, run.data, run.recipe)
    ]


def require_rest(lessons: Collection[LessonFolder], runs: Collection[RunFolder]) -> None:
    """That nobody works on them now. Raises: HomeBusy."""
    for held in (*(folder.held() for folder in lessons), *(run.held() for run in runs)):
        with held:
            pass


def file_steps(paths: Paths, spans: Spans, conversations: Collection[str]) -> list[Step]:
    """Files that nobody would miss, by their names below the home; and notes of copies that may be called after the
    words: an export is called after the title of its conversation."""
    ours = [file for name in _OURS for file in _files_below(paths.home / name) if _says(file, spans)]
    named = [
        one
        for one in copies_made(paths)
        if spans.are_in(one.path) or (len(one.conversations) == 1 and one.conversations[0] in conversations)
    ]
    return [
        *(Step("file", file.relative_to(paths.home).as_posix()) for file in ours),
        *(Step("copy", one.digest) for one in named),
    ]


def own_files(paths: Paths, spans: Spans) -> list[Path]:
    """Of the user, in the home: texts, skills and settings that say the words, and runs whose data does."""
    if not spans:
        return []
    runs = [run.path for run in _runs_of(paths) if Held(frozenset(), spans).is_in(run.data, run.recipe)]
    tops = [
        top
        for top in sorted(paths.home.glob("*"))
        if top.name not in {*_NOT_LOOKED_AT, *_OURS} and not top.name.startswith(paths.database.name)
    ]
    return [*runs, *(file for top in tops for file in _files_below(top) if _says(file, spans))]


def remove(paths: Paths, step: Step) -> None:
    """What a step names, if it is still there. Raises: DiskFull, AgentError."""
    match step.kind:
        case "lesson":
            _remove_tree(paths.lessons / step.name)
        case "run":
            _remove_tree(paths.runs / step.name)
        case "copy":
            remove_notes(paths, [step.name])
        case "file":
            file = paths.home / step.name
            with written(file):
                if file == paths.host_log and file.exists():
                    os.truncate(file, 0)  # the host goes on writing to it
                else:
                    file.unlink(missing_ok=True)
        case _:
            raise ValueError(f"{step.kind} is no file")


def remove_weights(paths: Paths, record: AdapterRecord) -> None:
    """The file of an adapter and what was measured with it. Raises: DiskFull, AgentError."""
    file = paths.adapters / record.file
    with written(file):
        file.unlink(missing_ok=True)
        for result in paths.evaluations.glob("*.json"):
            if record.content_hash in _text_of(result):
                result.unlink(missing_ok=True)


def _runs_of(paths: Paths) -> list[RunFolder]:
    return [RunFolder(folder) for folder in sorted(paths.runs.glob("*")) if folder.is_dir()]


def _remove_tree(folder: Path) -> None:
    with written(folder):
        if folder.is_dir():
            shutil.rmtree(folder)


def _says(file: Path, spans: Spans) -> bool:
    text = _text_of(file)
    if _tells(text, spans):
        return True
    with suppress(ValueError, KeyError, TypeError):
        if file.parent.name == "undo":
            return spans.are_in(base64.b64decode(json.loads(text)["before"]).decode("utf-8", "ignore"))
    return False


def _tells(text: str, spans: Spans) -> bool:
    """As it is written, or as JSON that is read."""
    return bool(spans) and (spans.are_in(text) or any(map(spans.are_in, _strings(text))))


def _strings(text: str) -> Iterator[str]:
    """What JSON, or each of its lines, says once its escapes are read; nothing where it is none."""
    try:
        yield from _within(json.loads(text))
    except (ValueError, RecursionError):
        for line in text.splitlines():
            with suppress(ValueError, RecursionError):
                yield from _within(json.loads(line))


def _within(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _within(item)
        case dict():
            for name, item in value.items():
                yield name
                yield from _within(item)


def _text_of(file: Path) -> str:
    """Empty where it cannot be read or is too large to be a text."""
    with suppress(OSError):
        if file.stat().st_size <= _LARGEST_BYTES:
            return file.read_bytes().decode("utf-8", "ignore")
    return ""


def _files_below(place: Path) -> Iterator[Path]:
    """Links are not followed."""
    if place.is_symlink():
        return
    if place.is_file():
        yield place
    for folder, _, names in os.walk(place):
        yield from (file for name in sorted(names) if not (file := Path(folder, name)).is_symlink())
