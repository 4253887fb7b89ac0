"""One SQLite file: checked before it is touched, one writer, one reader per thread.

Knows no table but the record of migrations; what is damaged, and whether it matters, is said by `damage`. The file is
opened by SQLite alone: closing any other handle to it would drop the locks that POSIX gives to the whole process.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import engine.store.damage as damage
import engine.store.migrations as migrations
from engine.errors import DatabaseDamaged, DatabaseTooNew, StoreProblem, UsageProblem
from engine.store.attribution import attributed, damaged

BUSY_TIMEOUT_MS = 5000
_IN_MEMORY = ":memory:"
ALONE = "ro&immutable=1"
"""How to open a file that has no side files, so that none are made."""


class Database:
    """Transactions on the writer from any thread, one at a time; reads beside them without waiting."""

    def __init__(
        self, path: Path, writer: sqlite3.Connection, suspicion: str = "", *, is_in_memory: bool = False
    ) -> None:
        self.path = path
        self._is_in_memory = is_in_memory
        """There is no other connection that could see it, so reads take their turn with writes."""
        self.suspicion = suspicion
        """What was wrong at the start beside what was said, such as the search index."""
        self.is_given_up = False
        """Writes have stopped, and mending has been found to be no use."""
        self._damage: DatabaseDamaged | None = None
        self._writer = writer
        self._writing = threading.RLock()
        self._readers: dict[threading.Thread, sqlite3.Connection] = {}
        self._registering = threading.Lock()
        self._is_closed = False

    @classmethod
    def open(cls, path: Path) -> "Database":
        """Check the file, then bring its schema up to date. A file that is refused is left as it was.

        Raises: DatabaseTooNew, DatabaseDamaged, DiskFull, StoreProblem.
        """
        with attributed(path):
            create_private(path)
            suspicion = _inspect(path)
            _make_private(path)
            writer = _connect(path, "rw")
            try:
                _prepare_writer(writer, path)
                migrations.apply(writer)
            except BaseException:
                writer.close()
                raise
        return cls(path, writer, suspicion)

    @classmethod
    def in_memory(cls) -> "Database":
        """A database that is in no file, and gone when it is closed."""
        writer = sqlite3.connect(_IN_MEMORY, isolation_level=None, check_same_thread=False)
        _prepare(writer)
        writer.execute("PRAGMA foreign_keys = ON")
        migrations.apply(writer)
        return cls(Path(_IN_MEMORY), writer, is_in_memory=True)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The writer, in a transaction that commits at the end or leaves nothing behind.

        Once damage has been met, here or in a read, nothing is written any more: DatabaseDamaged.
        """
        with self._writing, self._watched():
            if self._damage is not None:
                raise self._damage
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                # SQLite ends the transaction itself after some errors, a full disk among them.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's read-only connection; it sees all that is committed."""
        if self._is_in_memory:
            with self._writing, self._watched():
                yield self._writer
            return
        with self._watched():
            yield self._reader()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """As `reading`, for several statements that must see the same moment."""
        with self.reading() as connection:
            if connection.in_transaction:  # of this thread, in a database that is in memory
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def mending(self) -> Iterator[sqlite3.Connection]:
        """The writer outside any transaction, also where writes have stopped; they go on when this ends well."""
        with self._writing, attributed(self.path):
            yield self._writer
            self._damage = None

    def scrub(self) -> bool:
        """Write the whole file anew, so that no page holds what was deleted, and empty the log.

        False where a reader kept the log from being emptied; then try again. Takes as long as reading and writing
        everything, and as much memory as the file is large.

        Raises: DiskFull, DatabaseDamaged, StoreProblem; the file is then as it was.
        """
        with self._writing, self._watched():
            if self._damage is not None:
                raise self._damage
            self._writer.execute("VACUUM")
            (busy, _, _) = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy

    def damaged(self, detail: str) -> DatabaseDamaged:
        """Stop writes for good; the error is to be raised."""
        self._damage, self.is_given_up = damaged(self.path, detail), True
        return self._damage

    def backup(self, target: Path) -> None:
        """Copy the database to the new file `target`, which appears only when it is complete.

        Raises: UsageProblem when `target` exists; DiskFull, StoreProblem.
        """
        if target.exists():
            raise UsageProblem(f"{target} already exists.", "Choose a name that is not in use.")
        partial = target.with_name(target.name + ".part")
        with attributed(target):
            partial.unlink(missing_ok=True)
            try:
                create_private(partial)
                with closing(sqlite3.connect(partial)) as copy:
                    self._reader().backup(copy)
                    copy.execute("PRAGMA journal_mode = DELETE")  # one file, no side files
                os.replace(partial, target)
            finally:
                partial.unlink(missing_ok=True)

    def close(self) -> None:
        """Close everything, the writer last, so that it can fold the log into the file. Closing twice is fine."""
        with self._writing, attributed(self.path):
            with self._registering:
                self._is_closed = True
                for reader in self._readers.values():
                    reader.close()
                self._readers.clear()
            self._writer.close()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            with attributed(self.path):
                yield
        except DatabaseDamaged as error:
            self._damage = error
            raise

    def _reader(self) -> sqlite3.Connection:
        thread = threading.current_thread()
        with self._registering:
            if self._is_closed:
                raise StoreProblem(f"The database {self.path} is closed.", "Start the program again.")
            if thread not in self._readers:
                self._close_readers_of_ended_threads()
                self._readers[thread] = _connect(self.path, "ro")
            return self._readers[thread]

    def _close_readers_of_ended_threads(self) -> None:
        for thread in [thread for thread in self._readers if not thread.is_alive()]:
            self._readers.pop(thread).close()


