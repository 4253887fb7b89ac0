"""Take the conversations of an export into the history, one by one, each whole or not at all.

Only one of them is in memory at a time. Prints nothing.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from app.chatgpt.files import ExportFile, open_export
from app.chatgpt.trees import grow, title_of
from app.import_report import Imported, Outcome, Watch, refused
from app.json_elements import Element, elements, parsed
from engine.errors import UsageProblem
from ui.client import Library

HINT: Final = "The rest of the export does not depend on it. Ask ChatGPT for another export if you need it."


def import_export(library: Library, path: Path, profile: str, watch: Watch) -> Iterator[Imported]:
    """One result per conversation, and one for a file of it that cannot be read. Conversations that were imported
    before gain what is new in them. `profile`: what they go on with.

    Raises: OSError, UsageProblem.
    """
    with open_export(path) as files:
        watch.expect(sum(file.size_bytes for file in files))
        for file in files:
            try:
                if file.problem:
                    raise UsageProblem(f"This file is not read: {file.problem}.", HINT)
                for element in elements(watch.through(file.read())):
                    yield _import(library, path, file, element, profile)
            except UsageProblem as problem:
                yield refused(path, file.name, problem)


def _import(library: Library, path: Path, file: ExportFile, element: Element, profile: str) -> Imported:
    place = f"{file.name}:{element.number}" if file.name else str(element.number)
    title = ""
    try:
        if element.problem:
            raise UsageProblem(element.problem, HINT)
        data = parsed(element.text, HINT)
        title = title_of(data)
        grown = grow(data, profile, datetime.now(UTC))
        if grown is None:
            return Imported(str(path), place, "empty", title=title)
        merged = library.merge_conversation(grown.copy)
    except UsageProblem as problem:
        return refused(path, place, problem, title)
    outcome: Outcome = "added" if merged.is_new else "extended" if merged.added else "known"
    return Imported(
        str(path),
        place,
        outcome,
        merged.conversation_id,
        grown.copy.conversation.title or title,
        turns=merged.added,
        differing=merged.differing,
        left_out=grown.left_out,
    )
