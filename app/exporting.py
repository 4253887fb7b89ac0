"""`macaron history export`: conversations to standard output, to one file, or each to a file of its own."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from app.copies_made import note_copy
from app.files import write_private
from app.history import language_of
from app.opening import open_library
from app.output import print_json, print_note, print_text
from app.paths import Paths
from engine.errors import UsageProblem
from engine.values import ConversationCopy
from ui.client import Library
from ui.export import export_name, to_json, to_markdown
from ui.present import display_line
from ui.strings import say

Format = Literal["markdown", "json"]
_ENDINGS: Final = {"markdown": ".md", "json": ".json"}
_PAGE: Final = 200


def export_history(
    paths: Paths,
    conversation_ids: Sequence[str],
    *,
    everything: bool,
    format: Format,
    output: str | None,
    force: bool,
    as_json: bool,
) -> int:
    """One file for all, in JSON one conversation a line; or a folder with a file for each. Raises: AgentError."""
    if everything == bool(conversation_ids):
        raise UsageProblem("Which conversations?", "Name some by their ids, or give --all.")
    language = language_of(paths)
    with open_library(paths) as library:
        ids = list(_all_ids(library)) if everything else list(dict.fromkeys(conversation_ids))
        copies = (library.export_conversation(conversation_id) for conversation_id in ids)
        if output is None or output == "-":
            return _print(copies, "json" if as_json else format, language)
        target = Path(output).expanduser()
        if target.is_dir() or output.endswith(("/", os.sep)):
            written = _write_each(copies, target, format, language, force=force)
        else:
            indent = 1 if len(ids) == 1 else None
            write_private(target, (_text(copy, format, language, indent) for copy in copies), overwrite=force)
            written = [target]
    note_copy(paths, "export", written, ids)
    if as_json:
        print_json({"conversations": ids, "files": [str(file) for file in written]})
    else:
        key = "export.written.one" if len(ids) == 1 else "export.written"
        print_text(say(key, language, count=len(ids), target=display_line(str(target))))
        print_note(say("export.not_forgotten", language))
    return 0


def _all_ids(library: Library) -> Iterator[str]:
    """All at once, before anything is exported, as what is spoken in meanwhile moves to the front."""
    offset = 0
    while page := library.conversations(limit=_PAGE, offset=offset):
        yield from (conversation.conversation_id for conversation in page)
        offset += len(page)


def _print(copies: Iterable[ConversationCopy], format: Format, language: str) -> int:
    """JSON goes through the output that keeps control characters from the terminal; Markdown holds none."""
    for number, copy in enumerate(copies):
        if format == "json":
            print_json(to_json(copy))
        else:
            print_text(("\n\n" if number else "") + to_markdown(copy, language), end="")
    return 0


def _write_each(
    copies: Iterable[ConversationCopy], folder: Path, format: Format, language: str, *, force: bool
) -> list[Path]:
    """A file for each, named after its title. Names of one export never meet, whatever the titles."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageProblem(
            f"The folder {folder} cannot be made: {error.strerror}.", "Choose one that you may write."
        ) from error
    taken: set[str] = set()
    written = []
    for copy in copies:
        name = export_name(copy.conversation.title, _ENDINGS[format], taken)
        taken.add(name.casefold())
        write_private(folder / name, [_text(copy, format, language, indent=1)], overwrite=force)
        written.append(folder / name)
    return written


def _text(copy: ConversationCopy, format: Format, language: str, indent: int | None) -> bytes:
    """Markdown or JSON. Without an indent others follow: JSON is on one line, Markdown ends with a gap."""
    if format == "json":
        return f"{json.dumps(to_json(copy), ensure_ascii=False, indent=indent)}\n".encode()
    gap = "\n\n" if indent is None else ""
    return f"{to_markdown(copy, language)}{gap}".encode()
