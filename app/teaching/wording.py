"""All lessons there are, in words, for the command line. Prints nothing; one lesson in words is `ui.teaching_lines`."""

from collections.abc import Iterator, Sequence
from typing import Final

from app.models.wording import table
from app.teaching.folder import LessonFolder
from ui.inert import display_line
from ui.strings import say
from ui.teaching import Taught

_CELLS: Final = 96


def list_lines(folders: Sequence[LessonFolder], in_use: frozenset[str], language: str) -> Iterator[str]:
    """`in_use`: adapters that answer now, by their hashes."""
    if not folders:
        yield say("teach.list.none", language)
        return
    rows = [[say(f"teach.list.{head}", language) for head in ("name", "expert", "state", "result", "changes")]]
    for folder in folders:
        proposal, result = folder.read().proposal, folder.read_result()
        shown = f"{result.right_before} → {result.right_after} / {result.items}" if result and result.items else ""
        state = say(f"teach.state.{state_of(result, in_use)}", language)
        changes = display_line(" ".join(proposal.changes), _CELLS)
        rows.append([folder.lesson_id, proposal.expert, state, shown, changes])
    yield from (line.rstrip() for line in table(rows))


def state_of(result: Taught | None, in_use: frozenset[str]) -> str:
    if result is None:
        return "proposed"
    if result.adapter_hash and result.adapter_hash in in_use:
        return "in_use"
    return result.decision
