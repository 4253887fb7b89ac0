"""`macaron memory export` and `import`: memories as lines of JSON, below a first line that names format and version.

What comes in may have been made by anyone: it is bounded, each line stands or falls by itself, and all of it waits
until the user has looked at it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO, Final, cast, get_args

from app.files import write_private
from app.memory.opening import open_memory_shelf
from app.output import print_json, print_note, print_text
from app.paths import Paths
from app.settings import language_of
from engine.errors import UsageProblem
from engine.memory.escaping import escaped
from engine.memory.values import Draft, Memory, MemoryKind
from engine.memory.writing.by_hand import as_written
from engine.store.memories import check_draft
from engine.strict_json import loads
from ui.inert import display_line
from ui.memory_shelf import MemoryShelf
from ui.strings import say

FORMAT: Final = "macaron-memories"
VERSION: Final = 1
_FIELDS: Final = ("text", "kind", "evidence", "due_on", "trust", "state", "source", "created_at")
_PAGE: Final = 500
_AT_ONCE: Final = 200
_LINE_BYTES: Final = 64 << 10
_MOST_REFUSED: Final = 100
"""A file with so many wrong lines is something else; the rest of it is not read."""
_HINT: Final = "Import what `macaron memory export` wrote."
_FAILED: Final = 1


@dataclass(frozen=True, slots=True)
class RefusedLine:
    line: int
    problem: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the lines of a file."""

    added: int
    known: int
    refused: tuple[RefusedLine, ...]


def run_export(paths: Paths, environment: Mapping[str, str], output: str | None, *, force: bool, as_json: bool) -> int:
    """To standard output, or to a file that only its owner may read. Raises: UsageProblem, HomeBusy, StoreProblem."""
    language = language_of(paths.settings, environment)
    with open_memory_shelf(paths) as shelf:
        if output is None or output == "-":
            for line in _lines(shelf):
                print_json(line)
            return 0
        target = Path(output).expanduser()
        lines = [f"{json.dumps(line, ensure_ascii=False)}\n".encode() for line in _lines(shelf)]
        write_private(target, lines, overwrite=force)
    count = len(lines) - 1
    if as_json:
        print_json({"memories": count, "file": str(target)})
    else:
        key = "memory.exported.one" if count == 1 else "memory.exported"
        print_text(say(key, language, count=count, target=display_line(str(target))))
        print_note(say("export.not_forgotten", language))
    return 0


def run_import(paths: Paths, environment: Mapping[str, str], file: Path, *, as_json: bool) -> int:
    """Importing twice is the same as importing once. Exit code 1 where a line was refused.

    Raises: UsageProblem for a file that is none of these; HomeBusy, StoreProblem.
    """
    language = language_of(paths.settings, environment)
    try:
        with file.expanduser().open("rb") as opened, open_memory_shelf(paths) as shelf:
            found = import_lines(shelf, opened, str(file))
    except OSError as error:
        raise UsageProblem(f"{file} cannot be read: {error.strerror}.", "Check its name and rights.") from error
    if as_json:
        print_json(asdict(found))
    else:
        for refused in found.refused:
            print_text(say("memory.refused", language, line=refused.line, problem=display_line(refused.problem)))
        print_text(say("memory.imported", language, added=found.added, known=found.known, refused=len(found.refused)))
        if found.added:
            print_text(say("memory.imported.next", language))
    return _FAILED if found.refused else 0


def import_lines(shelf: MemoryShelf, file: BinaryIO, name: str) -> Imported:
    """Raises: UsageProblem for a file that is none of these; OSError."""
    _check_header(file.readline(_LINE_BYTES), name)
    added, known, refused, waiting = 0, 0, list[RefusedLine](), list[Draft]()

    def put_up() -> None:
        nonlocal added, known
        written = len(shelf.propose_memories(waiting)) if waiting else 0
        added, known = added + written, known + len(waiting) - written
        waiting.clear()

    number = 1
    while line := file.readline(_LINE_BYTES):
        number += 1
        if not line.strip():
            continue
        try:
            waiting.append(_draft_of(line))
        except UsageProblem as problem:
            refused.append(RefusedLine(number, problem.problem))
            if len(refused) == _MOST_REFUSED:
                break
        if len(waiting) == _AT_ONCE:
            put_up()
    put_up()
    return Imported(added, known, tuple(refused))


def _lines(shelf: MemoryShelf) -> Iterator[dict[str, Any]]:
    """The header, then what can be recalled and what waits, the newest first."""
    yield {"format": FORMAT, "version": VERSION}
    before: int | None = None
    while page := shelf.memories(states=("active", "pending"), limit=_PAGE, before=before):
        yield from map(_plain, page)
        before = page[-1].memory_id


def _plain(memory: Memory) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in _FIELDS}


def _check_header(line: bytes, name: str) -> None:
    try:
        header = loads(line.decode())
        known = isinstance(header, dict) and header.get("format") == FORMAT
        version = header.get("version") if known else None
    except ValueError:
        known, version = False, None
    if not known:
        raise UsageProblem(f"{name} holds no exported memories.", _HINT)
    if version != VERSION:
        raise UsageProblem(f"{name} was written by another version of this program.", "Update the program.")


def _draft_of(line: bytes) -> Draft:
    """Raises: UsageProblem."""
    try:
        data = loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UsageProblem("It is not valid UTF-8.", _HINT) from error
    except ValueError as error:
        raise UsageProblem(f"It cannot be read: {error}.", _HINT) from error
    if not isinstance(data, dict):
        raise UsageProblem("It is no object.", _HINT)
    given = {key: data.get(key) or other for key, other in (("text", ""), ("kind", "fact"), ("due_on", ""))}
    given["evidence"] = data.get("evidence") or given["text"]
    if wrong := [key for key, value in given.items() if not isinstance(value, str)]:
        raise UsageProblem(f"{wrong[0]} is no text.", _HINT)
    if given["kind"] not in get_args(MemoryKind):
        raise UsageProblem(f"There is no kind {given['kind']:.40}.", f"Kinds: {', '.join(get_args(MemoryKind))}.")
    # What it takes the place of, once it is approved, is read from its text and from nothing else.
    wanted = as_written(given["text"], date.today(), cast(MemoryKind, given["kind"]), given["due_on"])
    evidence = escaped(given["evidence"])
    draft = Draft(wanted.text, wanted.kind, evidence, None, slot=wanted.slot, due_on=given["due_on"], source="imported")
    check_draft(draft)
    return draft
