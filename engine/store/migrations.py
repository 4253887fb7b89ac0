"""The schema, as named steps that are only ever added to.

A step that has landed is never edited; a change is a new step. Each runs in one transaction with the record that it
ran, so that a process killed at any point leaves the old schema or the new one. No step may use `executescript`,
which commits what came before it.
"""

import sqlite3
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def _without(module: str) -> Iterator[None]:
    """Imports in here do not find `module`, unless it is loaded already."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


# sqlite-utils loads pandas where it is installed, as it is beside Gradio: half of what a short command takes to start.
with _without("pandas"):
    from sqlite_utils import Database as MigrationDatabase
    from sqlite_utils import Migrations

MIGRATIONS = Migrations("macaron")


def apply(connection: sqlite3.Connection, migrations: Migrations = MIGRATIONS) -> None:
    """Bring the database up to today's schema."""
    # Plugins that other programs registered for sqlite-utils have no business in this database.
    database = MigrationDatabase(connection, execute_plugins=False)
    with database.atomic():
        migrations.ensure_migrations_table(database)
    migrations.apply(database)


def known(migrations: Migrations = MIGRATIONS) -> frozenset[str]:
    """The names of all steps this version has."""
    in_memory = MigrationDatabase(memory=True, execute_plugins=False)
    try:
        return frozenset(step.name for step in migrations.pending(in_memory))
    finally:
        in_memory.close()


