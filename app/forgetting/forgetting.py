"""Forget a turn, a conversation, words or a memory, in an order that can be cut off anywhere and is then finished.

    1. what holds it is found, and nobody works on it            nothing has changed yet
    2. the store forgets the words, and writes down what is left to do, by hashes and names
    3. adapters are retired and their files deleted, then lessons, runs and other files
    4. the database is written anew without what was deleted, and its log is emptied

A process that is killed after 2 leaves the rest to the next start. Whoever calls sees to it that no turn is read or
answered meanwhile, and that the engine drops its views. Runs no model.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from app.forgetting.files import (
    Held,
    file_steps,
    lessons_that_hold,
    require_rest,
    runs_that_hold,
)
from app.forgetting.finishing import Tell, finish, tell_nobody
from app.forgetting.remaining import remaining_copies
from app.paths import Paths
from app.teaching.folder import LessonFolder
from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterRecord
from engine.errors import StoreProblem, UnknownName, UsageProblem
from engine.forgetting import Forgotten, Place, PlaceKind, Retired, Wanted
from engine.signals.keeping import KeptSignals
from engine.store import Store
from engine.store.forgetting import Done, ForgettingStore, Step
from engine.store.spans import Spans
from local_training.runs.folder import RunFolder

_FIRST_TO_GO: Final = ("retired", "candidate", "canary", "champion")
"""So that none that is to go is gone back to."""


class Forgetting:
    """See `ui.forgetting.Forgetter`. Of one home; who opened the store closes it."""

    def __init__(self, paths: Paths, store: Store) -> None:
        self._paths = paths
        self._store = store
        self._forgetting = ForgettingStore(store.database, store.mender)
        self._catalogue = Catalogue(store.database)

    def preview_forgetting(self, wanted: Wanted) -> Forgotten:
        """What `forget` would do. Raises: as `forget`."""
        return self._report(self._forgetting.preview(wanted))[0]

    def forget(self, wanted: Wanted, tell: Tell = tell_nobody) -> Forgotten:
        """What has gone, and what is left elsewhere; said again it changes nothing more.

        Raises: UnknownName, BadText, ConversationBusy, HomeBusy while a lesson or a run works on it; UsageProblem where
        nothing says the words; DiskFull, StoreProblem, AgentError. What was begun is finished at the next start.
        """
        done = self._forgetting.preview(wanted)
        report, steps = self._report(done)
        if report.places:
            self._forgetting.forget(wanted, steps)
        finish(self._paths, self._store, tell)
        signals = KeptSignals(self._store.database)
        retired = tuple(
            replace(one, corrections=len(signals.corrections(one.expert))) if one.was_answering else one
            for one in report.adapters
        )
        is_scrubbed = not self._forgetting.steps()
        return replace(report, adapters=retired, is_done=True, is_scrubbed=is_scrubbed)

    def _report(self, done: Done) -> tuple[Forgotten, list[Step]]:
        """What is found to hold it, and the steps by which it goes. Raises: HomeBusy."""
        scope = done.scope
        held = Held(done.touched, scope.spans if scope.is_everywhere else Spans(()))
        lessons = lessons_that_hold(self._paths, held)
        runs = runs_that_hold(self._paths, held, lessons)
        require_rest(lessons, runs)
        adapters = self._adapters(done.touched, lessons, runs)
        files = file_steps(self._paths, scope.spans, scope.conversations)
        gone = {str(run.path) for run in runs}
        conversations = tuple(sorted(scope.conversations | set(scope.recalled)))
        counts: dict[PlaceKind, int] = {
            "lessons": len(lessons),
            "runs": len(runs),
            "adapters": len(adapters),
            "other_files": len(files),
        }
        report = Forgotten(
            places=(*done.places, *(Place(kind, count) for kind, count in counts.items() if count)),
            adapters=tuple(
                Retired(one.content_hash, one.profile, one.expert, one.state in ("canary", "champion"))
                for one in adapters
            ),
            elsewhere=done.elsewhere,
            remaining=tuple(
                one
                for one in remaining_copies(self._paths, scope.spans, conversations, scope.since)
                if one.path not in gone
            ),
            conversations=conversations,
            memory_ids=scope.memories,
        )
        steps = [
            *(Step("adapter", one.content_hash) for one in adapters),
            *(Step("lesson", one.lesson_id) for one in lessons),
            *(Step("run", one.path.name) for one in runs),
            *files,
        ]
        return report, steps

    def _adapters(
        self, touched: Iterable[str], lessons: Iterable[LessonFolder], runs: Iterable[RunFolder]
    ) -> list[AdapterRecord]:
        """Those that were made from it, and those that were trained on top of these; what answers goes last."""
        found = {one.content_hash: one for turn_id in touched for one in self._catalogue.find_by_source(turn_id)}
        for content_hash in (*_made_by_lessons(lessons), *self._made_by_runs(runs)):
            with suppress(UnknownName):
                found[content_hash] = self._catalogue.details(content_hash).record
        waiting = list(found)
        while waiting:
            for child in self._catalogue.children(waiting.pop()):
                if child.content_hash not in found:
                    found[child.content_hash] = child
                    waiting.append(child.content_hash)
        mine = [one for one in found.values() if one.state != "factory" and not one.is_forgotten]
        return sorted(mine, key=lambda one: (_FIRST_TO_GO.index(one.state), one.number))

    def _made_by_runs(self, runs: Iterable[RunFolder]) -> list[str]:
        """By the hash of their data, which an adapter keeps that was brought in from a run."""
        hashes = set[str]()
        for run in runs:
            with suppress(UsageProblem):  # of another version, or never begun
                hashes.add(run.read_frozen().data_hash)
        return [one.content_hash for name in hashes - {""} for one in self._catalogue.made_from(name)]


def _made_by_lessons(lessons: Iterable[LessonFolder]) -> list[str]:
    found = []
    for folder in lessons:
        with suppress(StoreProblem):
            result = folder.read_result()
            if result is not None and result.adapter_hash:
                found.append(result.adapter_hash)
    return found
