"""Forgetting in the store: the words of a scope go from every table, in one transaction, and so do token ids of them.

Leaves transactions to its caller, but for `ForgettingStore`. What lies outside the database, adapters and their files
included, is given as steps, which stand in the database until they are done: nothing here says what was forgotten.

Where words or tokens lie, and what becomes of them. A table that is new has its place here; a test compares this with
the schema.

    messages.text               the mark stands for the words; for all of it where the turn goes
    messages_fts.terms          written anew from what the message says now, then optimized
    attachments.name, text      as messages; of a turn that goes the rows are deleted
    calls.arguments, result     as messages, within the JSON of the arguments
    turns.problem, hint         as messages; empty where the turn goes
    conversations.title         made anew where it is the beginning of what was said, else as messages
    summaries.text              the row is deleted where the turn is touched or the summary says the words
    epochs.head                 emptied: it may tell of folded turns; the view begins a new epoch, because of this
    segments.tokens             all of the conversation, and of those in which a memory of it may have been recalled
    traces.prompt, completion, logprobs    of turns that are touched and of all that follow them, and of those in
                                which a memory of it may have been recalled
    signals.text                erased where the turn goes, where it says the words, or where it corrects changed text
    memories.text, evidence, terms, slot, due_on    forgotten with all that they superseded
    recalled.line               the row is deleted with the memory, or with the turn that read it
    running_memory_lines.text, slot, due_on    of all epochs whose head is emptied; written anew from what is left
    suggestions.key             the row is deleted where its turn is touched or its memory goes: a hash can be guessed
    memory_codes.code           deleted with the memory
    memory_vectors.vector       likewise
    memories_fts.terms          likewise, then optimized
    job_runs.text               as messages, of runs in these conversations; all of it where a turn there goes
    tools.source, example       as messages, of tools saved in these conversations; changed, nobody has approved them
    notes.title, text, terms, previous    as messages, only where the words go everywhere
    events.title, place, notes  likewise
    jobs.title, text            likewise
    permissions.pattern         the row is deleted, likewise
    adapter_sources.content_hash    emptied: the hash of a short text can be guessed
    adapters.*                  the weights are a step: retired, and the file deleted

Without words of anybody: ids, numbers, times, states, names of experts, tools, profiles and files, hashes, reasons of
the program's own.

    _sqlite_migrations.*, sqlite_sequence.*, canaries.*, canary_turns.*, conversation_modes.*, evaluations.*
    forgetting.*, imports.*, interviews.*, memory_pauses.*, promotions.*, reminders_told.*, repairs.*
    suggestions_off.*
    conversations.conversation_id, profile, created_at, updated_at, leaf_turn_id
    turns.turn_id, conversation_id, parent_turn_id, state, created_at, closed_at, expert, route_reason, route_scores
    turns.usage, usage_other, timing
    messages.message_id, turn_id, role, provenance, created_at
    attachments.turn_id, position
    calls.turn_id, position, tool, source, state, is_tainted, seconds, began_at, closed_at
    summaries.summary_id, turn_id, expert, created_at
    epochs.epoch_id, conversation_id, expert, number, base_hash, harness_version, reason, folded_through, created_at
    segments.epoch_id, turn_id
    traces.trace_id, turn_id, kind, expert, adapters, base_hash, harness_version, seed, created_at
    signals.signal_id, turn_id, kind, value, source, created_at, other_turn_id, is_tainted, is_erased
    memories.memory_id, turn_id, conversation_id, source, kind, trust, r0, validation, state, superseded_by, created_at
    memories.used_at, validated_at
    memory_codes.memory_id, embedder
    memory_vectors.memory_id
    recalled.turn_id, position, memory_id
    running_memory_lines.epoch_id, position, turn_id, kind, is_pinned
    suggestions.suggestion_id, kind, memory_id, event_id, turn_id, facts, state, made_at, answered_at, after_turn_id
    suggestions.is_counted
    adapter_sources.adapter_id, source_id
    jobs.job_id, request, kind, expert, schedule_kind, schedule, zone, begins_at, missed, missed_most, is_enabled
    jobs.created_by, created_at, next_due_at, planned_from_at, blocked_by
    job_runs.run_id, job_id, planned_at, started_at, ended_at, outcome, count, attempt, is_by_hand, conversation_id
    notes.note_id, source, created_at, updated_at, removed_at
    events.event_id, uid, instance, kind, starts, ends, zone, is_all_day, rule, left_out, remind_minutes, source
    events.created_at, updated_at, cancelled_at
    permissions.permission_id, tool, allows, created_at
    tools.name, version, author, conversation_id, is_tainted, approved_hash, created_at, removed_at
"""

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import engine.store.index as index
import engine.store.memories as memories
import engine.store.redacting as redacting
from engine.errors import UsageProblem
from engine.forgetting import Place, Wanted
from engine.store.database import Database
from engine.store.forgetting_scope import Scope, scope_of
from engine.store.mending import IndexMender, with_a_sound_index
from engine.store.redacting import OF_CONVERSATIONS, OF_TURNS, THESE, Counts, as_json
from engine.store.views import FORGOTTEN