def applied(connection: sqlite3.Connection, migrations: Migrations = MIGRATIONS) -> frozenset[str] | None:
    """The names of the steps that this database has had, also unknown ones; None when it is another program's."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if migrations.migrations_table not in tables:
        return None if tables else frozenset()
    names = frozenset(
        name
        for (name,) in connection.execute(
            f"SELECT name FROM {migrations.migrations_table} WHERE migration_set = ?", [migrations.name]
        )
    )
    return None if not names and len(tables) > 1 else names


def are_ours(tables: Collection[str]) -> bool:
    """Whether a database with these tables is one of ours, although its record of migrations says nothing."""
    return {"conversations", "turns", "messages"} <= set(tables)


def _execute(database: MigrationDatabase, statements: Iterable[str]) -> None:
    for statement in statements:
        database.conn.execute(statement)


@MIGRATIONS()
def m001_conversations_are_trees_of_turns(database: MigrationDatabase) -> None:
    # Keys that name the conversation too keep parents and leaves within it.
    _execute(
        database,
        [
            """
            CREATE TABLE conversations (
                conversation_id TEXT PRIMARY KEY NOT NULL,
                title TEXT NOT NULL,
                profile TEXT NOT NULL,
                created_at TEXT NOT NULL,
                updated_at TEXT NOT NULL,
                leaf_turn_id TEXT,
                FOREIGN KEY (conversation_id, leaf_turn_id) REFERENCES turns (conversation_id, turn_id)
            )
            """,
            """
            CREATE TABLE turns (
                turn_id TEXT PRIMARY KEY NOT NULL,
                conversation_id TEXT NOT NULL REFERENCES conversations (conversation_id),
                parent_turn_id TEXT,
                state TEXT NOT NULL,
                created_at TEXT NOT NULL,
                closed_at TEXT,
                expert TEXT,
                route_reason TEXT,
                route_scores TEXT,
                usage TEXT,
                usage_other TEXT,
                timing TEXT,
                problem TEXT NOT NULL DEFAULT '',
                hint TEXT NOT NULL DEFAULT '',
                UNIQUE (conversation_id, turn_id),
                FOREIGN KEY (conversation_id, parent_turn_id) REFERENCES turns (conversation_id, turn_id)
            )
            """,
            """
            CREATE TABLE messages (
                message_id INTEGER PRIMARY KEY,
                turn_id TEXT NOT NULL REFERENCES turns (turn_id),
                role TEXT NOT NULL,
                text TEXT NOT NULL,
                provenance TEXT,
                created_at TEXT NOT NULL
            )
            """,
            "CREATE INDEX conversations_by_update ON conversations (updated_at, conversation_id)",
            "CREATE INDEX turns_by_parent ON turns (parent_turn_id, conversation_id)",
            "CREATE INDEX turns_running ON turns (state) WHERE state = 'running'",
            "CREATE UNIQUE INDEX messages_by_turn ON messages (turn_id, role)",
        ],
    )


@MIGRATIONS()
def m002_views_keep_their_tokens(database: MigrationDatabase) -> None:
    # Numbers of epochs are not unique within a view: two branches may each begin the next one.
    _execute(
        database,
        [
            """
            CREATE TABLE epochs (
                epoch_id TEXT PRIMARY KEY NOT NULL,
                conversation_id TEXT NOT NULL REFERENCES conversations (conversation_id),
                expert TEXT NOT NULL,
                number INTEGER NOT NULL,
                head BLOB NOT NULL,
                base_hash TEXT NOT NULL,
                harness_version TEXT NOT NULL,
                reason TEXT NOT NULL,
                folded_through TEXT REFERENCES turns (turn_id),
                created_at TEXT NOT NULL
            )
            """,
            """
            CREATE TABLE segments (
                epoch_id TEXT NOT NULL REFERENCES epochs (epoch_id),
                turn_id TEXT NOT NULL REFERENCES turns (turn_id),
                tokens BLOB NOT NULL,
                PRIMARY KEY (epoch_id, turn_id)
            )
            """,
            """
            CREATE TABLE summaries (
                summary_id INTEGER PRIMARY KEY,
                turn_id TEXT NOT NULL REFERENCES turns (turn_id),
                expert TEXT NOT NULL,
                text TEXT NOT NULL,
                created_at TEXT NOT NULL
            )
            """,
            """
            CREATE TABLE traces (
                trace_id INTEGER PRIMARY KEY,
                turn_id TEXT NOT NULL REFERENCES turns (turn_id),
                kind TEXT NOT NULL,
                expert TEXT NOT NULL,
                prompt BLOB NOT NULL,
                completion BLOB NOT NULL,
                adapters TEXT NOT NULL,
                base_hash TEXT NOT NULL,
                harness_version TEXT NOT NULL,
                seed INTEGER NOT NULL,
                logprobs BLOB,
                created_at TEXT NOT NULL
            )
            """,
            "CREATE INDEX epochs_by_view ON epochs (conversation_id, expert, number)",
            "CREATE INDEX epochs_by_fold ON epochs (folded_through)",
            "CREATE INDEX segments_by_turn ON segments (turn_id)",
            "CREATE INDEX summaries_by_turn ON summaries (turn_id)",
            "CREATE INDEX traces_by_turn ON traces (turn_id)",
        ],
    )


@MIGRATIONS()
def m003_messages_can_be_searched(database: MigrationDatabase) -> None:
    # The terms come ready-made from engine.store.search; the ascii tokenizer only splits them at spaces,
    # whatever Unicode version SQLite was built with.
    _execute(database, ["CREATE VIRTUAL TABLE messages_fts USING fts5 (terms, tokenize = 'ascii')"])


@MIGRATIONS()
def m004_turns_carry_files_and_signals(database: MigrationDatabase) -> None:
    # A signal is never changed: what a person thought of an answer, and took back, is evidence too.
    _execute(
        database,
        [
            """
            CREATE TABLE attachments (
                turn_id TEXT NOT NULL REFERENCES turns (turn_id),
                position INTEGER NOT NULL,
                name TEXT NOT NULL,
                text TEXT NOT NULL,
                PRIMARY KEY (turn_id, position)
            )
            """,
            """
            CREATE TABLE signals (
                signal_id INTEGER PRIMARY KEY,
                turn_id TEXT NOT NULL REFERENCES turns (turn_id),
                kind TEXT NOT NULL,
                value REAL NOT NULL,
                source TEXT NOT NULL,
                created_at TEXT NOT NULL
            )
            """,
            "CREATE INDEX signals_by_turn ON signals (turn_id, kind)",
        ],
    )


@MIGRATIONS()
def m005_imports_and_repairs_are_on_record(database: MigrationDatabase) -> None:
    # A file that was imported under other ids than its own is known again by its content. A search index that was
    # made anew is not made anew time after time.
    _execute(
        database,
        [
            """
            CREATE TABLE imports (
                digest TEXT PRIMARY KEY NOT NULL,
                conversation_id TEXT NOT NULL REFERENCES conversations (conversation_id),
                created_at TEXT NOT NULL
            )
            """,
            """
            CREATE TABLE repairs (
                repair_id INTEGER PRIMARY KEY,
                what TEXT NOT NULL,
                problem TEXT NOT NULL,
                created_at TEXT NOT NULL
            )
            """,
            "CREATE INDEX imports_by_conversation ON imports (conversation_id)",
        ],
    )


@MIGRATIONS()
def m006_adapters_are_catalogued(database: MigrationDatabase) -> None:
    # What answers is a state that an expert of a profile on one base has once at most, so that a swap is one
    # transaction and can never leave two champions. The log names adapters by their hash: it outlives them.
    _execute(
        database,
        [
            """
            CREATE TABLE adapters (
                adapter_id INTEGER PRIMARY KEY,
                content_hash TEXT NOT NULL,
                base_hash TEXT NOT NULL,
                profile TEXT NOT NULL,
                expert TEXT NOT NULL,
                kind TEXT NOT NULL,
                file TEXT NOT NULL,
                size_bytes INTEGER NOT NULL,
                rank INTEGER NOT NULL,
                parent_hash TEXT NOT NULL,
                recipe_hash TEXT NOT NULL,
                data_hash TEXT NOT NULL,
                note TEXT NOT NULL,
                state TEXT NOT NULL,
                created_at TEXT NOT NULL,
                championed INTEGER,
                is_forgotten INTEGER NOT NULL DEFAULT 0
            )
            """,
            """
            CREATE TABLE adapter_sources (
                adapter_id INTEGER NOT NULL REFERENCES adapters (adapter_id),
                source_id TEXT NOT NULL,
                content_hash TEXT NOT NULL,
                PRIMARY KEY (adapter_id, source_id)
            )
            """,
            """
            CREATE TABLE evaluations (
                evaluation_id INTEGER PRIMARY KEY,
                adapter_id INTEGER NOT NULL REFERENCES adapters (adapter_id),
                suite TEXT NOT NULL,
                items INTEGER NOT NULL,
                figures TEXT NOT NULL,
                verdict TEXT NOT NULL,
                reasons TEXT NOT NULL,
                created_at TEXT NOT NULL
            )
            """,
            """
            CREATE TABLE promotions (
                promotion_id INTEGER PRIMARY KEY,
                profile TEXT NOT NULL,
                base_hash TEXT NOT NULL,
                expert TEXT NOT NULL,
                kind TEXT NOT NULL,
                content_hash TEXT NOT NULL,
                previous_hash TEXT NOT NULL,
                reason TEXT NOT NULL,
                created_at TEXT NOT NULL
            )
            """,
            """
            CREATE TABLE canaries (
                canary_id INTEGER PRIMARY KEY,
                adapter_id INTEGER NOT NULL REFERENCES adapters (adapter_id),
                planned_turns INTEGER NOT NULL,
                baseline_turns INTEGER NOT NULL,
                baseline_negative INTEGER NOT NULL,
                outcome TEXT NOT NULL,
                created_at TEXT NOT NULL
            )
            """,
            """
            CREATE TABLE canary_turns (
                canary_id INTEGER NOT NULL REFERENCES canaries (canary_id),
                turn_id TEXT NOT NULL REFERENCES turns (turn_id),
                PRIMARY KEY (canary_id, turn_id)
            )
            """,
            "CREATE UNIQUE INDEX adapters_by_hash ON adapters (content_hash)",
            """
            CREATE UNIQUE INDEX adapters_in_use ON adapters (profile, base_hash, expert, state)
            WHERE state IN ('champion', 'canary')
            """,
            # Every index ends in the row's number, by which pages follow each other.
            "CREATE INDEX adapters_by_expert ON adapters (expert)",
            "CREATE INDEX adapters_by_state ON adapters (state)",
            "CREATE INDEX adapters_by_expert_and_state ON adapters (expert, state)",
            "CREATE INDEX adapters_by_parent ON adapters (parent_hash)",
            """
            CREATE INDEX adapters_once_champion ON adapters (profile, base_hash, expert, championed)
            WHERE championed IS NOT NULL
            """,
            "CREATE INDEX adapter_sources_by_source ON adapter_sources (source_id)",
            "CREATE INDEX evaluations_by_adapter ON evaluations (adapter_id)",
            "CREATE INDEX promotions_by_expert ON promotions (profile, base_hash, expert)",
            "CREATE INDEX promotions_by_adapter ON promotions (content_hash)",
            "CREATE INDEX promotions_by_previous ON promotions (previous_hash)",
            "CREATE INDEX canaries_by_adapter ON canaries (adapter_id)",
            "CREATE INDEX canary_turns_by_turn ON canary_turns (turn_id)",
        ],
    )


@MIGRATIONS()
def m007_signals_carry_text(database: MigrationDatabase) -> None:
    # A row that is erased stays, without its text: its number is not given again, and what it had replaced does not
    # count anew.
    _execute(
        database,
        [
            "ALTER TABLE signals ADD COLUMN text TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE signals ADD COLUMN other_turn_id TEXT REFERENCES turns (turn_id)",
            "ALTER TABLE signals ADD COLUMN is_tainted INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE signals ADD COLUMN is_erased INTEGER NOT NULL DEFAULT 0",
            "UPDATE signals SET is_tainted = 1 WHERE source NOT IN ('user', 'typed')",
            "CREATE INDEX signals_by_other ON signals (other_turn_id) WHERE other_turn_id IS NOT NULL",
            "CREATE INDEX signals_to_learn ON signals (kind) WHERE kind IN ('correction', 'edit')",
        ],
    )


@MIGRATIONS()
def m008_adapters_are_listed_by_profile(database: MigrationDatabase) -> None:
    _execute(
        database,
        [
            "CREATE INDEX adapters_by_profile ON adapters (profile)",
            "CREATE INDEX adapters_by_profile_and_expert ON adapters (profile, expert)",
        ],
    )


@MIGRATIONS()
def m009_jobs_and_what_became_of_their_times(database: MigrationDatabase) -> None:
    # A run is written down before it begins, so that one that broke off is known. Numbers of jobs that were removed
    # are not given again: someone may have written one down.
    _execute(
        database,
        [
            """
            CREATE TABLE jobs (
                job_id INTEGER PRIMARY KEY AUTOINCREMENT,
                request TEXT NOT NULL,
                title TEXT NOT NULL,
                kind TEXT NOT NULL,
                text TEXT NOT NULL,
                expert TEXT NOT NULL,
                schedule_kind TEXT NOT NULL,
                schedule TEXT NOT NULL,
                zone TEXT NOT NULL,
                begins_at TEXT NOT NULL,
                missed TEXT NOT NULL,
                missed_most INTEGER NOT NULL,
                is_enabled INTEGER NOT NULL,
                created_by TEXT NOT NULL,
                created_at TEXT NOT NULL,
                next_due_at TEXT,
                planned_from_at TEXT NOT NULL,
                blocked_by TEXT NOT NULL DEFAULT ''
            )
            """,
            """
            CREATE TABLE job_runs (
                run_id INTEGER PRIMARY KEY,
                job_id INTEGER NOT NULL REFERENCES jobs (job_id),
                planned_at TEXT NOT NULL,
                started_at TEXT,
                ended_at TEXT,
                outcome TEXT NOT NULL,
                text TEXT NOT NULL DEFAULT '',
                count INTEGER NOT NULL DEFAULT 1,
                attempt INTEGER NOT NULL DEFAULT 1,
                is_by_hand INTEGER NOT NULL DEFAULT 0,
                conversation_id TEXT NOT NULL DEFAULT ''
            )
            """,
            "CREATE UNIQUE INDEX jobs_by_request ON jobs (request)",
            "CREATE INDEX jobs_by_time ON jobs (next_due_at) WHERE next_due_at IS NOT NULL",
            "CREATE INDEX job_runs_by_job ON job_runs (job_id)",
            "CREATE INDEX job_runs_open ON job_runs (outcome) WHERE outcome IN ('waiting', 'running')",
        ],
    )


@MIGRATIONS()
def m010_notes_and_dates_are_kept(database: MigrationDatabase) -> None:
    # What a note was before, and a note or an event that is gone, can be brought back. One time of a repeated event
    # that was moved is an event of its own, which names the start that it stands for. Numbers are not
    # given again: a model may still have one in mind.
    _execute(
        database,
        [
            """
            CREATE TABLE notes (
                note_id INTEGER PRIMARY KEY AUTOINCREMENT,
                title TEXT NOT NULL,
                text TEXT NOT NULL,
                terms TEXT NOT NULL,
                source TEXT NOT NULL,
                created_at TEXT NOT NULL,
                updated_at TEXT NOT NULL,
                previous TEXT,
                removed_at TEXT
            )
            """,
            """
            CREATE TABLE events (
                event_id INTEGER PRIMARY KEY AUTOINCREMENT,
                uid TEXT NOT NULL,
                instance TEXT NOT NULL,
                kind TEXT NOT NULL,
                title TEXT NOT NULL,
                place TEXT NOT NULL,
                notes TEXT NOT NULL,
                starts TEXT NOT NULL,
                ends TEXT NOT NULL,
                zone TEXT NOT NULL,
                is_all_day INTEGER NOT NULL,
                rule TEXT NOT NULL,
                left_out TEXT NOT NULL,
                remind_minutes INTEGER,
                source TEXT NOT NULL,
                created_at TEXT NOT NULL,
                updated_at TEXT NOT NULL,
                cancelled_at TEXT
            )
            """,
            """
            CREATE TABLE reminders_told (
                event_id INTEGER NOT NULL REFERENCES events (event_id),
                starts TEXT NOT NULL,
                told_at TEXT NOT NULL,
                PRIMARY KEY (event_id, starts)
            )
            """,
            "CREATE INDEX notes_by_update ON notes (updated_at, note_id)",
            "CREATE UNIQUE INDEX events_by_uid ON events (uid, instance)",
            "CREATE INDEX events_by_start ON events (starts, event_id)",
        ],
    )


@MIGRATIONS()
def m011_tool_calls_are_kept(database: MigrationDatabase) -> None:
    _execute(
        database,
        [
            """
            CREATE TABLE calls (
                turn_id TEXT NOT NULL REFERENCES turns (turn_id),
                position INTEGER NOT NULL,
                tool TEXT NOT NULL,
                source TEXT NOT NULL,
                arguments TEXT NOT NULL,
                state TEXT NOT NULL,
                result TEXT NOT NULL DEFAULT '',
                is_tainted INTEGER NOT NULL DEFAULT 0,
                seconds REAL NOT NULL DEFAULT 0,
                began_at TEXT NOT NULL,
                closed_at TEXT,
                PRIMARY KEY (turn_id, position)
            )
            """,
            """
            CREATE TABLE permissions (
                permission_id INTEGER PRIMARY KEY,
                tool TEXT NOT NULL,
                pattern TEXT NOT NULL,
                allows INTEGER NOT NULL,
                created_at TEXT NOT NULL,
                UNIQUE (tool, pattern)
            )
            """,
            """
            CREATE TABLE conversation_modes (
                conversation_id TEXT PRIMARY KEY REFERENCES conversations (conversation_id),
                mode TEXT NOT NULL
            )
            """,
        ],
    )


@MIGRATIONS()
def m012_saved_tools_are_kept(database: MigrationDatabase) -> None:
    # Every version stays; the newest is the tool. What a person approved is a hash over its source and all it reaches.
    _execute(
        database,
        [
            """
            CREATE TABLE tools (
                name TEXT NOT NULL,
                version INTEGER NOT NULL,
                source TEXT NOT NULL,
                example TEXT NOT NULL,
                author TEXT NOT NULL,
                conversation_id TEXT NOT NULL,
                is_tainted INTEGER NOT NULL,
                approved_hash TEXT,
                created_at TEXT NOT NULL,
                removed_at TEXT,
                PRIMARY KEY (name, version)
            )
            """,
        ],
    )


@MIGRATIONS()
def m013_memories_and_what_finds_them(database: MigrationDatabase) -> None:
    # Only active memories are in the index; a row stays when it is superseded or forgotten, so that its number is not
    # given again. Codes lie apart from the vectors they are made from, so that all of them can be read at once. What
    # was not said in a turn has neither turn nor conversation, but a source. While memory is paused there is one row
    # that says since when.
    _execute(
        database,
        [
            """
            CREATE TABLE memories (
                memory_id INTEGER PRIMARY KEY AUTOINCREMENT,
                turn_id TEXT REFERENCES turns (turn_id),
                conversation_id TEXT REFERENCES conversations (conversation_id),
                source TEXT NOT NULL DEFAULT 'turn',
                kind TEXT NOT NULL,
                text TEXT NOT NULL,
                evidence TEXT NOT NULL,
                terms TEXT NOT NULL,
                slot TEXT NOT NULL,
                due_on TEXT NOT NULL,
                trust TEXT NOT NULL,
                r0 REAL NOT NULL,
                validation REAL NOT NULL,
                state TEXT NOT NULL,
                superseded_by INTEGER,
                created_at TEXT NOT NULL,
                used_at TEXT,
                validated_at TEXT
            )
            """,
            """
            CREATE TABLE memory_codes (
                memory_id INTEGER PRIMARY KEY REFERENCES memories (memory_id),
                embedder TEXT NOT NULL,
                code BLOB NOT NULL
            )
            """,
            """
            CREATE TABLE memory_vectors (
                memory_id INTEGER PRIMARY KEY REFERENCES memories (memory_id),
                vector BLOB NOT NULL
            )
            """,
            "CREATE TABLE memory_pauses (since TEXT NOT NULL)",
            "CREATE VIRTUAL TABLE memories_fts USING fts5 (terms, tokenize = 'ascii')",
            "CREATE VIRTUAL TABLE memories_fts_terms USING fts5vocab (memories_fts, row)",
            "CREATE INDEX memories_by_turn ON memories (turn_id)",
            "CREATE INDEX memories_by_conversation ON memories (conversation_id, memory_id)",
            "CREATE INDEX memories_by_slot ON memories (slot) WHERE state = 'active' AND slot <> ''",
            "CREATE INDEX memories_by_state ON memories (state, kind)",
            "CREATE INDEX memories_by_successor ON memories (superseded_by) WHERE superseded_by IS NOT NULL",
            "CREATE INDEX memories_due ON memories (due_on) WHERE state = 'active' AND due_on <> ''",
        ],
    )


@MIGRATIONS()
def m014_what_turns_recalled(database: MigrationDatabase) -> None:
    # The line as it was read: a prompt that is built anew has to be the same after a memory was edited.
    _execute(
        database,
        [
            """
            CREATE TABLE recalled (
                turn_id TEXT NOT NULL REFERENCES turns (turn_id),
                position INTEGER NOT NULL,
                memory_id INTEGER NOT NULL REFERENCES memories (memory_id),
                line TEXT NOT NULL,
                PRIMARY KEY (turn_id, position)
            )
            """,
            "CREATE INDEX recalled_by_memory ON recalled (memory_id)",
        ],
    )


@MIGRATIONS()
def m015_epochs_keep_a_running_memory(database: MigrationDatabase) -> None:
    # What stands for the turns that an epoch does not read, line by line: each names its turn, so that forgetting a
    # turn finds the epochs whose head holds its words.
    _execute(
        database,
        [
            """
            CREATE TABLE running_memory_lines (
                epoch_id TEXT NOT NULL REFERENCES epochs (epoch_id),
                position INTEGER NOT NULL,
                turn_id TEXT NOT NULL REFERENCES turns (turn_id),
                kind TEXT NOT NULL,
                text TEXT NOT NULL,
                is_pinned INTEGER NOT NULL,
                slot TEXT NOT NULL,
                due_on TEXT NOT NULL,
                PRIMARY KEY (epoch_id, position)
            )
            """,
            "CREATE INDEX running_memory_by_turn ON running_memory_lines (turn_id)",
        ],
    )


@MIGRATIONS()
def m016_what_is_being_forgotten_is_on_record(database: MigrationDatabase) -> None:
    # Steps are named by hashes and names of files, never by what is to be forgotten: a process that is killed between
    # them has forgotten the text already, and the next one finishes.
    _execute(
        database,
        [
            """
            CREATE TABLE forgetting (
                step_id INTEGER PRIMARY KEY,
                kind TEXT NOT NULL,
                name TEXT NOT NULL,
                UNIQUE (kind, name)
            )
            """,
        ],
    )


@MIGRATIONS()
def m017_suggestions_and_the_first_day(database: MigrationDatabase) -> None:
    # They name what they are about and repeat none of its words, so that what is forgotten there is gone here. No
    # foreign key: what they are about may be removed at any time. How the interview of the first day stands is one row,
    # or none before it was offered.
    _execute(
        database,
        [
            """
            CREATE TABLE suggestions (
                suggestion_id INTEGER PRIMARY KEY AUTOINCREMENT,
                kind TEXT NOT NULL,
                key TEXT NOT NULL,
                memory_id INTEGER,
                event_id INTEGER,
                turn_id TEXT,
                facts TEXT NOT NULL,
                state TEXT NOT NULL,
                made_at TEXT NOT NULL,
                answered_at TEXT,
                after_turn_id TEXT,
                is_counted INTEGER NOT NULL DEFAULT 1
            )
            """,
            "CREATE UNIQUE INDEX suggestions_open ON suggestions (state) WHERE state = 'offered'",
            "CREATE TABLE suggestions_off (kind TEXT PRIMARY KEY NOT NULL)",
            "CREATE TABLE interviews (state TEXT NOT NULL, since TEXT NOT NULL)",
            "CREATE INDEX turns_by_time ON turns (created_at)",
            "CREATE INDEX memories_waiting ON memories (kind, terms) WHERE state = 'pending'",
        ],
    )
