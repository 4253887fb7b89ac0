"""Save what can still be read of a damaged database into a new one, row by row. The damaged file is not changed.

Which rows there should be is asked of the indexes too, as they may know of rows that a damaged page hides. What became
of references to lost rows is the affair of `mended_references`.
"""

import itertools
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import engine.store.index as index
import engine.store.mended_references as mended_references
import engine.store.migrations as migrations
from engine.errors import StoreProblem, UnknownName, UsageProblem
from engine.store.attribution import attributed
from engine.store.database import Database, create_private

TABLES: Final = (
    "conversations",
    "turns",
    "messages",
    "attachments",
    "signals",
    "summaries",
    "epochs",
    "segments",
    "traces",
    "imports",
    "repairs",
    "adapters",
    "adapter_sources",
    "evaluations",
    "promotions",
    "canaries",
    "canary_turns",
    "jobs",
    "job_runs",
    "notes",
    "events",
    "reminders_told",
    "calls",
    "permissions",
    "conversation_modes",
    "tools",
    "memories",
    "memory_codes",
    "memory_vectors",
    "memory_pauses",
    "recalled",
    "running_memory_lines",
    "suggestions",
    "suggestions_off",
    "interviews",
    "forgetting",
)
_SIDE_FILES: Final = ("", "-wal", "-shm", "-journal", ".source", ".source-wal", ".source-shm")
_HEADER_BYTES: Final = 100
_LONGEST_BYTES: Final = 1 << 40
_GAP_ROWS: Final = 1_000_000
"""How many numbers to try between two rows that can be read, where no index knows which there are."""
_TYPES: Final[dict[str, tuple[type, ...]]] = {"TEXT": (str,), "INTEGER": (int,), "REAL": (int, float), "BLOB": (bytes,)}


@dataclass(frozen=True, slots=True)
class TableReport:
    """Rows of one table: those that were saved, and those known to be there that could not be."""

    table: str
    saved: int
    lost: int
    problem: str = ""
    """Why not all can be read, in SQLite's words."""


@dataclass(frozen=True, slots=True)
class SalvageReport:
    source: Path
    target: Path
    tables: tuple[TableReport, ...]
    notes: tuple[str, ...] = ()
    """What was put in place of something that is lost, as sentences."""

    @property
    def is_complete(self) -> bool:
        return not self.notes and all(not table.lost and not table.problem for table in self.tables)


def salvage(source: Path, target: Path) -> SalvageReport:
    """Read `source` and write the new database `target`, which appears only when it is complete.

    No store may have `source` open: what is written meanwhile would be missed.

    Raises: UsageProblem when `target` exists, UnknownName when `source` does not; DatabaseDamaged when nothing of it
    can be read; DiskFull, StoreProblem.
    """
    if not source.is_file():
        raise UnknownName(f"There is no file {source}.", "Name the damaged database.")
    if target.exists():
        raise UsageProblem(f"{target} already exists.", "Choose a name that is not in use.")
    partial = target.with_name(target.name + ".part")
    with attributed(target):
        _remove(partial)
        try:
            Database.open(partial).close()  # today's schema, and readable by its owner only
            readable = _of_full_length(source, partial.with_name(partial.name + ".source"))
            with attributed(source), closing(_open_untouched(readable)) as damaged:
                tables, notes = _save_all(damaged, source, partial)
            os.replace(partial, target)
        finally:
            _remove(partial)
    return SalvageReport(source, target, tables, notes)


def _remove(partial: Path) -> None:
    for suffix in _SIDE_FILES:
        partial.with_name(partial.name + suffix).unlink(missing_ok=True)


def _of_full_length(source: Path, copy: Path) -> Path:
    """SQLite reads nothing of a file that ends too early, so of such a one a copy is made, with zeros at its end."""
    with source.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    page_bytes = int.from_bytes(header[16:18], "big")
    full_bytes = (1 << 16 if page_bytes == 1 else page_bytes) * int.from_bytes(header[28:32], "big")
    size_bytes = source.stat().st_size
    if not _HEADER_BYTES <= size_bytes < full_bytes <= _LONGEST_BYTES:
        return source
    for suffix in ("", "-wal"):  # what is in the log belongs to the file
        if source.with_name(source.name + suffix).exists():
            create_private(copy.with_name(copy.name + suffix))
            shutil.copyfile(source.with_name(source.name + suffix), copy.with_name(copy.name + suffix))
    os.truncate(copy, full_bytes)
    return copy


