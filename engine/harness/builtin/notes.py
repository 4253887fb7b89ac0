"""The tools for notes: add, list, search, read, edit, remove, take back.

What a model writes is kept as the model's; reading it back gives text that is not taken for the user's word.
"""

from collections.abc import Sequence

from pydantic import Field

from engine.errors import UsageProblem
from engine.harness.builtin.entries import Arguments, EntryToolbox, ShownStates, entry, shortened
from engine.harness.builtin.files.differences import unified_diff
from engine.harness.tools.values import Invocation, Preview, ToolResult
from engine.store.notes import PAGE, TEXT_CHARACTERS, TITLE_CHARACTERS, Note, NoteStore

_SHOWN_CHARACTERS = 200
_READ_CHARACTERS = 30_000
_NUMBER = "Number of the note, as listed."


class AddNote(Arguments):
    """Keep a note for the user."""

    text: str = Field(max_length=TEXT_CHARACTERS)
    title: str = Field(default="", max_length=TITLE_CHARACTERS, description="Empty for the first line of the text.")


class ListNotes(Arguments):
    """List the user's notes, the last changed first."""

    skip: int = Field(default=0, ge=0, description="How many to pass over.")


class SearchNotes(Arguments):
    """Find the user's notes that hold all of some words, in any language."""

    words: str = Field(max_length=500)


class ReadNote(Arguments):
    """Read one of the user's notes."""

    note: int = Field(description=_NUMBER)
    first_character: int = Field(default=0, ge=0, description="Where to begin in a long one.")


class EditNote(Arguments):
    """Change one of the user's notes: its title, its text, or an exact piece of the text."""

    note: int = Field(description=_NUMBER)
    title: str = Field(default="", max_length=TITLE_CHARACTERS, description="New title; empty to keep it.")
    text: str = Field(default="", max_length=TEXT_CHARACTERS, description="New text, or what takes the piece's place.")
    piece: str = Field(default="", description="Exact piece of the text to replace; empty to replace all of it.")


class RemoveNote(Arguments):
    """Remove one of the user's notes. It can be brought back for 30 days."""

    note: int = Field(description=_NUMBER)


class UndoNote(Arguments):
    """Bring back a removed note, or take back the last edit of one."""

    note: int = Field(description=_NUMBER)


