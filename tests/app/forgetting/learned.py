"""A home in which eight corrections were learned: turns, signals, a lesson with its run, an adapter that answers.

Nothing is trained: the weights are a few bytes, and what they hold is said by the catalogue.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.opening import open_store
from app.paths import Paths
from app.teaching.folder import HeldOutAnswers, LessonFolder, StoredLesson, new_lesson
from app.teaching.learning import sources_of
from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterRecord, Source
from engine.signals.keeping import KeptSignals
from engine.signals.values import Correction
from engine.store import Store
from engine.values import Answer, Route
from local_training.runs.folder import Frozen, RunFolder, RunState
from tests.engine.adapters.catalogued import named
from ui.teaching import Compared, Proposal, Taught

PROFILE = "starter"
SECRET = "The safe opens with 4711-Mitzi."


@dataclass(frozen=True)
class Learned:
    paths: Paths
    turn_ids: tuple[str, ...]
    lesson: LessonFolder
    run: RunFolder
    record: AdapterRecord

    @property
    def file(self) -> Path:
        return self.paths.adapters / self.record.file


def correct(store: Store, texts: Sequence[str], expert: str = "L0") -> tuple[str, ...]:
    """The turns of as many conversations, each of which was answered and corrected."""
    kept, found = KeptSignals(store.database), []
    for text in texts:
        turn = store.open_turn(text, conversation_id=None, parent_turn_id=None, profile=PROFILE)
        store.close_turn(Answer(turn.turn_id, "answered", f"You say: {text}", Route(expert, "best")))
        kept.correct(turn.turn_id, f"Mira, {text}")
        found.append(turn.turn_id)
    return tuple(found)


def learned(home: Path, name: str = "first", *, secret: str = SECRET, others: int = 7) -> Learned:
    """The first of the turns says the secret. The adapter is champion of L0."""
    paths = Paths(home)
    with open_store(paths) as store:
        turn_ids = correct(store, [secret, *(f"Question {number} of {name}?" for number in range(others))])
        corrections = [one for one in KeptSignals(store.database).corrections() if one.turn_id in turn_ids]
        lesson = lesson_of(paths, corrections)
        run = run_of(paths, f"{lesson.lesson_id}-lesson", corrections)
        record = adapter_of(paths, store, name, sources_of(corrections), parent="")
        lesson.write_result(Taught(lesson.lesson_id, "L0", "passed", record.content_hash))
        Catalogue(store.database).promote(record.content_hash)
    return Learned(paths, turn_ids, lesson, run, record)


def lesson_of(paths: Paths, corrections: Sequence[Correction], earlier: Sequence[str] = ()) -> LessonFolder:
    folder = new_lesson(paths, datetime.now())
    proposal = Proposal(folder.lesson_id, "L0", len(corrections), ("It says Mira.",), (), 10.0)
    folder.write(StoredLesson(proposal, PROFILE, "/nowhere", tuple(corrections), "2026-11-30T12:00", tuple(earlier)))
    folder.write_answers(
        HeldOutAnswers(tuple(Compared(one.prompt, one.before, one.after, False, True) for one in corrections))
    )
    lines = [json.dumps({"id": "1", "prompt": one.prompt, "answer": one.after}) for one in corrections]
    folder.examples.write_text("\n".join(lines), encoding="utf-8")
    return folder


def run_of(
    paths: Paths, name: str, corrections: Sequence[Correction], sources: Sequence[str] = (), data_hash: str = ""
) -> RunFolder:
    run = RunFolder(paths.runs / name)
    run.inputs.mkdir(parents=True)
    frozen = Frozen(
        "sft", name, "L0", "", "", "b" * 32, "", "", "r", data_hash, 0.0, {}, sources=dict.fromkeys(sources, "h")
    )
    run.write_frozen(frozen)
    run.write_state(RunState("finished"))
    run.data.write_text("\n".join(json.dumps({"prompt": one.prompt}) for one in corrections), encoding="utf-8")
    run.report.write_text(f"<p>{corrections[0].after if corrections else ''}</p>", encoding="utf-8")
    return run


def adapter_of(
    paths: Paths, store: Store, name: str, sources: Sequence[Source], *, parent: str, data_hash: str = ""
) -> AdapterRecord:
    record = named(name, expert="L0", parent_hash=parent, data_hash=data_hash)
    paths.adapters.mkdir(exist_ok=True)
    (paths.adapters / record.file).write_bytes(b"weights of " + name.encode())
    return Catalogue(store.database).add(record, sources)