StepKind = Literal["adapter", "lesson", "run", "file", "copy", "pages"]
"""What is left to be done behind the transaction; the pages of the database come last."""


@dataclass(frozen=True, slots=True)
class Step:
    kind: StepKind
    name: str = ""


PAGES: Final = Step("pages")


@dataclass(frozen=True, slots=True)
class Done:
    """What went, or would go, from the store."""

    places: tuple[Place, ...]
    elsewhere: tuple[Place, ...]
    """Where the words are said apart from the scope."""
    touched: frozenset[str]
    """Turns of which something went, what was said of their answers included."""
    scope: Scope


class ForgettingStore:
    def __init__(self, database: Database, mender: IndexMender) -> None:
        self._database = database
        self.mender = mender

    @with_a_sound_index
    def preview(self, wanted: Wanted) -> Done:
        """What `forget` would do, without doing it. Raises: as `forget`."""
        found = list[Done]()
        try:
            with self._database.transaction() as connection:
                found.append(_forget(connection, wanted))
                raise _TakenBack
        except _TakenBack:
            return found[0]

    @with_a_sound_index
    def forget(self, wanted: Wanted, steps: Sequence[Step]) -> Done:
        """In one transaction with the record of the steps that are left, the pages of the database included.

        Raises: UnknownName, BadText, ConversationBusy; UsageProblem where nothing says the words.
        """
        with self._database.transaction() as connection:
            done = _forget(connection, wanted)
            connection.executemany(
                "INSERT OR IGNORE INTO forgetting (kind, name) VALUES (?, ?)",
                [(step.kind, step.name) for step in (*steps, PAGES)],
            )
            return done

    def steps(self) -> tuple[Step, ...]:
        """Those that are left of all forgettings, in their order; the pages of the database last."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT kind, name FROM forgetting ORDER BY kind = 'pages', step_id")
            return tuple(Step(*row) for row in found)

    def finish(self, step: Step) -> None:
        """It is done."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM forgetting WHERE kind = ? AND name = ?", [step.kind, step.name])

    @with_a_sound_index
    def scrub(self) -> bool:
        """Leave nothing of what was deleted in the pages of the file, its indexes and its log. See `Database.scrub`."""
        with self._database.transaction() as connection:
            index.optimize(connection)
        return self._database.scrub()


class _TakenBack(Exception):
    """Ends a transaction that only was to be looked at."""


def _forget(connection: sqlite3.Connection, wanted: Wanted) -> Done:
    scope = scope_of(connection, wanted)
    counts = Counts()
    before = redacting.titles(connection, scope)
    touched = redacting.empty(connection, scope.whole, counts) | redacting.redact(connection, scope, counts)
    redacting.retitle(connection, scope, before)
    after = redacting.titles(connection, scope)
    counts["titles"] = sum(after[name].title != title.title for name, title in before.items())
    if wanted.span and not touched and not any(counts.values()):
        raise UsageProblem("Nothing there says that.", "Give the words as they were said.")
    for turn_id in touched:
        index.replace(connection, turn_id)
    counts["summaries"] += _drop_summaries(connection, scope, touched)
    counted, corrected = _erase_signals(connection, scope, touched)
    counts["signals"] += counted
    memories.forget(connection, scope.memories)
    connection.execute(
        f"DELETE FROM recalled WHERE memory_id IN {THESE} OR turn_id IN {THESE}",
        [as_json(scope.memories), as_json(scope.whole)],
    )
    counts["memories"] += len(scope.memories)
    _begin_views_anew(connection, scope, touched, counts)
    connection.execute(
        f"DELETE FROM suggestions WHERE turn_id IN {THESE} OR memory_id IN {THESE}",
        [as_json(touched), as_json(scope.memories)],
    )
    learned_from = frozenset(touched | corrected)
    connection.execute(
        f"UPDATE adapter_sources SET content_hash = '' WHERE source_id IN {THESE}", [as_json(learned_from)]
    )
    return Done(_counted(counts), _counted(redacting.elsewhere(connection, scope)), learned_from, scope)