def _open_untouched(source: Path) -> sqlite3.Connection:
    """Reading through a log that is there changes neither; without one nothing may be made beside the source."""
    mode = "ro" if source.with_name(source.name + "-wal").exists() else "ro&immutable=1"
    connection = sqlite3.connect(f"{source.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)
    connection.text_factory = lambda content: content.decode(errors="replace")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _save_all(
    damaged: sqlite3.Connection, source: Path, partial: Path
) -> tuple[tuple[TableReport, ...], tuple[str, ...]]:
    known = {name for (name,) in damaged.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not known & set(TABLES) or migrations.MIGRATIONS.migrations_table not in known:
        raise StoreProblem(f"{source} is not a database of this program.", "Name the damaged database.")
    with attributed(partial), closing(sqlite3.connect(partial, isolation_level=None)) as new:
        new.row_factory = sqlite3.Row
        new.execute("PRAGMA journal_mode = DELETE")  # one file, no side files
        new.execute("PRAGMA foreign_keys = OFF")
        new.execute("BEGIN")
        reports = [_save(damaged, new, table) for table in TABLES if table in known]
        notes = mended_references.fill(new)
        dropped = mended_references.drop_orphans(new)
        new.execute("COMMIT")
        index.rebuild(new)
    return tuple(_less(report, dropped.get(report.table, 0)) for report in reports), notes


def _less(report: TableReport, dropped: int) -> TableReport:
    return replace(report, saved=report.saved - dropped, lost=report.lost + dropped)


def _save(damaged: sqlite3.Connection, new: sqlite3.Connection, table: str) -> TableReport:
    columns = _common_columns(damaged, new, table)
    marks = ", ".join("?" for _ in columns)
    rows = _Rows(damaged, table, ", ".join(columns))
    saved, unfit = 0, 0
    for row in rows:
        try:
            if not _fits(row, columns.values()):
                raise sqlite3.IntegrityError(f"a row of {table} holds values of other kinds")
            new.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", row)
            saved += 1
        except sqlite3.IntegrityError as error:  # nonsense where a page was overwritten
            unfit += 1
            rows.problem = rows.problem or str(error)
    return TableReport(table, saved, rows.lost + unfit, rows.problem)


def _common_columns(damaged: sqlite3.Connection, new: sqlite3.Connection, table: str) -> dict[str, str]:
    """Name and type of the columns of today's schema that the damaged file has."""
    had, has = (
        dict(connection.execute(f"SELECT name, type FROM pragma_table_info('{table}')").fetchall())
        for connection in (damaged, new)
    )
    return {name: kind for name, kind in has.items() if name in had}


def _fits(row: tuple[object, ...], kinds: Iterable[str]) -> bool:
    return all(value is None or isinstance(value, _TYPES[kind]) for value, kind in zip(row, kinds, strict=True))


class _Rows:
    """The rows of one table that can be read. `lost` counts those that are known to be there but cannot."""

    def __init__(self, damaged: sqlite3.Connection, table: str, columns: str) -> None:
        self._damaged = damaged
        self._table = table
        self._select = f"SELECT rowid, {columns} FROM {table} NOT INDEXED"
        self.lost = 0
        self.problem = ""

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """From the beginning as far as it goes, from the end as far as it goes, then one by one."""
        read: set[int] = set()
        for order in ("", "DESC"):
            for rowid, *row in self._scan(f"{self._select} ORDER BY rowid {order}"):
                if rowid in read:
                    break
                read.add(rowid)
                yield tuple(row)
            if not self.problem:
                break
        for rowid in sorted(self._hidden(read)):
            try:
                found = self._damaged.execute(f"{self._select} WHERE rowid = ?", [rowid]).fetchone()
            except sqlite3.DatabaseError:
                self.lost += 1
                continue
            if found is not None:
                yield tuple(found[1:])

    def _hidden(self, read: set[int]) -> set[int]:
        """Numbers of rows that were not read: those the indexes know, or else all in the gap that damage has left."""
        known = {rowid for name in self._indexes() for (rowid,) in self._scan(self._rowids_in(name))}
        if known or not self.problem:
            return known - read
        steps = sorted(read)
        gaps = ((low + 1, min(high, low + _GAP_ROWS)) for low, high in itertools.pairwise(steps))
        return {rowid for low, high in gaps for rowid in range(low, high)}

    def _indexes(self) -> list[str]:
        """Those that name every row."""
        found = self._damaged.execute(f"SELECT name FROM pragma_index_list('{self._table}') WHERE NOT partial")
        return [name for (name,) in found]

    def _rowids_in(self, index_name: str) -> str:
        return f'SELECT rowid FROM {self._table} INDEXED BY "{index_name}"'

    def _scan(self, statement: str) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._damaged.execute(statement)
        except sqlite3.DatabaseError as error:
            self.problem = self.problem or str(error)
