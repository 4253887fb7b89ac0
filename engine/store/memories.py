"""Memories: written, read, judged, superseded and forgotten. Lives in the store's database.

What a memory says and what it is worth is the affair of `engine.memory`; terms and vectors come ready-made from there.
Only active memories are in the index and have vectors; how they are found there is said by `memory_search`. Every
method is one transaction or one read and raises StoreProblem or one of its children when the disk or the file fails.
"""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Final

import engine.store.turns as turns
from engine.errors import BadText, UnknownName, UsageProblem
from engine.memory.values import Draft, Memory, MemoryKind, MemoryState, TrustTier, Waiting
from engine.store.database import Database
from engine.store.memory_search import Vector, marks, put_vector
from engine.store.mending import IndexMender, with_a_sound_index
from engine.store.rows import checked_text
from engine.values import TurnRecord

TEXT_CHARACTERS: Final = 1_000
EVIDENCE_CHARACTERS: Final = 2_000
PAGE: Final = 50
ACTIVE: Final[tuple[MemoryState, ...]] = ("active",)
COLUMNS: Final = (
    "memory_id, text, kind, evidence, turn_id, conversation_id, source, trust, r0, validation, slot, due_on, state,"
    " created_at, used_at, validated_at, (SELECT json_group_array(memory_id) FROM (SELECT memory_id FROM memories AS"
    " before WHERE before.superseded_by = memories.memory_id ORDER BY memory_id)) AS supersedes"
)