def _drop_summaries(connection: sqlite3.Connection, scope: Scope, touched: Collection[str]) -> int:
    found = connection.execute(
        f"SELECT summary_id, turn_id, text FROM summaries WHERE {OF_TURNS}",
        [as_json(scope.conversations | set(scope.recalled))],
    )
    gone = [row["summary_id"] for row in found if row["turn_id"] in touched or scope.spans.are_in(row["text"])]
    connection.execute(f"DELETE FROM summaries WHERE summary_id IN {THESE}", [as_json(gone)])
    return len(gone)


def _erase_signals(connection: sqlite3.Connection, scope: Scope, touched: Collection[str]) -> tuple[int, set[str]]:
    """How many, and the turns that they are about. Thumbs and picks stay where only words go: they say nothing."""
    found = connection.execute("SELECT signal_id, turn_id, other_turn_id, kind, text FROM signals WHERE NOT is_erased")
    in_scope = {
        turn_id
        for (turn_id,) in connection.execute(
            f"SELECT turn_id FROM turns WHERE conversation_id IN {THESE}", [as_json(scope.conversations)]
        )
    }
    gone = [
        row
        for row in found
        if {row["turn_id"], row["other_turn_id"]} & scope.whole
        or (row["turn_id"] in in_scope and scope.spans.are_in(row["text"]))
        or (row["turn_id"] in touched and row["text"])
    ]
    connection.execute(
        f"UPDATE signals SET text = '', value = 0, is_erased = 1 WHERE signal_id IN {THESE}",
        [as_json(row["signal_id"] for row in gone)],
    )
    return len(gone), {row["turn_id"] for row in gone}


def _begin_views_anew(connection: sqlite3.Connection, scope: Scope, touched: Collection[str], counts: Counts) -> None:
    """Of every conversation in which something went, or a memory may have been read."""
    found = connection.execute(
        f"SELECT DISTINCT conversation_id FROM turns WHERE turn_id IN {THESE}", [as_json(touched)]
    )
    these = as_json({*(name for (name,) in found), *scope.recalled})
    of_epochs = f"epoch_id IN (SELECT epoch_id FROM epochs WHERE {OF_CONVERSATIONS})"
    counts["segments"] += connection.execute(f"DELETE FROM segments WHERE {of_epochs}", [these]).rowcount
    connection.execute(f"DELETE FROM running_memory_lines WHERE {of_epochs}", [these])
    counts["views"] += connection.execute(
        f"UPDATE epochs SET head = x'', harness_version = ? WHERE {OF_CONVERSATIONS} AND harness_version <> ?",
        [FORGOTTEN, these, FORGOTTEN],
    ).rowcount
    counts["traces"] += connection.execute(
        """
        DELETE FROM traces WHERE turn_id IN (
            WITH RECURSIVE below (turn_id) AS (
                SELECT value FROM json_each(?)
                UNION
                SELECT turns.turn_id FROM turns JOIN below ON turns.parent_turn_id = below.turn_id
            )
            SELECT turn_id FROM below
        )
        """,
        [as_json(touched)],
    ).rowcount
    for conversation_id, moment in scope.recalled.items():
        counts["traces"] += connection.execute(
            "DELETE FROM traces WHERE turn_id IN"
            " (SELECT turn_id FROM turns WHERE conversation_id = ? AND created_at >= ?)",
            [conversation_id, moment],
        ).rowcount


def _counted(counts: Counts) -> tuple[Place, ...]:
    return tuple(Place(kind, count) for kind, count in counts.items() if count)
