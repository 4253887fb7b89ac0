"""`macaron history import`: conversations from JSON, JSON lines, or an archive of such files, one by one.

What comes in may have been made by anyone: it is bounded in size and number, read in pieces, and each conversation
stands or falls by itself. Nothing that is stored is overwritten, so importing twice is the same as importing once.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from app.archives import entry_problem, is_archive, open_archive, read_entry
from app.history import language_of
from app.opening import open_library
from app.output import print_json, print_text
from app.paths import Paths
from engine.errors import UsageProblem
from ui.client import Library
from ui.export import from_json
from ui.present import display_line
from ui.strings import say

MOST_BYTES: Final = 64 << 20
"""Of one conversation. Python needs about ten times that to read it."""
_MOST_ARCHIVE_BYTES: Final = 256 << 20
_MOST_UNPACKED_BYTES: Final = 4 << 30
_MOST_ENTRIES: Final = 20_000
_MOST_CONTAINERS: Final = 2_000_000
"""Objects and lists of one conversation, as brackets: they take far more memory than they take bytes."""
_MOST_REFUSED: Final = 100
"""A file in which so many things are wrong is something else than an export; the rest of it is not read."""
_FAILED: Final = 1
_HINT: Final = "Import what `macaron history export --format json` wrote."

Outcome = Literal["added", "known", "refused"]


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one conversation, or of a file that could not be read as any."""

    file: str
    place: str
    """Line of the file or entry of the archive; empty where the file is one conversation."""
    outcome: Outcome
    conversation_id: str = ""
    title: str = ""
    problem: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class _Found:
    """The text of one conversation, or why it is not read."""

    place: str
    text: bytes = b""
    problem: UsageProblem | None = None


def import_history(paths: Paths, files: Sequence[str], *, as_json: bool) -> int:
    """Exit code 0 when nothing was refused, else 1."""
    language = language_of(paths)
    results = []
    with open_library(paths) as library:
        for file in files:
            for result in import_file(library, Path(file).expanduser()):
                results.append(result)
                if not as_json:
                    print_text(_line(result, language))
                    if result.hint:
                        print_text(f"    {display_line(result.hint)}")
    counts = {
        outcome: sum(result.outcome == outcome for result in results) for outcome in ("added", "known", "refused")
    }
    if as_json:
        print_json({**counts, "conversations": [asdict(result) for result in results]})
    else:
        print_text(say("import.total", language, **counts))
    return _FAILED if counts["refused"] else 0


def import_file(library: Library, path: Path) -> Iterator[Imported]:
    """One result per conversation. A file that cannot be read is one that is refused."""
    refused = 0
    try:
        for found in _conversations(path):
            result = _import(library, path, found)
            refused += result.outcome == "refused"
            yield result
            if refused >= _MOST_REFUSED:
                raise UsageProblem(f"{path} holds too much that is no conversation; the rest was not read.", _HINT)
    except OSError as error:
        yield _refused(
            path, "", UsageProblem(f"{path} cannot be read: {error.strerror}.", "Check its name and rights.")
        )
    except UsageProblem as problem:
        yield _refused(path, "", problem)


def _import(library: Library, path: Path, found: _Found) -> Imported:
    try:
        if found.problem:
            raise found.problem
        copy = from_json(_parsed(found.text))
        is_new = library.import_conversation(copy)
    except UsageProblem as problem:
        return _refused(path, found.place, problem)
    conversation = copy.conversation
    outcome: Outcome = "added" if is_new else "known"
    return Imported(str(path), found.place, outcome, conversation.conversation_id, conversation.title)


def _refused(path: Path, place: str, problem: UsageProblem) -> Imported:
    return Imported(str(path), place, "refused", problem=problem.problem, hint=problem.hint)


def _parsed(text: bytes) -> object:
    """Raises: UsageProblem."""
    if text.count(b"{") + text.count(b"[") > _MOST_CONTAINERS:
        raise UsageProblem("It has more parts than a conversation can have.", _HINT)
    try:
        return json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageProblem(f"It is not UTF-8 at byte {error.start + 1}.", _HINT) from error
    except RecursionError as error:
        raise UsageProblem("It is nested too deeply.", _HINT) from error
    except ValueError as error:
        raise UsageProblem(f"It is not valid JSON: {error}.", _HINT) from error


def _conversations(path: Path) -> Iterator[_Found]:
    """Raises: OSError, UsageProblem."""
    if is_archive(path):
        if path.stat().st_size > _MOST_ARCHIVE_BYTES:
            raise UsageProblem(
                f"{path} is larger than {_MOST_ARCHIVE_BYTES >> 20} MB.", "Unpack it and import the files in it."
            )
        yield from _from_archive(path)
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        with path.open("rb") as file:
            yield from _lines(file)
    else:
        with path.open("rb") as file:
            yield from _one_or_lines(file)


def _one_or_lines(file: BinaryIO) -> Iterator[_Found]:
    """A file that begins with a whole conversation on one line holds one a line; else it is one conversation."""
    first = file.readline(MOST_BYTES + 1)
    rest = file.read(MOST_BYTES + 1 - len(first))
    if rest.strip() and first.rstrip().endswith(b"}") and len(first) > len("{}\n"):
        file.seek(0)
        yield from _lines(file)
        return
    text = first + rest
    if len(text) > MOST_BYTES:
        raise _too_large("It")
    yield _Found("", text)


def _lines(file: BinaryIO) -> Iterator[_Found]:
    number = 0
    while line := file.readline(MOST_BYTES + 1):
        number += 1
        if len(line) > MOST_BYTES:
            raise _too_large(f"Line {number}")
        if line.strip():
            yield _Found(str(number), line)


def _from_archive(path: Path) -> Iterator[_Found]:
    with open_archive(path, most_entries=_MOST_ENTRIES) as archive:
        left = _MOST_UNPACKED_BYTES
        for entry in archive.infolist():
            if entry.is_dir():
                continue
            try:
                if problem := entry_problem(entry):
                    raise UsageProblem(f"This entry is not read: {problem}.", _HINT)
                text = b"".join(read_entry(archive, entry, min(MOST_BYTES, left)))
            except UsageProblem as refusal:
                left -= MOST_BYTES  # it may have cost as much
                yield _Found(entry.filename, problem=refusal)
            else:
                left -= len(text)
                yield _Found(entry.filename, text)
            if left <= 0:
                raise UsageProblem(f"{path} unpacks to too much; the rest was not read.", "Import fewer files at once.")


def _too_large(what: str) -> UsageProblem:
    return UsageProblem(f"{what} is larger than {MOST_BYTES >> 20} MB.", "No conversation of this program is.")


def _line(result: Imported, language: str) -> str:
    where = display_line(f"{result.file}:{result.place}" if result.place else result.file)
    what = result.problem or f"{result.conversation_id}  {result.title}"
    return f"{say(f'import.{result.outcome}', language)}  {where}  {display_line(what)}"
