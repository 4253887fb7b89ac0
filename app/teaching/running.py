"""`macaron teach`: propose, ask, teach, ask again, and say what came of it; undo; list."""

import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Final

from app.adapters.opening import open_shelf
from app.output import ProgressLine, print_json, print_text
from app.paths import Paths
from app.settings import load_settings, screen_language
from app.stopping import set_by_signals
from app.teaching.folder import LessonFolder, find_lesson, lessons_of
from app.teaching.proposing import propose
from app.teaching.using import undo, use_lesson
from app.teaching.wording import list_lines, state_of
from app.teaching.working import teach
from app.training.trainer import OUR_TRAINER, TrainerProgram
from ui.strings import say
from ui.teaching import Taught, TeachProgress
from ui.teaching_lines import progress_text, proposal_lines, taught_lines

Ask = Callable[[str], bool]
STOPPED: Final = 130
FAILED: Final = 1


def run_teach(
    paths: Paths,
    environment: Mapping[str, str],
    *,
    lesson: str | None,
    profile: str | None,
    expert: str | None,
    minutes: float,
    language: str | None = None,
    ask: Ask | None,
    use: bool,
    only_propose: bool,
    threads: int | None,
    as_json: bool,
    follows_input: bool = False,
    trainer: TrainerProgram = OUR_TRAINER,
) -> int:
    """Propose a lesson, or take the one of this name, and teach it once that is agreed.

    ask: how to ask; None takes everything for agreed. use: let the adapter answer where the gate passes it.
    follows_input: end when standard input is closed, since whoever started this is gone then.

    Exit code: 0 when the gate came to a verdict, whichever; 1 when the lesson failed, 130 when it was stopped.
    Raises: UsageProblem, UnknownName, HomeBusy, StoreProblem, ModelProblem.
    """
    trainer.require()
    language = language or screen_language(load_settings(paths.settings), environment)
    if lesson is None:
        folder = propose(paths, environment, profile=profile, expert=expert, minutes=minutes, language=language)
    else:
        folder = find_lesson(paths, lesson)
    proposal = folder.read().proposal
    if as_json:
        print_json({"kind": "proposal", **asdict(proposal)})
    else:
        for line in proposal_lines(proposal, language):
            print_text(line)
    if only_propose:
        if not as_json:
            print_text(say("teach.go_on", language, command=f"macaron teach --lesson {folder.lesson_id}"))
        return 0
    if ask is not None and not ask(say("teach.ask", language)):
        print_text(say("teach.not_now", language))
        return 0
    taught = _taught(
        paths,
        environment,
        folder,
        language=language,
        use=use and ask is None,
        threads=threads,
        as_json=as_json,
        follows_input=follows_input,
        trainer=trainer,
    )
    _tell(paths, taught, language, ask if use else None, as_json=as_json)
    return {"stopped": STOPPED, "failed": FAILED}.get(taught.decision, 0)


def run_undo(paths: Paths, environment: Mapping[str, str], lesson: str | None, *, as_json: bool) -> int:
    """Take back a lesson, or the newest that answers. Raises: UnknownName, UsageProblem, HomeBusy, StoreProblem."""
    language = screen_language(load_settings(paths.settings), environment)
    folder, swap = undo(paths, lesson)
    changed = swap.previous != swap.now
    if as_json:
        print_json({"lesson_id": folder.lesson_id, "changed": changed, "now": asdict(swap.now) if swap.now else None})
    else:
        key = "teach.undone" if changed else "teach.nothing_to_undo"
        print_text(say(key, language, expert=folder.read().proposal.expert))
    return 0


def run_list(paths: Paths, environment: Mapping[str, str], *, as_json: bool) -> int:
    """Raises: HomeBusy, StoreProblem."""
    folders = lessons_of(paths)
    names = {folder.read().profile for folder in folders}
    with open_shelf(paths) as shelf:
        used = frozenset(record.content_hash for name in names for record in shelf.adapters_in_use(name))
    if as_json:
        print_json({"lessons": [_listed(folder, used) for folder in folders]})
        return 0
    for line in list_lines(folders, used, screen_language(load_settings(paths.settings), environment)):
        print_text(line)
    return 0


def _listed(folder: LessonFolder, used: frozenset[str]) -> dict[str, object]:
    result = folder.read_result()
    return {
        **asdict(folder.read().proposal),
        "folder": str(folder.path),
        "state": state_of(result, used),
        "result": asdict(result) if result else None,
    }


def _taught(
    paths: Paths,
    environment: Mapping[str, str],
    folder: LessonFolder,
    *,
    language: str,
    use: bool,
    threads: int | None,
    as_json: bool,
    follows_input: bool,
    trainer: TrainerProgram,
) -> Taught:
    progress = ProgressLine()

    def tell(told: TeachProgress) -> None:
        if as_json:
            print_json(asdict(told))
        else:
            progress.show(progress_text(told, language))

    try:
        with set_by_signals() as stop:
            if follows_input:
                threading.Thread(target=_set_at_end_of_input, args=(stop,), name="input", daemon=True).start()
            return teach(
                paths,
                environment,
                folder,
                use=use,
                stop=stop,
                tell=tell,
                threads=threads,
                trainer=trainer,
                language=language,
            )
    finally:
        progress.clear()


def _tell(paths: Paths, taught: Taught, language: str, ask: Ask | None, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(taught))
        return
    for line in taught_lines(taught, language):
        print_text(line)
    in_use = taught.is_in_use
    if taught.decision == "passed" and not in_use and ask is not None and ask(say("teach.use", language)):
        use_lesson(paths, taught.lesson_id)
        in_use = True
    if in_use:
        print_text(say("teach.in_use", language, command=f"macaron teach --undo --lesson {taught.lesson_id}"))
    elif taught.decision == "passed":
        command = f"macaron adapters promote --canary {taught.adapter_hash[:12]}"
        print_text(say("teach.kept", language, command=command))
    elif taught.decision == "rejected":
        print_text(say("teach.more", language))


def _set_at_end_of_input(asked: threading.Event) -> None:
    # Not through sys.stdin: its lock would be held at the end of the program.
    while os.read(sys.__stdin__.fileno() if sys.__stdin__ else 0, 4096):
        pass
    asked.set()
