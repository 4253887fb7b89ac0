"""`macaron history import`: conversations of this program from JSON, JSON lines or an archive of such files, and those
of an export of ChatGPT; one by one.

What comes in may have been made by anyone: it is bounded in size and number, read in pieces, and each conversation
stands or falls by itself. Nothing that is stored is overwritten, so importing twice is the same as importing once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from app.archives import entry_problem, is_archive, open_archive, read_entry
from app.chatgpt.files import MOST_ENTRIES, is_export
from app.chatgpt.importing import import_export
from app.history import language_of
from app.import_report import Imported, ImportStopped, Watch, counted, lines_of, refused
from app.json_elements import MOST_BYTES, parsed
from app.opening import open_library
from app.output import ProgressLine, print_json, print_note, print_text
from app.paths import Paths
from app.settings import load_settings
from app.stopping import set_by_signals
from engine.errors import UsageProblem
from ui.client import Library
from ui.export import from_json
from ui.strings import say, say_count

_MOST_ARCHIVE_BYTES: Final = 256 << 20
_MOST_UNPACKED_BYTES: Final = 4 << 30
_MOST_REFUSED: Final = 100
"""A file in which so many things in a row are wrong is something else than an export; the rest of it is not read."""
_FAILED: Final = 1
_STOPPED: Final = 130
_HINT: Final = "Import what `macaron history export --format json` wrote, or an export of ChatGPT."


@dataclass(frozen=True, slots=True)
class _Found:
    """The text of one conversation, or why it is not read."""

    place: str
    text: bytes = b""
    problem: UsageProblem | None = None


def import_history(paths: Paths, files: Sequence[str], *, propose_memories: bool = False, as_json: bool = False) -> int:
    """Exit code 0 when nothing was refused, else 1; 130 when the user stopped it.

    `propose_memories`: what the user said of themselves waits for their review, also of what was imported before.
    """
    language, profile = language_of(paths), load_settings(paths.settings).profile
    results: list[Imported] = []
    progress = ProgressLine()

    def tell(read: int, expected: int) -> None:
        percent = say("import.percent", language, percent=min(100, 100 * read // expected)) if expected else ""
        progress.show(say("import.progress", language, count=len(results)) + percent)

    with open_library(paths) as library, set_by_signals() as stop:
        watch = Watch(stop, tell)
        for result in _import_files(library, files, profile, watch):
            if propose_memories and result.conversation_id:
                proposed = library.read_for_memories(result.conversation_id)
                result = replace(result, proposed=proposed.waiting, remembered=proposed.known)
            results.append(result)
            if not as_json:
                progress.clear()
                for line in lines_of(result, language):
                    print_text(line)
            watch.look()
        progress.clear()
        is_stopped = stop.is_set()
    counts = counted(results)
    if as_json:
        print_json({**counts, "stopped": is_stopped, "conversations": [asdict(result) for result in results]})
    else:
        print_text(say("import.total", language, **counts))
        if propose_memories:
            print_text(say_count("import.waiting", language, counts["proposed"]))
    if is_stopped:
        print_note(say("import.stopped", language))
        return _STOPPED
    return _FAILED if counts["refused"] else 0


def _import_files(library: Library, files: Sequence[str], profile: str, watch: Watch) -> Iterator[Imported]:
    for file in files:
        for result in import_file(library, Path(file).expanduser(), profile, watch):
            yield result
            if watch.stop.is_set():
                return


def import_file(library: Library, path: Path, profile: str = "", watch: Watch | None = None) -> Iterator[Imported]:
    """One result per conversation. A file that cannot be read is one that is refused.

    `profile`: what conversations of other programs go on with.
    """
    in_a_row = 0
    try:
        for result in _results(library, path, profile, watch or Watch()):
            in_a_row = in_a_row + 1 if result.outcome == "refused" else 0
            yield result
            if in_a_row >= _MOST_REFUSED:
                raise UsageProblem(f"{path} holds too much that is no conversation; the rest was not read.", _HINT)
    except ImportStopped:
        return
    except OSError as error:
        problem = UsageProblem(f"{path} cannot be read: {error.strerror}.", "Check its name and rights.")
        yield refused(path, "", problem)
    except UsageProblem as problem:
        yield refused(path, "", problem)


def _results(library: Library, path: Path, profile: str, watch: Watch) -> Iterator[Imported]:
    """Raises: OSError, UsageProblem, ImportStopped."""
    if is_export(path):
        yield from import_export(library, path, profile, watch)
    else:
        for found in _conversations(path):
            yield _import(library, path, found)


def _import(library: Library, path: Path, found: _Found) -> Imported:
    try:
        if found.problem:
            raise found.problem
        copy = from_json(parsed(found.text, _HINT))
        is_new = library.import_conversation(copy)
    except UsageProblem as problem:
        return refused(path, found.place, problem)
    title, conversation_id = copy.conversation.title, copy.conversation.conversation_id
    if not is_new:
        return Imported(str(path), found.place, "known", conversation_id, title)
    return Imported(str(path), found.place, "added", conversation_id, title, turns=len(copy.turns))


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
    with open_archive(path, most_entries=MOST_ENTRIES) as archive:
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