def create_private(path: Path) -> None:
    """Make an empty file that only its owner may read, unless there is one. SQLite gives its side files equal modes."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        with suppress(FileExistsError):  # another process was faster
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    if not path.is_file():
        raise StoreProblem(f"{path} is not a file.", "Choose another folder with --home.")


def _make_private(path: Path) -> None:
    if os.name == "posix" and path.stat().st_mode & 0o077:
        path.chmod(0o600)


def _inspect(path: Path) -> str:
    """Refuse a file that is damaged, another program's or newer than this program, without changing a byte of it.

    What is wrong beside what was said, or "".
    """
    mode = _mode_that_leaves_it_alone(path)
    with closing(_connect(path, mode)) as connection:
        had = migrations.applied(connection)
        if had is None:
            if migrations.are_ours([name for (name,) in connection.execute("SELECT name FROM sqlite_master")]):
                raise damaged(path, "its record of migrations is gone")
            raise StoreProblem(f"{path} is the database of another program.", "Choose another folder with --home.")
        if unknown := sorted(had - migrations.known()):
            raise DatabaseTooNew(
                f"{path} was written by a newer version of this program (it has {unknown[-1]}).",
                "Update the program; the database was left untouched.",
            )
        # SQLite reads a last page that is cut short as if it ended in zeros.
        if mode == ALONE and path.stat().st_size < _size_bytes(connection):
            raise damaged(path, "its end is missing")
        # A log that is still there tells of a process that did not end in order, or of one that still runs.
        is_whole_check_due = mode != ALONE or path.stat().st_size <= damage.SMALL_BYTES
        findings = damage.examine(connection) if is_whole_check_due else damage.sample(connection)
        if findings.content:
            raise damaged(path, findings.content)
        return findings.rest


def _mode_that_leaves_it_alone(path: Path) -> str:
    if path.with_name(path.name + "-wal").exists():
        return "ro"  # part of the content is in the log, which reading does not change
    if path.with_name(path.name + "-journal").exists():
        return "rw"  # an interrupted first start, which only a writer can undo
    return ALONE


def _size_bytes(connection: sqlite3.Connection) -> int:
    (pages,), (page_bytes,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(pages * page_bytes)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Statements commit one by one unless a transaction is begun."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_TIMEOUT_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
    )
    _prepare(connection)
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA temp_store = MEMORY")  # messages do not belong into the system's temporary files
    # Every page is checked cell by cell when it is first read, so also before it is written over.
    connection.execute("PRAGMA cell_size_check = ON")
    connection.row_factory = sqlite3.Row


def _prepare_writer(writer: sqlite3.Connection, path: Path) -> None:
    (journal_mode,) = writer.execute("PRAGMA journal_mode = WAL").fetchone()
    if journal_mode != "wal":
        raise StoreProblem(
            f"The file system of {path} does not support write-ahead logs.",
            "Choose a folder on a local disk with --home.",
        )
    writer.execute("PRAGMA synchronous = FULL")
    writer.execute("PRAGMA foreign_keys = ON")