class MemoryStore:
    def __init__(self, database: Database, mender: IndexMender) -> None:
        self._database = database
        self.mender = mender

    @with_a_sound_index
    def add(
        self,
        draft: Draft,
        terms: str,
        now: datetime,
        *,
        validation: float,
        supersedes: Sequence[int] = (),
        vector: Vector | None = None,
    ) -> Memory:
        """Write a memory, in the place of those that it supersedes, which are kept as history.

        Raises: BadText for empty, too long or invalid text, a day that is none, or no source; UsageProblem for one that
        would count although no person vouches for it; UnknownName for a turn or a memory that there is not.
        """
        check_draft(draft)
        with self._database.transaction() as connection:
            turn = None if draft.turn_id is None else turns.turn(connection, draft.turn_id)
            _check_vouched(draft, turn)
            memory_id = connection.execute(
                "INSERT INTO memories (turn_id, conversation_id, source, kind, text, evidence, terms, slot, due_on,"
                " trust, r0, validation, state, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    draft.turn_id,
                    None if turn is None else turn.conversation_id,
                    draft.source,
                    draft.kind,
                    draft.text,
                    draft.evidence,
                    terms,
                    draft.slot,
                    draft.due_on,
                    draft.trust,
                    draft.r0,
                    validation,
                    draft.state,
                    _written(now),
                ],
            ).lastrowid
            assert memory_id is not None
            if draft.state == "active":
                _put_in(connection, memory_id, terms, vector)
            for replaced in supersedes:
                _supersede(connection, replaced, memory_id)
            return _known(connection, memory_id)

    def add_waiting(
        self, turn_id: str, found: Sequence[tuple[Waiting, str]], now: datetime, *, r0: float, validation: float
    ) -> int:
        """Let what a turn says, each with its terms, wait for the user: tainted and pending, whoever asks.

        Once only: where memories were written from this turn before, whatever became of them, nothing is written; nor
        what waits already. How many wait now that did not. Raises: BadText, UnknownName.
        """
        for waiting, _ in found:
            check_draft(
                Draft(waiting.text, waiting.kind, waiting.evidence, turn_id, slot=waiting.slot, due_on=waiting.due_on)
            )
        with self._database.transaction() as connection:
            turn = turns.turn(connection, turn_id)
            if connection.execute("SELECT 1 FROM memories WHERE turn_id = ?", [turn_id]).fetchone():
                return 0
            written = [
                connection.execute(
                    "INSERT INTO memories (turn_id, conversation_id, kind, text, evidence, terms, slot, due_on, trust,"
                    " r0, validation, state, created_at) SELECT ?, ?, ?, ?, ?, ?, ?, ?, 'tainted', ?, ?, 'pending', ?"
                    " WHERE NOT EXISTS (SELECT 1 FROM memories WHERE state = 'pending' AND kind = ? AND terms = ?)",
                    [
                        turn_id,
                        turn.conversation_id,
                        one.kind,
                        one.text,
                        one.evidence,
                        terms,
                        one.slot,
                        one.due_on,
                        r0,
                        validation,
                        _written(now),
                        one.kind,
                        terms,
                    ],
                ).rowcount
                for one, terms in found
            ]
            return sum(written)

    def get(self, memory_id: int) -> Memory:
        """Raises: UnknownName."""
        with self._database.reading() as connection:
            return _known(connection, memory_id)

    def get_all(self, memory_ids: Collection[int]) -> dict[int, Memory]:
        """By number; those that there are not are left out."""
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {COLUMNS} FROM memories WHERE memory_id IN ({marks(memory_ids)})", list(memory_ids)
            )
            return {row["memory_id"]: memory_of(row) for row in found}

    def page(
        self,
        limit: int = PAGE,
        before: int | None = None,
        states: Collection[MemoryState] = ACTIVE,
        kinds: Collection[MemoryKind] = (),
        trusts: Collection[TrustTier] = (),
    ) -> Sequence[Memory]:
        """The newest first, those numbered below `before`; without `kinds` or `trusts` of all of them."""
        conditions, values = [f"state IN ({marks(states)})"], list[str | int](states)
        for column, wanted in (("kind", kinds), ("trust", trusts)):
            if wanted:
                conditions.append(f"{column} IN ({marks(wanted)})")
                values.extend(wanted)
        if before is not None:
            conditions.append("memory_id < ?")
            values.append(before)
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {COLUMNS} FROM memories WHERE {' AND '.join(conditions)} ORDER BY memory_id DESC LIMIT ?",
                [*values, limit],
            )
            return tuple(map(memory_of, found))

    def of_turn(self, turn_id: str) -> Sequence[Memory]:
        """What was written from it, oldest first, whatever became of it."""
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {COLUMNS} FROM memories WHERE turn_id = ? ORDER BY memory_id", [turn_id]
            )
            return tuple(map(memory_of, found))

    def in_slot(self, slot: str) -> Sequence[Memory]:
        """The active ones, oldest first."""
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {COLUMNS} FROM memories WHERE state = 'active' AND slot <> '' AND slot = ? ORDER BY memory_id",
                [slot],
            )
            return tuple(map(memory_of, found))

    def due(self, first: str, last: str) -> Sequence[Memory]:
        """The active ones whose day is within these two, by day."""
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {COLUMNS} FROM memories WHERE state = 'active' AND due_on <> '' AND due_on BETWEEN ? AND ?"
                " ORDER BY due_on, memory_id",
                [first, last],
            )
            return tuple(map(memory_of, found))

    def unconfirmed(self, slots: Collection[str], before: datetime, most: int) -> Sequence[Memory]:
        """The active ones in these slots that were last said or confirmed before then, the oldest first."""
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {COLUMNS} FROM memories WHERE state = 'active' AND slot <> '' AND slot IN ({marks(slots)})"
                " AND coalesce(validated_at, created_at) < ? ORDER BY coalesce(validated_at, created_at) LIMIT ?",
                [*slots, _written(before), most],
            )
            return tuple(map(memory_of, found))

    def history(self, memory_id: int) -> Sequence[Memory]:
        """The memory and all those before it in its place, the newest first. Raises: UnknownName."""
        with self._database.reading() as connection:
            return history(connection, memory_id)

    @with_a_sound_index
    def supersede(self, memory_ids: Sequence[int], by: int) -> None:
        """They hold no longer; `by` does in their place. Raises: UnknownName."""
        with self._database.transaction() as connection:
            for memory_id in memory_ids:
                _supersede(connection, memory_id, by)

    def judge(self, memory_id: int, validation: float, now: datetime, *, trusted: bool = False) -> Memory:
        """Believe it more or less from now on; `trusted`: the user vouches for it. Raises: UnknownName."""
        with self._database.transaction() as connection:
            before = _known(connection, memory_id)
            connection.execute(
                "UPDATE memories SET validation = ?, validated_at = ?, trust = ? WHERE memory_id = ?",
                [
                    validation,
                    _written(now) if validation >= before.validation else before.validated_at,
                    "confirmed" if trusted else before.trust,
                    memory_id,
                ],
            )
            return _known(connection, memory_id)

    def turns_with(self, memory_ids: Collection[int]) -> dict[int, int]:
        """In how many turns each was read; those that never were are left out."""
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT memory_id, count(*) AS turns FROM recalled WHERE memory_id IN ({marks(memory_ids)})"
                " GROUP BY memory_id",
                list(memory_ids),
            )
            return {row["memory_id"]: row["turns"] for row in found}

    def use(self, gains: Mapping[int, float], now: datetime) -> None:
        """They were recalled into a turn, which made each worth so much more than it was when it was written."""
        with self._database.transaction() as connection:
            connection.executemany(
                "UPDATE memories SET used_at = ?, r0 = min(1.0, r0 + ?) WHERE memory_id = ?",
                [(_written(now), gain, memory_id) for memory_id, gain in gains.items()],
            )

    def credit(self, memory_id: int, gain: float) -> None:
        """It has been worth so much more than it was when it was written."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE memories SET r0 = min(1.0, r0 + ?) WHERE memory_id = ?", [gain, memory_id])

    @with_a_sound_index
    def approve(
        self, memory_id: int, validation: float, least_r0: float, now: datetime, vector: Vector | None = None
    ) -> Memory:
        """The user has looked at one that was pending: it counts from now on, with an r0 of at least so much.

        Raises: UnknownName; UsageProblem for one that does not wait.
        """
        with self._database.transaction() as connection:
            if _known(connection, memory_id).state != "pending":
                raise UsageProblem(f"Memory {memory_id} waits for nobody.", "List those that do.")
            connection.execute(
                "UPDATE memories SET state = 'active', trust = 'confirmed', validation = ?, r0 = max(r0, ?),"
                " validated_at = ? WHERE memory_id = ?",
                [validation, least_r0, _written(now), memory_id],
            )
            (terms,) = connection.execute("SELECT terms FROM memories WHERE memory_id = ?", [memory_id]).fetchone()
            _put_in(connection, memory_id, terms, vector)
            return _known(connection, memory_id)

    @with_a_sound_index
    def forget(self, memory_id: int) -> None:
        """Its text, evidence, terms and vectors are gone, with those of all that it superseded. Raises: UnknownName."""
        with self._database.transaction() as connection:
            forget(connection, [memory.memory_id for memory in history(connection, memory_id)])
            # What was taken out of the index stays in its pages until they are merged.
            connection.execute("INSERT INTO memories_fts (memories_fts) VALUES ('optimize')")


def forget(connection: sqlite3.Connection, memory_ids: Collection[int]) -> None:
    """Leave nothing of these but their numbers. The index still holds their terms in its pages until it is optimized.

    Leaves transactions to its caller.
    """
    for memory_id in memory_ids:
        _take_out(connection, memory_id)
        connection.execute(
            "UPDATE memories SET text = '', evidence = '', terms = '', slot = '', due_on = '', state = 'forgotten'"
            " WHERE memory_id = ?",
            [memory_id],
        )


def _put_in(connection: sqlite3.Connection, memory_id: int, terms: str, vector: Vector | None) -> None:
    connection.execute("INSERT INTO memories_fts (rowid, terms) VALUES (?, ?)", [memory_id, terms])
    if vector is not None:
        put_vector(connection, memory_id, vector)


def _supersede(connection: sqlite3.Connection, memory_id: int, by: int) -> None:
    """Raises: UnknownName."""
    _known(connection, memory_id)
    _take_out(connection, memory_id)
    connection.execute(
        "UPDATE memories SET state = 'superseded', superseded_by = ? WHERE memory_id = ? AND state <> 'forgotten'",
        [by, memory_id],
    )


def _take_out(connection: sqlite3.Connection, memory_id: int) -> None:
    connection.execute("DELETE FROM memories_fts WHERE rowid = ?", [memory_id])
    connection.execute("DELETE FROM memory_codes WHERE memory_id = ?", [memory_id])
    connection.execute("DELETE FROM memory_vectors WHERE memory_id = ?", [memory_id])


def history(connection: sqlite3.Connection, memory_id: int) -> tuple[Memory, ...]:
    """The memory and all those before it in its place, the newest first. Raises: UnknownName."""
    found, waiting = list[Memory](), [memory_id]
    while waiting:
        found.append(_known(connection, waiting.pop()))
        waiting.extend(found[-1].supersedes)
    return tuple(sorted(found, key=lambda memory: memory.memory_id, reverse=True))


def _known(connection: sqlite3.Connection, memory_id: int) -> Memory:
    row = connection.execute(f"SELECT {COLUMNS} FROM memories WHERE memory_id = ?", [memory_id]).fetchone()
    if row is None:
        raise UnknownName(f"There is no memory {memory_id}.", "List the memories to see their numbers.")
    return memory_of(row)


def check_draft(draft: Draft) -> None:
    """Whether it can be kept at all. Raises: BadText."""
    for text in (draft.text, draft.evidence, draft.slot):
        checked_text(text)
    if not draft.text.strip() or not draft.evidence.strip():
        raise BadText("A memory needs a text and the words that say so.", "Say what is to be remembered.")
    if (draft.turn_id is None) == (draft.source == "turn"):
        raise BadText("A memory needs to come from somewhere.", "Name its turn, or a source that is none.")
    if draft.due_on and not is_day(draft.due_on):
        raise BadText(f"{draft.due_on:.40} is no day.", "Write it as year, month and day, such as 2026-11-30.")
    if len(draft.text) > TEXT_CHARACTERS or len(draft.evidence) > EVIDENCE_CHARACTERS:
        raise BadText(
            f"A memory takes {TEXT_CHARACTERS:,} characters, its evidence {EVIDENCE_CHARACTERS:,}.",
            "Make it shorter, or keep a note.",
        )


def _check_vouched(draft: Draft, turn: TurnRecord | None) -> None:
    """Only what the user typed, or has looked at, counts at once. Raises: UsageProblem."""
    is_own = draft.trust == "confirmed" or (draft.trust != "tainted" and (turn is None or turn.provenance == "typed"))
    if draft.state == "active" and not is_own:
        raise UsageProblem("What the user did not type waits until they have looked at it.", "Let it wait for review.")


def memory_of(row: sqlite3.Row) -> Memory:
    return Memory(**{**dict(row), "supersedes": tuple(json.loads(row["supersedes"]))})


def is_day(text: str) -> bool:
    """As days are compared: year, month and day with dashes between."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")
