"""The file survives kills, full disks, threads and newer versions, and is refused untouched when it is not ours."""

import errno
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import DatabaseDamaged, DatabaseTooNew, DiskFull, StoreProblem, UsageProblem
from engine.store import Store
from engine.store.attribution import attributed
from engine.store.database import Database
from engine.values import Answer
from tests.engine.store import keep_writing
from tests.engine.store.conftest import add_turn, bytes_below

ROOT = Path(__file__).parents[3]
posix_only = pytest.mark.skipif(os.name != "posix", reason="POSIX file modes and signals")


@pytest.fixture
def filled_path(database_path):
    """A closed database with thirty turns."""
    with Store.open(database_path) as store:
        turn = None
        for number in range(30):
            turn = add_turn(store, f"{number}: 拿铁咖啡 " + "words " * 200, turn)
    return database_path


def refused(path: Path, error_type: type[StoreProblem]) -> StoreProblem:
    """The error of opening `path`, once it is sure that nothing in its folder has changed."""
    before = bytes_below(path.parent)
    with pytest.raises(error_type) as caught:
        Store.open(path)
    assert bytes_below(path.parent) == before
    assert caught.value.hint
    return caught.value


def add_future_step(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE holograms (hologram_id TEXT)")
    connection.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('macaron', 'm999_holograms', '2099')"
    )


def test_a_turn_that_was_running_when_the_process_ended_is_interrupted_and_others_are_not(database_path):
    with Store.open(database_path) as store:
        answered = add_turn(store, "1")
        running = store.open_turn(
            "2", conversation_id=answered.conversation_id, parent_turn_id=answered.turn_id, profile="starter"
        )
    with Store.open(database_path) as store:
        assert [turn.state for turn in store.path(running.turn_id)] == ["answered", "interrupted"]
        assert store.turn(running.turn_id).user_text == "2"
        with pytest.raises(ValueError, match="is interrupted, not running"):
            store.close_turn(Answer(running.turn_id, "answered", "late", None))


def test_J3_a_newer_database_is_refused_untouched(filled_path):
    with closing(sqlite3.connect(filled_path)) as connection, connection:
        add_future_step(connection)
    problem = refused(filled_path, DatabaseTooNew)
    assert "m999_holograms" in problem.problem


def test_J3_a_newer_database_is_refused_untouched_when_the_news_are_still_in_its_log(filled_path, tmp_path):
    copy = tmp_path / "copy" / "macaron.db"
    copy.parent.mkdir()
    with closing(sqlite3.connect(filled_path)) as connection:
        with connection:
            add_future_step(connection)
        for suffix in ("", "-wal"):
            shutil.copy(f"{filled_path}{suffix}", f"{copy}{suffix}")
    before = bytes_below(copy.parent)
    with pytest.raises(DatabaseTooNew):
        Store.open(copy)
    after = bytes_below(copy.parent)
    after.pop("macaron.db-shm", None)  # SQLite's index of the log, which holds nothing of its own
    assert after == before


@pytest.mark.parametrize(
    "content",
    [b"hello", os.urandom(100_000), b"SQLite format 3\0" + bytes(5000)],
    ids=["text", "random bytes", "a header and nothing"],
)
def test_a_file_that_is_no_database_is_refused_untouched(tmp_path, content):
    path = tmp_path / "macaron.db"
    path.write_bytes(content)
    refused(path, DatabaseDamaged)


@pytest.mark.parametrize("kept", [100, 3000, 4096, 40_000, -1])
def test_a_truncated_database_is_refused_untouched(filled_path, kept):
    filled_path.write_bytes(filled_path.read_bytes()[:kept])
    refused(filled_path, DatabaseDamaged)


