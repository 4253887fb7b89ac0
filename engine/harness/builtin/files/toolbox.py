"""The tools for files in granted folders: list, read, search, write, edit by exact replacement, take back.

A change is worked out from what the file holds now, shown as a diff, and made only if the file still holds the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import Field

import engine.harness.builtin.files.looking as looking
import engine.harness.builtin.files.opening as opening
from engine.errors import UsageProblem
from engine.harness.builtin.entries import Arguments, EntryToolbox, ShownStates, entry, shortened
from engine.harness.builtin.files.differences import changed_lines, unified_diff
from engine.harness.builtin.files.grants import Grant, GrantedFolders, Place
from engine.harness.builtin.files.secrets import holds_private_key
from engine.harness.builtin.files.text_content import TextContent, text_of
from engine.harness.builtin.files.undoing import UndoFolder, digest_of
from engine.harness.tools.values import Invocation, Preview, ToolResult, ToolSpec

READ_LINES: Final = 400
READ_CHARACTERS: Final = 30_000
WRITTEN_CHARACTERS: Final = 1_000_000

_PATH: Final = "Path that begins with the name of a granted folder, such as notes/plan.md."


class ListFiles(Arguments):
    """List the files of a granted folder, or all granted folders when no path is given."""

    path: str = Field(default="", description="Path of the folder; empty for the granted folders.")


class ReadFile(Arguments):
    """Read a text file in a granted folder."""

    path: str = Field(description=_PATH)
    first_line: int = Field(default=1, ge=1, description="Line to begin with.")
    lines: int = Field(default=READ_LINES, ge=1, le=5000, description="How many lines.")
    with_numbers: bool = Field(default=False, description="Put the number before each line.")


class SearchFiles(Arguments):
    """Find lines that hold a text, in the files of a granted folder and all below it. Upper and lower case are one."""

    text: str = Field(max_length=500, description="The text, taken literally.")
    path: str = Field(default="", description="Folder to search; empty for all granted folders.")
    names: str = Field(default="*", max_length=100, description="Pattern for file names, such as *.md.")


class WriteFile(Arguments):
    """Make a text file in a granted folder, or replace all of its text."""

    path: str = Field(description=_PATH)
    text: str = Field(max_length=WRITTEN_CHARACTERS, description="The whole new content.")


class EditFile(Arguments):
    """Replace an exact piece of a text file in a granted folder by another."""

    path: str = Field(description=_PATH)
    old: str = Field(min_length=1, description="The piece as it stands in the file, with its spaces and line ends.")
    new: str = Field(max_length=WRITTEN_CHARACTERS, description="What takes its place.")
    replace_all: bool = Field(default=False, description="Replace it wherever it stands, not only where it is unique.")


class UndoWrite(Arguments):
    """Take back the last write or edit of a file that a tool made. Taking back twice restores it."""

    path: str = Field(description=_PATH)


@dataclass(frozen=True, slots=True)
class _Change:
    place: Place
    before: bytes | None
    after: bytes | None
    """None where the file goes."""

    def texts(self) -> tuple[str | None, str | None]:
        shown = self.place.shown
        old, new = (None if data is None else text_of(data, shown).text for data in (self.before, self.after))
        return old, new

    def title(self) -> str:
        removed, added = changed_lines(*self.texts())
        if self.before is None:
            return f"Make the file {self.place.shown} ({added} lines)"
        if self.after is None:
            return f"Remove the file {self.place.shown} ({removed} lines)"
        return f"Change the file {self.place.shown} (-{removed} +{added} lines)"


class FileToolbox(EntryToolbox):
    """Offers nothing where there are no handles of folders (Windows), and no writing where none is granted."""

    def __init__(self, grants: Sequence[Grant], undo_folder: Path, protected: Sequence[Path] = ()) -> None:
        """`undo_folder` keeps what the last write of each file replaced; `protected` is never reached.

        Raises: UsageProblem for a folder that cannot be granted.
        """
        self.folders = GrantedFolders(grants, [*protected, undo_folder])
        self.guard = opening.Guard(self.folders.protected)
        self._undo = UndoFolder(undo_folder)
        self._shown = ShownStates()
        super().__init__(
            [
                entry(ListFiles, "list_files", "files", False, self._preview_list, self._list),
                entry(ReadFile, "read_file", "files", False, self._preview_read, self._read),
                entry(SearchFiles, "search_files", "files", False, self._preview_search, self._search),
                entry(WriteFile, "write_file", "files", True, self._preview_change, self._change),
                entry(EditFile, "edit_file", "files", True, self._preview_change, self._change),
                entry(UndoWrite, "undo_write", "files", True, self._preview_change, self._change),
            ]
        )

    def specs(self) -> Sequence[ToolSpec]:
        places = self.folders.places()
        if not opening.IS_SUPPORTED or not places:
            return ()
        may_write = any(place.access == "write" for place in places)
        return [spec for spec in super().specs() if may_write or not spec.changes]

    def read_bytes(self, path: str) -> bytes:
        """Of a file in a granted folder, for tools of other kinds. Raises: UnknownName, UsageProblem."""
        return opening.read(self.folders.place(path), self.guard)

    def new_file(self, path: str) -> str:
        """How a file is written that is not there yet and could be made. Raises: UsageProblem."""
        place = self.folders.place_to_write(path)
        if opening.read_if_there(place, self.guard) is not None:
            raise UsageProblem(f"{place.shown} is there already.", "Choose a name that is not in use.")
        return place.shown

    def write_new_file(self, path: str, data: bytes) -> None:
        """Raises: UsageProblem, DiskFull."""
        self.new_file(path)
        self._make(_Change(self.folders.place_to_write(path), None, data))

    def _preview_list(self, asked: ListFiles, invocation: Invocation) -> Preview:
        shown = self.folders.place(asked.path).shown if asked.path.strip() else "the granted folders"
        return Preview(f"List {shown}", shown)

    def _list(self, asked: ListFiles, invocation: Invocation) -> ToolResult:
        if not asked.path.strip():
            return ToolResult(looking.folders_text(self.folders.places()), is_tainted=False)
        return ToolResult(looking.listing(self.folders.place(asked.path), self.guard))

    def _preview_read(self, asked: ReadFile, invocation: Invocation) -> Preview:
        place = self.folders.place(asked.path)
        return Preview(f"Read {place.shown}", str(place.path))

    def _read(self, asked: ReadFile, invocation: Invocation) -> ToolResult:
        place = self.folders.place(asked.path)
        text = text_of(opening.read(place, self.guard), place.shown).text.replace("\r\n", "\n")
        return ToolResult(_excerpt(text, place.shown, asked))

    def _preview_search(self, asked: SearchFiles, invocation: Invocation) -> Preview:
        shown = ", ".join(f"{place.shown}/" for place in self._searched(asked.path))
        return Preview(f"Search {shown} for {shortened(asked.text, 60)!r}", asked.text)

    def _search(self, asked: SearchFiles, invocation: Invocation) -> ToolResult:
        found = [
            looking.search(place, self.guard, asked.text, asked.names, invocation.stop.is_set)
            for place in self._searched(asked.path)
        ]
        text = "\n\n".join(found)
        cut = "\n(Cut here; search for something rarer.)" if len(text) > READ_CHARACTERS else ""
        return ToolResult(text[:READ_CHARACTERS] + cut)

    def _searched(self, path: str) -> Sequence[Place]:
        return [self.folders.place(path)] if path.strip() else self.folders.places()

    def _preview_change(self, asked: WriteFile | EditFile | UndoWrite, invocation: Invocation) -> Preview:
        change = self._planned(asked)
        self._shown.remember(invocation, digest_of(change.before))
        return Preview(change.title(), unified_diff(*change.texts(), change.place.shown))

    def _change(self, asked: WriteFile | EditFile | UndoWrite, invocation: Invocation) -> ToolResult:
        change = self._planned(asked)
        self._shown.check(invocation, digest_of(change.before), change.place.shown)
        self._make(change)
        done = change.title().replace("Make", "Made", 1).replace("Remove", "Removed", 1).replace("Change", "Changed", 1)
        return ToolResult(f"{done}. undo_write with this path takes it back.", is_tainted=False)

    def _make(self, change: _Change) -> None:
        with self._undo.keeping(change.place.path, change.before, change.after):
            if change.after is not None:
                opening.replace(change.place, self.guard, change.before, change.after)
            elif change.before is not None:
                opening.remove(change.place, self.guard, change.before)

    def _planned(self, asked: WriteFile | EditFile | UndoWrite) -> _Change:
        """Raises: UsageProblem where nothing would change."""
        place = self.folders.place_to_write(asked.path)
        before = opening.read_if_there(place, self.guard)
        after: bytes | None
        match asked:
            case WriteFile():
                after = _written(before, asked.text, place.shown)
            case EditFile():
                after = _edited(opening.read(place, self.guard) if before is None else before, asked, place.shown)
            case UndoWrite():
                after = self._taken_back(place, before)
        if after == before:
            raise UsageProblem(f"{place.shown} holds that already; nothing would change.", "Go on without writing.")
        if after is not None and holds_private_key(after):
            raise UsageProblem("The text is a private key, which tools do not write.", "Leave it to the user.")
        change = _Change(place, before, after)
        change.texts()  # raises where it is no text
        return change

    def _taken_back(self, place: Place, before: bytes | None) -> bytes | None:
        undo = self._undo.last(place.path)
        if undo.after_digest != digest_of(before):
            raise UsageProblem(
                f"{place.shown} was changed by others since, so the write cannot be taken back.",
                "Edit the file instead.",
            )
        return undo.before


def _written(before: bytes | None, text: str, shown: str) -> bytes:
    known = TextContent("") if before is None else text_of(before, shown)
    return known.with_text(text).data()


def _edited(before: bytes, asked: EditFile, shown: str) -> bytes:
    content = text_of(before, shown)
    old, new = content.adapted(asked.old), content.adapted(asked.new)
    count = content.text.count(old)
    if not count:
        raise UsageProblem(
            f"{shown} does not hold the piece to be replaced.",
            "Read the file again and copy the piece exactly, without line numbers.",
        )
    if count > 1 and not asked.replace_all:
        raise UsageProblem(
            f"{shown} holds the piece {count} times.", "Give more of the text around it, or set replace_all."
        )
    return TextContent(content.text.replace(old, new), content.encoding, content.mark).data()


def _excerpt(text: str, shown: str, asked: ReadFile) -> str:
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if asked.first_line > max(1, len(lines)):
        raise UsageProblem(f"{shown} has only {len(lines)} lines.", "Begin with an earlier line.")
    chosen = lines[asked.first_line - 1 : asked.first_line - 1 + asked.lines]
    kept, characters = list[str](), 0
    for number, line in enumerate(chosen, start=asked.first_line):
        shown_line = f"{number}\t{line}" if asked.with_numbers else line
        characters += len(shown_line) + 1
        if characters > READ_CHARACTERS and kept:
            break
        kept.append(shown_line[:READ_CHARACTERS])
    last = asked.first_line + len(kept) - 1
    is_whole = asked.first_line == 1 and last >= len(lines)
    note = "" if is_whole else f"\n(Lines {asked.first_line} to {last} of {len(lines)}.)"
    return ("\n".join(kept) if lines else "(empty)") + note
