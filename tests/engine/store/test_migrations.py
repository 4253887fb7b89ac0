"""Every older schema comes up to today's, and a step that is killed or fails leaves the old schema or the new one."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database as MigrationDatabase
from sqlite_utils import Migrations

from engine.signals.keeping import KeptSignals
from engine.store import Store, migrations

ROOT = Path(__file__).parents[3]
STEPS = sorted(migrations.known())

KILLED_AT_EVERY_STATEMENT = """
import os, signal, sqlite3, sys
from engine.store import migrations

def killed_at(number, path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    left = number
    def count(statement):
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    connection.set_trace_callback(count)
    migrations.apply(connection)
    os._exit(0)

for number in range(1, 1000):
    child = os.fork()
    if child == 0:
        killed_at(number, os.path.join(sys.argv[1], f"{number:03}.db"))
    if os.waitpid(child, 0)[1] == 0:
        break
"""


def schema(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return [tuple(row) for row in connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name")]


def schema_with(steps: frozenset[str]) -> list[tuple[str, str]]:
    with closing(at_step(":memory:", len(steps))) as connection:
        assert migrations.applied(connection) == steps
        return schema(connection)


def at_step(path: Path | str, count: int) -> sqlite3.Connection:
    """A database that has had the first `count` steps."""
    connection = sqlite3.connect(path, isolation_level=None)
    following = STEPS[count] if count < len(STEPS) else None
    migrations.MIGRATIONS.apply(MigrationDatabase(connection), stop_before=following)
    return connection


def schema_of(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return schema(connection)


def test_steps_are_numbered_in_the_order_in_which_they_run():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrations.apply(connection)
        names = [name for (name,) in connection.execute("SELECT name FROM _sqlite_migrations ORDER BY id")]
    assert names == STEPS
    assert [name[:5] for name in names] == [f"m{number:03}_" for number in range(1, len(STEPS) + 1)]


@pytest.mark.parametrize("count", range(len(STEPS) + 1))
def test_J3_every_older_schema_comes_up_to_todays(tmp_path, count):
    path = tmp_path / "macaron.db"
    at_step(path, count).close()
    with Store.open(path) as store:
        assert store.integrity() == "ok"
    assert schema_of(path) == schema_with(frozenset(STEPS))


def test_messages_of_an_older_schema_are_kept(tmp_path):
    path = tmp_path / "macaron.db"
    with closing(at_step(path, 1)) as connection:
        connection.execute("INSERT INTO conversations VALUES ('c-1', 'Tea', 'starter', '2026', '2026', NULL)")
    with Store.open(path) as store:
        assert [conversation.title for conversation in store.conversations()] == ["Tea"]


@pytest.mark.parametrize("count", range(3, len(STEPS) + 1))
def test_J3_turns_of_every_older_schema_that_could_be_searched_come_back_whole(tmp_path, count):
    path = tmp_path / "macaron.db"
    with closing(at_step(path, count)) as connection:
        for statement in (
            "INSERT INTO conversations VALUES ('c-1', 'Tea', 'starter', '2026', '2026', NULL)",
            "INSERT INTO turns (turn_id, conversation_id, state, created_at) VALUES ('t-1', 'c-1', 'answered', '2026')",
            "UPDATE conversations SET leaf_turn_id = 't-1'",
            "INSERT INTO messages VALUES (1, 't-1', 'user', '拿铁?', 'typed', '2026')",
            "INSERT INTO messages VALUES (2, 't-1', 'assistant', 'Latte.', NULL, '2026')",
            "INSERT INTO messages_fts (rowid, terms) VALUES (1, '拿铁 铁'), (2, 'latte')",
        ):
            connection.execute(statement)
    with Store.open(path) as store:
        (turn,) = store.tree("c-1")
        assert (turn.user_text, turn.answer_text, turn.attachments, turn.rating) == ("拿铁?", "Latte.", (), 0)
        assert [hit.turn_id for hit in store.search("拿铁")] == ["t-1"]
        assert store.integrity() == "ok"
        assert store.repairs == ()


def test_thumbs_of_an_older_schema_count_on_and_those_from_a_file_wait_to_be_confirmed(tmp_path):
    path = tmp_path / "macaron.db"
    with closing(at_step(path, 6)) as connection:
        for statement in (
            "INSERT INTO conversations VALUES ('c-1', 'Tea', 'starter', '2026', '2026', NULL)",
            "INSERT INTO turns (turn_id, conversation_id, state, created_at) VALUES ('t-1', 'c-1', 'answered', '2026')",
            "INSERT INTO messages VALUES (1, 't-1', 'user', 'Tea?', 'typed', '2026')",
            "INSERT INTO signals VALUES (1, 't-1', 'thumb', -1, 'imported', '2026')",
            "INSERT INTO signals VALUES (2, 't-1', 'thumb', 1, 'user', '2026')",
        ):
            connection.execute(statement)
    with Store.open(path) as store:
        assert store.turn("t-1").rating == 1
        kept = KeptSignals(store.database).page()
        assert [(signal.value, signal.is_tainted) for signal in kept] == [(1, False), (-1, True)]


def test_J3_a_step_that_fails_leaves_the_schema_before_it(tmp_path):
    failing = Migrations("macaron")

    with closing(sqlite3.connect(tmp_path / "macaron.db", isolation_level=None)) as connection:
        for step in migrations.MIGRATIONS.pending(MigrationDatabase(connection)):
            failing(name=step.name)(step.fn)

        @failing()
        def m999_fails_halfway(database):
            database.conn.execute("CREATE TABLE half (id TEXT)")
            database.conn.execute("DROP TABLE traces")
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            migrations.apply(connection, failing)
        assert schema(connection) == schema_with(frozenset(STEPS))
        assert migrations.applied(connection) == frozenset(STEPS)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
def test_J3_a_migration_killed_at_any_statement_leaves_a_whole_step_and_can_go_on(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED_AT_EVERY_STATEMENT, str(tmp_path)], cwd=ROOT, check=True)
    paths = sorted(tmp_path.glob("???.db"))
    steps_left = []
    for path in paths:
        with closing(sqlite3.connect(path)) as connection:
            tables = schema(connection)
            steps = migrations.applied(connection)
            assert tables == (schema_with(steps) if tables else [])
            steps_left.append(len(steps))
        with Store.open(path) as store:
            assert store.conversations() == ()
        assert schema_of(path) == schema_with(frozenset(STEPS))
    assert steps_left == sorted(steps_left)
    assert set(steps_left) == set(range(len(STEPS) + 1))
