"""From the corrections in the store to a lesson that the user can agree to. Runs no model and learns nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Literal

from app.adapters.opening import open_shelf
from app.opening import open_library
from app.paths import Paths, make_home
from app.profiles import load_chosen_profile
from app.settings import load_settings, screen_language
from app.teaching.folder import LessonFolder, StoredLesson, lessons_of, new_lesson, tidy
from engine.errors import UsageProblem
from engine.routing.profile import Profile
from engine.signals.values import Correction
from local_training.lessons.inferring import infer_lesson
from local_training.lessons.lesson import Lesson, Refusal
from ui.strings import say
from ui.teaching import Corrected, Proposal

_SHOWN: Final = 3
SHORTEST_MINUTES: Final = 2.0


def propose(
    paths: Paths,
    environment: Mapping[str, str],
    *,
    profile: str | None = None,
    expert: str | None = None,
    minutes: float = 10.0,
    language: str | None = None,
    allows_unsafe: bool = False,
) -> LessonFolder:
    """A new lesson from what was corrected and is not learned yet. Without `expert`, of the one corrected most.

    allows_unsafe: also what would be refused as dangerous; for benchmarks of the gate, no user can ask for it.
    Raises: UsageProblem that says what is missing or why this is not taught; HomeBusy, StoreProblem, DiskFull.
    """
    make_home(paths)
    settings = load_settings(paths.settings)
    language = language or screen_language(settings, environment)
    if minutes < SHORTEST_MINUTES:
        raise UsageProblem(
            f"{minutes:g} minutes are too few to learn and test anything.", f"Give {SHORTEST_MINUTES:g} or more."
        )
    chosen = load_chosen_profile(paths, profile or settings.profile)
    if expert is not None:
        expert = chosen.expert(expert).expert
    earlier = lessons_in_use(paths, chosen)
    with open_library(paths) as library:
        corrections = _not_learned(library.corrections(expert), paths, [one for ids in earlier.values() for one in ids])
    about = expert or _most_corrected(corrections, chosen)
    corrections = [one for one in corrections if (one.expert or chosen.route.default) == about]
    lesson = require_lesson(corrections, language, allows_unsafe=allows_unsafe)
    tidy(paths)
    folder = new_lesson(paths, datetime.now())
    proposal = Proposal(
        folder.lesson_id,
        about,
        lesson.corrections,
        lesson.describe(_language(language)),
        tuple(Corrected(one.prompt, one.before, one.after) for one in corrections[-_SHOWN:]),
        minutes,
    )
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    folder.write(
        StoredLesson(proposal, chosen.name, str(chosen.folder), tuple(corrections), now, earlier.get(about, ()))
    )
    return folder


def require_lesson(corrections: Sequence[Correction], language: str, *, allows_unsafe: bool = False) -> Lesson:
    """Raises: UsageProblem that says what is missing, or why this is not taught."""
    found = infer_lesson(corrections, allow_unsafe=allows_unsafe)
    if isinstance(found, Refusal):
        raise UsageProblem(found.describe(_language(language)), say("teach.how_to_correct", language))
    return found


def lessons_in_use(paths: Paths, profile: Profile) -> dict[str, tuple[str, ...]]:
    """By expert, the lessons that its personal adapter has learned, oldest first."""
    with open_shelf(paths) as shelf:
        used = {record.content_hash for record in shelf.adapters_in_use(profile.name)}
    found: dict[str, tuple[str, ...]] = {}
    for folder in lessons_of(paths):
        result = folder.read_result()
        if result is not None and result.adapter_hash in used:
            found[result.expert] = (*folder.read().earlier, folder.lesson_id)
    return found


def _not_learned(corrections: Sequence[Correction], paths: Paths, learned_in: Sequence[str]) -> list[Correction]:
    learned = {
        one.signal_id
        for lesson_id in learned_in
        if (folder := LessonFolder(paths.lessons / lesson_id)).exists()
        for one in folder.read().corrections
    }
    return [one for one in corrections if one.signal_id not in learned]


def _most_corrected(corrections: Sequence[Correction], profile: Profile) -> str:
    counts = Counter(one.expert or profile.route.default for one in corrections)
    known = [(count, name) for name, count in counts.items() if name in {one.expert for one in profile.experts}]
    return max(known)[1] if known else profile.route.default


def _language(language: str) -> Literal["en", "zh"]:
    return "zh" if language == "zh" else "en"