class NoteToolbox(EntryToolbox):
    def __init__(self, store: NoteStore) -> None:
        self._store = store
        self._shown = ShownStates()
        super().__init__(
            [
                entry(AddNote, "add_note", "own_data", True, self._preview_add, self._add),
                entry(ListNotes, "list_notes", "own_data", False, self._preview_list, self._list),
                entry(SearchNotes, "search_notes", "own_data", False, self._preview_search, self._search),
                entry(ReadNote, "read_note", "own_data", False, self._preview_read, self._read),
                entry(EditNote, "edit_note", "own_data", True, self._preview_edit, self._edit),
                entry(RemoveNote, "remove_note", "own_data", True, self._preview_remove, self._remove),
                entry(UndoNote, "undo_note", "own_data", True, self._preview_undo, self._undo),
            ]
        )

    def _preview_add(self, asked: AddNote, invocation: Invocation) -> Preview:
        name = asked.title or asked.text
        return Preview(f"Keep a note: {shortened(name, 80)}", f"{asked.title}\n{asked.text}".strip())

    def _add(self, asked: AddNote, invocation: Invocation) -> ToolResult:
        note = self._store.add(asked.title, asked.text, "model")
        return _done(f"Kept note {note.note_id}, {note.title!r}", f"remove_note {note.note_id}")

    def _preview_list(self, asked: ListNotes, invocation: Invocation) -> Preview:
        return Preview("List the notes", f"{PAGE} after the first {asked.skip}" if asked.skip else f"the last {PAGE}")

    def _list(self, asked: ListNotes, invocation: Invocation) -> ToolResult:
        return _listed(
            self._store.page(skipped=asked.skip), "There are no notes" + (" further on" if asked.skip else "")
        )

    def _preview_search(self, asked: SearchNotes, invocation: Invocation) -> Preview:
        return Preview(f"Search the notes for {shortened(asked.words, 80)}", asked.words)

    def _search(self, asked: SearchNotes, invocation: Invocation) -> ToolResult:
        return _listed(self._store.search(asked.words), "No note holds all of these words")

    def _preview_read(self, asked: ReadNote, invocation: Invocation) -> Preview:
        return Preview(f"Read note {asked.note}", self._store.get(asked.note).title)

    def _read(self, asked: ReadNote, invocation: Invocation) -> ToolResult:
        note = self._store.get(asked.note)
        if note.is_removed:
            raise UsageProblem(f"Note {asked.note} was removed.", f"undo_note {asked.note} brings it back.")
        end = asked.first_character + _READ_CHARACTERS
        more = f"\n({len(note.text) - end} more characters; go on at {end}.)" if len(note.text) > end else ""
        text = note.text[asked.first_character : end]
        return ToolResult(f"{_line(note)}\n\n{text}{more}", is_tainted=note.source != "user")

    def _preview_edit(self, asked: EditNote, invocation: Invocation) -> Preview:
        before, title, text = self._edited(asked)
        self._shown.remember(invocation, before)
        return _difference(f"Change note {before.note_id}, {before.title!r}", before, title, text)

    def _edit(self, asked: EditNote, invocation: Invocation) -> ToolResult:
        before, title, text = self._edited(asked)
        self._shown.check(invocation, before, f"Note {asked.note}")
        note = self._store.edit(asked.note, title, text, "model")
        return _done(f"Changed note {note.note_id}", f"undo_note {note.note_id}")

    def _preview_remove(self, asked: RemoveNote, invocation: Invocation) -> Preview:
        note = self._store.get(asked.note)
        self._shown.remember(invocation, note)
        return Preview(f"Remove note {note.note_id}, {note.title!r}", f"{note.title}\n{note.text}")

    def _remove(self, asked: RemoveNote, invocation: Invocation) -> ToolResult:
        self._shown.check(invocation, self._store.get(asked.note), f"Note {asked.note}")
        note = self._store.remove(asked.note)
        return _done(f"Removed note {note.note_id}", f"undo_note {note.note_id}, within 30 days")

    def _preview_undo(self, asked: UndoNote, invocation: Invocation) -> Preview:
        before, after = self._store.get(asked.note), self._store.undone(asked.note)
        self._shown.remember(invocation, before)
        if before.is_removed:
            return Preview(f"Bring back note {after.note_id}, {after.title!r}", f"{after.title}\n{after.text}")
        title = f"Take back the last edit of note {before.note_id}, {before.title!r}"
        return _difference(title, before, after.title, after.text)

    def _undo(self, asked: UndoNote, invocation: Invocation) -> ToolResult:
        before = self._store.get(asked.note)
        self._shown.check(invocation, before, f"Note {asked.note}")
        was_removed = before.is_removed
        note = self._store.undo(asked.note)
        back = f"remove_note {note.note_id}" if was_removed else f"undo_note {note.note_id} again"
        return _done(f"{'Brought back' if was_removed else 'Took back the edit of'} note {note.note_id}", back)

    def _edited(self, asked: EditNote) -> tuple[Note, str, str]:
        """The note, its new title and its new text. Raises: UsageProblem."""
        note = self._store.get(asked.note)
        title = asked.title.strip() or note.title
        text = asked.text or note.text
        if asked.piece:
            count = note.text.count(asked.piece)
            if count != 1:
                raise UsageProblem(
                    f"Note {asked.note} holds the piece {count} times.", "Give a piece that it holds exactly once."
                )
            text = note.text.replace(asked.piece, asked.text)
        if (title, text) == (note.title, note.text):
            raise UsageProblem(f"Note {asked.note} says that already.", "Give a new title or text.")
        return note, title, text


def _listed(notes: Sequence[Note], none: str) -> ToolResult:
    lines = [f"{_line(note)}: {shortened(note.text, _SHOWN_CHARACTERS)}" for note in notes]
    return ToolResult("\n".join(lines) or f"{none}.", is_tainted=any(note.source != "user" for note in notes))


def _line(note: Note) -> str:
    return f"[{note.note_id}] {note.updated_at[:10]} {note.title}"


def _difference(title: str, before: Note, new_title: str, new_text: str) -> Preview:
    old = f"{before.title}\n\n{before.text}\n"
    return Preview(title, unified_diff(old, f"{new_title}\n\n{new_text}\n", f"note {before.note_id}"))


def _done(what: str, back: str) -> ToolResult:
    """Says numbers, and no title but one that the model has just given."""
    return ToolResult(f"{what}. To undo: {back}.", is_tainted=False)
