"""`macaron verify`: is the home, or a backup, whole? And what can still be read of a database that is not."""

import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from app.backup.checking import check_database, unpack
from app.backup.making import copy_beside
from app.backup.manifest import DATABASE
from app.backup.progress import Progress
from app.files import refuse_taken
from app.history import language_of
from app.home_lock import hold_home
from app.home_swap import finish_restore
from app.opening import open_store
from app.output import print_json, print_note, print_text
from app.paths import Paths, make_home
from engine.errors import AgentError, HomeBusy, UsageProblem
from engine.store import Store
from engine.store.salvage import salvage
from ui.present import display_line, error_lines
from ui.strings import say

_FAILED = 1


def run_verify(paths: Paths, file: str | None, *, salvage_to: str | None, as_json: bool) -> int:
    """Exit code 0 when nothing is wrong, else 1. Raises: UsageProblem, and HomeBusy for a salvage."""
    make_home(paths)
    language = language_of(paths)
    if salvage_to is not None:
        return _salvage(paths, file, Path(salvage_to).expanduser().absolute(), language, as_json=as_json)
    backup = Path(file).expanduser().absolute() if file else None
    target = backup or paths.home
    progress = Progress(language)
    try:
        with tempfile.TemporaryDirectory(prefix=".verify-", dir=paths.home) as folder:
            problem = _problem(paths, backup, Path(folder), progress.show)
    finally:
        progress.end()
    if as_json:
        found = {"problem": problem.problem, "hint": problem.hint} if problem else {"problem": "", "hint": ""}
        print_json({"ok": problem is None, "target": str(target), **found})
    elif problem is None:
        print_text(say("verify.ok", language, target=display_line(str(target))))
    else:
        for line in error_lines(problem.problem, problem.hint, language):
            print_text(line)
    return 0 if problem is None else _FAILED


def _problem(paths: Paths, backup: Path | None, folder: Path, show: Callable[[int, int], None]) -> AgentError | None:
    """What is wrong with the backup, or without one with the home. Raises: UsageProblem when it is no backup."""
    try:
        if backup is not None:
            unpack(backup, folder, show)
            check_database(folder)
            return None
        found = _integrity(paths, folder)
    except UsageProblem:
        raise
    except AgentError as error:
        return error
    if found == "ok":
        return None
    return AgentError(
        f"The database of {paths.home} is not in order: {found}.",
        "Put a backup back with `macaron restore FILE`, or save what can be read with `macaron verify --salvage FILE`.",
    )


def _integrity(paths: Paths, folder: Path) -> str:
    """Of the home's database; of a copy, which SQLite makes page by page, where another process holds the home."""
    try:
        with open_store(paths) as store:
            return store.integrity()
    except HomeBusy:
        copy_beside(paths.database, folder / DATABASE)
    with Store.open(folder / DATABASE) as store:
        return store.integrity()


def _salvage(paths: Paths, file: str | None, target: Path, language: str, *, as_json: bool) -> int:
    """Read what can be read, of the home or of a database or backup, into the new database `target`."""
    refuse_taken(target, overwrite=False)
    if file is not None:
        report = salvage(Path(file).expanduser().absolute(), target)
    else:
        with hold_home(paths):
            finish_restore(paths)
            report = salvage(paths.database, target)
    if as_json:
        tables = [asdict(table) for table in report.tables]
        print_json({"ok": report.is_complete, "file": str(target), "tables": tables, "notes": report.notes})
        return 0 if report.is_complete else _FAILED
    print_text(say("verify.salvaged", language, target=display_line(str(target))))
    for table in report.tables:
        line = say("verify.table", language, table=display_line(table.table), saved=table.saved, lost=table.lost)
        print_text(f"    {line}" + (f" ({display_line(table.problem)})" if table.problem else ""))
    for note in report.notes:
        print_text(f"    {display_line(note)}")
    print_note(say("verify.use", language, database=paths.database))
    return 0 if report.is_complete else _FAILED