def test_J4_a_database_with_an_overwritten_page_of_messages_is_refused_untouched(filled_path):
    with closing(sqlite3.connect(filled_path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchone()
    content = bytearray(filled_path.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = os.urandom(4096)
    filled_path.write_bytes(content)
    assert str(filled_path) in refused(filled_path, DatabaseDamaged).problem


def test_the_database_of_another_program_is_refused_untouched(tmp_path):
    path = tmp_path / "macaron.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
    assert "another program" in refused(path, StoreProblem).problem


def test_a_folder_in_place_of_the_file_is_refused(tmp_path):
    with pytest.raises(StoreProblem) as caught:
        Store.open(tmp_path)
    assert "--home" in caught.value.hint


def test_an_empty_file_from_an_interrupted_first_start_becomes_a_database(tmp_path):
    path = tmp_path / "macaron.db"
    path.touch()
    with Store.open(path) as store:
        assert store.integrity() == "ok"


def test_a_first_start_interrupted_before_there_was_a_log_is_undone_and_made_again(filled_path, tmp_path):
    copy = tmp_path / "copy" / "macaron.db"
    copy.parent.mkdir()
    with closing(sqlite3.connect(filled_path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA cache_size = 1")  # so that half of the change is already in the file
        connection.execute("BEGIN")
        connection.execute("UPDATE messages SET text = 'half' || text")
        for suffix in ("", "-journal"):
            shutil.copy(f"{filled_path}{suffix}", f"{copy}{suffix}")
        connection.execute("ROLLBACK")
    assert copy.read_bytes() != filled_path.read_bytes()
    with Store.open(copy) as store, Store.open(filled_path) as original:
        leaf_turn_id = original.conversations()[0].leaf_turn_id
        assert store.path(leaf_turn_id) == original.path(leaf_turn_id)
        assert store.integrity() == "ok"


@posix_only
def test_only_the_owner_can_read_what_is_stored(database_path, tmp_path):
    umask = os.umask(0)
    try:
        with Store.open(database_path) as store:
            add_turn(store, "private")
            store.backup(database_path.with_name("backup.db"))
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in database_path.parent.iterdir()}
    finally:
        os.umask(umask)
    names = ["backup.db", "macaron.db", "macaron.db-shm", "macaron.db-wal"]
    assert modes == dict.fromkeys(names, 0o600)
    assert stat.S_IMODE(database_path.parent.stat().st_mode) == 0o700


@posix_only
def test_a_file_that_others_could_read_is_closed_to_them(filled_path):
    filled_path.chmod(0o644)
    with Store.open(filled_path):
        assert stat.S_IMODE(filled_path.stat().st_mode) == 0o600


def test_a_closed_store_leaves_one_file_and_says_that_it_is_closed(database_path):
    store = Store.open(database_path)
    turn = add_turn(store, "Hi")
    store.close()
    store.close()
    assert [path.name for path in database_path.parent.iterdir()] == ["macaron.db"]
    with pytest.raises(StoreProblem):
        store.turn(turn.turn_id)
    with pytest.raises(StoreProblem):
        store.select(turn.turn_id)


def test_J1_a_full_disk_is_reported_and_costs_no_earlier_turn(database_path):
    database = Database.open(database_path)
    with closing(Store(database)) as store:
        earlier = add_turn(store, "earlier 咖啡")
        running = store.open_turn("running", conversation_id=None, parent_turn_id=None, profile="starter")
        with database.transaction() as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages + 1}")

        large = "words " * 20_000
        with pytest.raises(DiskFull) as caught:
            store.open_turn(large, conversation_id=None, parent_turn_id=None, profile="starter")
        with pytest.raises(DiskFull):
            store.close_turn(Answer(running.turn_id, "answered", large, None))

        assert "Free some space" in caught.value.hint
        assert store.turn(earlier.turn_id) == earlier
        assert store.turn(running.turn_id) == running
        assert store.integrity() == "ok"
        with database.transaction() as connection:
            connection.execute("PRAGMA max_page_count = 1000000")
        store.close_turn(Answer(running.turn_id, "answered", large, None))
        assert store.turn(running.turn_id).answer_text == large


def sqlite_error(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("as SQLite says it")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("error", "error_type", "words"),
    [
        pytest.param(sqlite_error(sqlite3.SQLITE_FULL), DiskFull, "is full", id="SQLite finds the disk full"),
        pytest.param(OSError(errno.ENOSPC, "No space left"), DiskFull, "is full", id="the system finds the disk full"),
        pytest.param(sqlite_error(sqlite3.SQLITE_IOERR_FSYNC), StoreProblem, "failed", id="the disk fails"),
        pytest.param(sqlite_error(sqlite3.SQLITE_CORRUPT_VTAB), DatabaseDamaged, "damaged", id="damage in an index"),
        pytest.param(sqlite_error(sqlite3.SQLITE_BUSY_SNAPSHOT), StoreProblem, "Another program", id="another writer"),
        pytest.param(sqlite_error(sqlite3.SQLITE_READONLY), StoreProblem, "cannot be used", id="read-only"),
        pytest.param(PermissionError(errno.EACCES, "Permission denied"), StoreProblem, "denied", id="no permission"),
        pytest.param(sqlite3.ProgrammingError("closed"), StoreProblem, "refused: closed", id="misuse"),
    ],
)
def test_an_error_from_below_becomes_one_of_ours_with_its_cause_and_what_to_do(error, error_type, words):
    with pytest.raises(StoreProblem, match=words) as caught, attributed(Path("macaron.db")):
        raise error
    assert type(caught.value) is error_type
    assert caught.value.__cause__ is error
    assert caught.value.hint


def test_J1_a_database_that_another_instance_is_writing_is_reported_as_in_use(database_path, monkeypatch):
    monkeypatch.setattr("engine.store.database.BUSY_TIMEOUT_MS", 50)
    with Store.open(database_path) as store, closing(sqlite3.connect(database_path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreProblem, match="Another program is using"):
            add_turn(store, "Hi")


def test_J2_a_backup_holds_everything_and_is_one_file(filled_path, tmp_path):
    target = tmp_path / "backups.db"
    with Store.open(filled_path) as store:
        store.backup(target)
        conversations = store.conversations()
        path = store.path(conversations[0].leaf_turn_id)
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["backups.db"]
    with Store.open(target) as restored:
        assert restored.conversations() == conversations
        assert restored.path(conversations[0].leaf_turn_id) == path
        assert restored.integrity() == "ok"


def test_a_backup_never_replaces_a_file(store, tmp_path, database_path):
    target = tmp_path / "precious.txt"
    target.write_text("precious")
    for existing in (target, database_path):
        with pytest.raises(UsageProblem):
            store.backup(existing)
    assert target.read_text() == "precious"


def test_a_backup_that_fails_leaves_nothing(store, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreProblem):
        store.backup(tmp_path / "file" / "backup.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "home"]


def test_integrity_names_a_reference_to_a_missing_row(filled_path):
    with closing(sqlite3.connect(filled_path)) as connection, connection:
        connection.execute("INSERT INTO summaries (turn_id, expert, text, created_at) VALUES ('t-gone', 'L0', '', '')")
    with Store.open(filled_path) as store:
        assert store.integrity() == "summaries names a missing row"


def test_many_threads_read_whole_turns_while_several_write(store):
    writing = threading.Event()
    writing.set()

    def write(name: str) -> int:
        turn = None
        for number in range(25):
            turn = add_turn(store, f"{name} {number}", turn, answer=f"answer to {name} {number}")
        return len(store.path(turn.turn_id))

    def read() -> int:
        reads = 0
        while writing.is_set() or not reads:
            for conversation in store.conversations():
                path = store.path(conversation.leaf_turn_id)
                for earlier in path[:-1]:
                    assert earlier.answer_text == f"answer to {earlier.user_text}"
                assert len(path) <= 25
            assert all("answer" in hit.snippet for hit in store.search("answer", 10))
            reads += 1
        return reads

    with ThreadPoolExecutor(7) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        writers = [pool.submit(write, name) for name in ("甲", "b", "c")]
        lengths = [writer.result() for writer in writers]
        writing.clear()
        reads = [reader.result() for reader in readers]

    assert lengths == [25, 25, 25]
    assert min(reads) >= 1
    assert store.integrity() == "ok"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files in /proc")
def test_threads_that_ended_hold_no_files_open(store, say):
    turn = say("Hi")
    for _ in range(30):
        thread = threading.Thread(target=store.turn, args=[turn.turn_id])
        thread.start()
        thread.join()
    links = [os.readlink(entry) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    assert 1 <= sum(link.endswith("macaron.db") for link in links) <= 4


@posix_only
def test_J1_nothing_committed_is_lost_when_the_writer_is_killed_during_a_thousand_random_writes(database_path):
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    states: dict[str, str] = {}
    ratings: dict[str, set[int]] = {}
    writes = kills = 0
    while writes < 1000 or kills < 10:
        said = write_and_kill(database_path, seed + kills, delay_s=moments.uniform(0, 0.8))
        kills += 1
        writes += len(said)
        for turn_id, what, value in map(str.split, said):
            if what == "state":
                states[turn_id] = value
            elif what == "rating":
                ratings.setdefault(turn_id, set()).add(int(value))
        with Store.open(database_path) as store:
            assert store.integrity() == "ok", f"seed {seed}, kill {kills}"
            for turn_id, state in states.items():
                turn = store.turn(turn_id)
                # A turn whose end was not reported may still have been committed: the kill fell in between.
                assert turn.state in ({"answered"} if state == "answered" else {"answered", "interrupted"})
                assert turn.user_text.startswith("第 ")
                assert turn.attachments in ((), (keep_writing.FILE,))
                if turn.state == "answered":
                    assert turn.answer_text == keep_writing.ANSWER
            assert all(store.turn(turn_id).rating in (-1, 1) for turn_id in ratings)
            add_turn(store, "The next question works.")
    assert ratings, f"seed {seed}"


def write_and_kill(database_path: Path, seed: int, delay_s: float) -> list[str]:
    """The whole lines that the writer printed after its first."""
    command = [sys.executable, "-m", "tests.engine.store.keep_writing", str(database_path), str(seed)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        time.sleep(delay_s)
        child.kill()
        printed = child.stdout.read()
    return printed[: printed.rfind("\n") + 1].splitlines()
