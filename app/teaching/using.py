"""Let a lesson's adapter answer, and take it back. Through the host where one runs; runs no model."""

from app.adapters.opening import open_shelf
from app.paths import Paths
from app.teaching.folder import LessonFolder, find_lesson, lessons_of
from engine.adapters.records import Swap
from engine.errors import UsageProblem


def use_lesson(paths: Paths, lesson_id: str) -> Swap:
    """Begin the trial of an adapter that the gate passed.

    Raises: UnknownName; UsageProblem where it did not pass; HomeBusy, StoreProblem.
    """
    folder = find_lesson(paths, lesson_id)
    result = folder.read_result()
    if result is None or result.decision != "passed":
        raise UsageProblem(
            f"The gate did not let the lesson {lesson_id} pass.",
            "Teach it again with more corrections; or use it all the same with `macaron adapters promote`.",
        )
    with open_shelf(paths) as shelf:
        return shelf.begin_canary(result.adapter_hash, f"lesson {lesson_id}")


def undo(paths: Paths, lesson_id: str | None) -> tuple[LessonFolder, Swap]:
    """Take back the adapter of a lesson, or of the newest one that answers.

    Raises: UnknownName; UsageProblem when no lesson answers; HomeBusy, StoreProblem.
    """
    folders = [find_lesson(paths, lesson_id)] if lesson_id else lessons_of(paths)[::-1]
    with open_shelf(paths) as shelf:
        for folder in folders:
            result = folder.read_result()
            if result is None or not result.adapter_hash:
                continue
            used = {one.content_hash for one in shelf.adapters_in_use(folder.read().profile)}
            if lesson_id or result.adapter_hash in used:
                return folder, shelf.roll_back_adapter(result.adapter_hash, f"lesson {folder.lesson_id} taken back")
    raise UsageProblem("No lesson answers now: there is nothing to take back.", "See `macaron teach --list`.")
