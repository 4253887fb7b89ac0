"""What the agent keeps: conversations as trees of turns, the views of the experts, traces, and search over it all.

Every method is one transaction or one read, may be called from any thread, and leaves nothing open behind it. Knows
neither prompts, nor models, nor screens; the statements are in `turns` and `views`.

Every method raises StoreProblem or one of its children when the disk or the file fails; nothing is then half-written.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self, get_args

import engine.store.calls as calls
import engine.store.copies as copies
import engine.store.index as index
import engine.store.merging as merging
import engine.store.rows as rows
import engine.store.signals as signals
import engine.store.turns as turns
import engine.store.views as views
from engine.errors import BadText, DatabaseDamaged, UsageProblem
from engine.memory.folding.values import RunningMemory
from engine.store.database import Database
from engine.store.ids import IdMaker
from engine.store.mending import IndexMender, with_a_sound_index
from engine.values import (
    Answer,
    Attachment,
    CallRecord,
    CallState,
    Conversation,
    ConversationCopy,
    Epoch,
    Merged,
    Provenance,
    Rating,
    SearchHit,
    Segment,
    Trace,
    TurnRecord,
)

FROM_A_PERSON: Final = ("typed", "pasted", "attached")
"""Where a message comes from that a person sent."""


class Store:
    """Make one with `Store.open`; close it, or use it in a `with` statement."""

    def __init__(self, database: Database) -> None:
        """Turns that a process left running when it died become interrupted. A damaged search index is made anew."""
        self._database = database
        self.mender = IndexMender(database)
        with database.transaction() as connection:
            turns.interrupt_running(connection, _now())
            calls.interrupt_open(connection, _now())
            self._ids = IdMaker(turns.newest_turn_id(connection))

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or create the database at `path`. A file that is refused is left as it was.

        Raises: DatabaseTooNew, DatabaseDamaged, DiskFull, StoreProblem.
        """
        database = Database.open(path)
        try:
            return cls(database)
        except BaseException:
            database.close()
            raise

    @classmethod
    def in_memory(cls) -> Self:
        """One that is in no file: what is said there is gone when it is closed."""
        return cls(Database.in_memory())

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def database(self) -> Database:
        """For other stores in the same file, such as the catalogue of adapters."""
        return self._database

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was put in order since this store was opened, as sentences for the user."""
        return self.mender.repairs

    @with_a_sound_index
    def open_turn(
        self,
        text: str,
        *,
        conversation_id: str | None,
        parent_turn_id: str | None,
        profile: str,
        provenance: Provenance = "typed",
        attachments: Sequence[Attachment] = (),
    ) -> TurnRecord:
        """Commit the user's message as a running turn, which becomes the leaf of its conversation.

        Without a conversation a new one of this profile begins, named after the first line of the text. Without a
        parent the turn is a first turn: a sibling of the first turns there are. Where the parent is one of several
        answers to the same message, the user has picked it by going on from it.

        Raises: UnknownName when there is no such conversation or it has no such parent; BadText for invalid Unicode.
        """
        for given in (text, *(part for file in attachments for part in (file.name, file.text))):
            rows.checked_text(given)
        now = _now()
        with self._database.transaction() as connection:
            if conversation_id is None:
                conversation_id = self._ids.make("c")
                turns.insert_conversation(connection, conversation_id, turns.title_of(text), profile, now)
            else:
                turns.conversation(connection, conversation_id)
            if parent_turn_id is not None:
                turns.require_turn_in(connection, conversation_id, parent_turn_id)
                if provenance in FROM_A_PERSON:
                    signals.pick(connection, parent_turn_id, signals.GONE_ON, now)
            turn_id = self._ids.make("t")
            turns.insert_turn(connection, turn_id, conversation_id, parent_turn_id, now)
            turns.insert_question(connection, turn_id, text, provenance, attachments, now)
            return turns.turn(connection, turn_id)

    def open_call(self, turn_id: str, call: CallRecord) -> None:
        """A tool call that waits for its permission, kept before anything runs."""
        with self._database.transaction() as connection:
            calls.insert(connection, turn_id, call, _now())

    def run_call(self, turn_id: str, position: int) -> None:
        """It is permitted and runs now. Raises: ValueError when it does not wait."""
        with self._database.transaction() as connection:
            calls.run(connection, turn_id, position)

    def close_call(
        self,
        turn_id: str,
        position: int,
        state: CallState,
        result: str,
        *,
        is_tainted: bool = False,
        seconds: float = 0.0,
    ) -> None:
        """Raises: ValueError when it is over already."""
        with self._database.transaction() as connection:
            calls.close(
                connection, turn_id, position, state, result, is_tainted=is_tainted, seconds=seconds, now=_now()
            )

    @with_a_sound_index
    def close_turn(self, answer: Answer) -> None:
        """Commit how a running turn ended, with its segments and traces.

        An answer without text leaves no message. A segment that its epoch already has stays as it is. Log-probabilities
        are rounded to float32.

        Raises: ValueError when the turn is not running, so that closing twice never overwrites; UnknownName.
        """
        now = _now()
        with self._database.transaction() as connection:
            turns.close(connection, answer, now)
            if answer.text:
                turns.insert_answer(connection, answer.turn_id, rows.writable(answer.text), now)
            turns.insert_recalled(connection, answer.turn_id, answer.recalled)
            views.insert_segments(connection, answer.segments)
            views.insert_traces(connection, answer.traces, now)

    def turn(self, turn_id: str) -> TurnRecord:
        """Raises: UnknownName."""
        with self._database.reading() as connection:
            return turns.turn(connection, turn_id)

    def path(self, turn_id: str) -> tuple[TurnRecord, ...]:
        """From the first turn of its branch to this turn. Raises: UnknownName."""
        with self._database.reading() as connection:
            return turns.path(connection, turn_id)

    def siblings(self, turn_id: str) -> tuple[TurnRecord, ...]:
        """This turn and its edits and regenerations, oldest first. Raises: UnknownName."""
        with self._database.reading() as connection:
            return turns.siblings(connection, turn_id)

    def tree(self, conversation_id: str) -> tuple[TurnRecord, ...]:
        """The turns of all branches, oldest first: a parent before its children. Raises: UnknownName."""
        with self._database.reading() as connection:
            turns.conversation(connection, conversation_id)
            return turns.tree(connection, conversation_id)

    def rate(self, turn_id: str, rating: Rating) -> None:
        """What the user thinks of an answer, which counts from now on instead of what they thought before.

        Raises: UnknownName; UsageProblem for anything but -1, 0 and 1.
        """
        if rating not in get_args(Rating):
            raise UsageProblem(f"{rating} is no rating.", "Give 1 (thumb up), -1 (thumb down) or 0 (taken back).")
        with self._database.transaction() as connection:
            turns.turn(connection, turn_id)
            signals.insert(connection, turn_id, "thumb", "user", _now(), value=rating)

    def copy_of(self, conversation_id: str) -> ConversationCopy:
        """The conversation with all its branches; a turn that runs at this moment is copied as interrupted.

        What experts have read and written in tokens is no part of it. Raises: UnknownName.
        """
        with self._database.snapshot() as connection:
            conversation = turns.conversation(connection, conversation_id)
            copied = tuple(copies.closed(turn) for turn in turns.tree(connection, conversation_id))
            given = signals.of_conversation(connection, conversation_id)
        return ConversationCopy(conversation, copied, given)

    @with_a_sound_index
    def add_copy(self, copy: ConversationCopy) -> bool:
        """Add a conversation that was copied; all its texts are `imported`. False when it is here already.

        Ids are kept where they are free. Where they are not, the conversation is added under fresh ones: nothing that
        is stored is changed, and the same copy is known again.

        Raises: UsageProblem for a copy that is no conversation, BadText for text that is not Unicode.
        """
        copies.check(copy)
        digest = copies.digest_of(copy)
        with self._database.transaction() as connection:
            if copies.is_here(connection, copy, digest):
                return False
            copies.insert(connection, copy, digest, self._ids.make, datetime.now(UTC))
            return True

    @with_a_sound_index
    def merge_copy(self, copy: ConversationCopy) -> Merged:
        """Add a conversation of another program, or what is new in it since it was last added; all is `imported`.

        The conversation and its turns are known again by the ids they have in the copy, whatever these look like.
        Nothing that is stored is changed, and the branch that was gone on with here stays in use.

        Raises: UsageProblem for a copy that is no conversation, BadText for text that is not Unicode.
        """
        copies.check(copy)
        with self._database.transaction() as connection:
            return merging.merge(connection, copy, datetime.now(UTC))

    def select(self, turn_id: str) -> None:
        """Show and continue the branch through this turn, down to its newest descendant. Raises: UnknownName."""
        with self._database.transaction() as connection:
            turns.select(connection, turn_id)

    def conversation(self, conversation_id: str) -> Conversation:
        """`turn_count` counts the turns of all branches. Raises: UnknownName."""
        with self._database.reading() as connection:
            return turns.conversation(connection, conversation_id)

    def conversations(self, limit: int = 50, offset: int = 0) -> tuple[Conversation, ...]:
        """Those last opened or answered in come first."""
        with self._database.reading() as connection:
            return turns.conversations(connection, limit, offset)

    def rename(self, conversation_id: str, title: str) -> None:
        """Raises: UnknownName; BadText for a title without a visible character or with invalid Unicode."""
        one_line = " ".join(rows.checked_text(title).split())
        if not one_line:
            raise BadText("A title cannot be empty.", "Give the conversation a name of at least one character.")
        with self._database.transaction() as connection:
            turns.rename(connection, conversation_id, one_line)

    def save_summary(self, turn_id: str, text: str, expert: str, trace: Trace | None) -> None:
        """Add a summary of this turn, which replaces earlier ones in `TurnRecord.summary`. Raises: UnknownName."""
        now = _now()
        with self._database.transaction() as connection:
            turns.turn(connection, turn_id)
            views.insert_summary(connection, turn_id, rows.writable(text), expert, now)
            views.insert_traces(connection, [trace] if trace else [], now)

    def latest_epoch(
        self, conversation_id: str, expert: str, on_path: Collection[str], *, below: int | None = None
    ) -> Epoch | None:
        """The highest-numbered epoch of this view whose folded past lies on the path; None when there is none.

        `on_path` holds the turn ids of the path. Of equal numbers, which two branches may have begun, the one that
        began last counts. Only those whose number is `below` one, where that is given.
        """
        with self._database.reading() as connection:
            return views.latest_epoch(connection, conversation_id, expert, on_path, below)

    def epoch_of_turn(self, turn_id: str, expert: str) -> Epoch | None:
        """The epoch of the view `expert` in which the turn was answered; None where it left no tokens there."""
        with self._database.reading() as connection:
            return views.epoch_of_turn(connection, turn_id, expert)

    def running_memory(self, conversation_id: str, turn_ids: Sequence[str]) -> tuple[RunningMemory, str] | None:
        """The running memory, of whichever view, that stands for the most of these turns of one branch, oldest first,
        and the last turn that it stands for. None where there is none with a line.
        """
        with self._database.reading() as connection:
            return views.latest_memory(connection, conversation_id, turn_ids)

    def begin_epoch(self, epoch: Epoch) -> None:
        """Raises: UnknownName when there is no such conversation or no such folded turn."""
        with self._database.transaction() as connection:
            turns.conversation(connection, epoch.conversation_id)
            if epoch.folded_through is not None:
                turns.require_turn_in(connection, epoch.conversation_id, epoch.folded_through)
            views.insert_epoch(connection, epoch, _now())

    def new_epoch_id(self) -> str:
        return self._ids.make("e")

    def segments(self, epoch_id: str, turn_ids: Collection[str]) -> dict[str, Segment]:
        """By turn id; turns that have no segment in this epoch are left out."""
        with self._database.reading() as connection:
            return views.segments(connection, epoch_id, turn_ids)

    def traces(self, turn_id: str) -> tuple[Trace, ...]:
        """In the order in which they were saved."""
        with self._database.reading() as connection:
            return views.traces(connection, turn_id)

    @with_a_sound_index
    def search(self, query: str, limit: int = 20) -> tuple[SearchHit, ...]:
        """Messages that hold every term of the query, the best matches first. Any text is a valid query.

        Words match whole, the last one also as a beginning; Chinese, Japanese and Korean match anywhere.
        """
        with self._database.reading() as connection:
            return index.hits(connection, query, limit)

    def rebuild_search(self) -> None:
        """Make the search index anew from the messages. Raises: DatabaseDamaged when these are damaged themselves."""
        self.mender.rebuild()

    def integrity(self) -> str:
        """ "ok", or what is wrong with the file, its references or its search index. Reads everything."""
        try:
            with self._database.reading() as connection:
                findings = [row[0] for row in connection.execute("PRAGMA integrity_check(20)")]
                findings += [f"{row[0]} names a missing row" for row in connection.execute("PRAGMA foreign_key_check")]
            if findings != ["ok"]:
                return "; ".join(finding for finding in findings if finding != "ok")
            with self._database.transaction() as connection:
                return index.problem(connection) or "ok"
        except DatabaseDamaged as error:
            return error.problem

    def backup(self, target: Path) -> None:
        """Copy everything to the new file `target` while work goes on. Raises: UsageProblem when it exists."""
        self._database.backup(target)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
