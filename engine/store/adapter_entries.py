"""The statements for the entries of the catalogue, and its rows as values.

Each function works on the connection it is given and leaves transactions to its caller.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Sequence
from typing import Final

from engine.adapters.records import AdapterKind, AdapterRecord, Evaluation, GateVerdict, Promotion, Source
from engine.errors import UnknownName, UsageProblem

PAGE: Final = 50
SHORT: Final = 12
"""Signs of a hash that people are shown."""
_SHORTEST_PREFIX: Final = 4
_HASH: Final = re.compile("[0-9a-f]{32}")
_PREFIX: Final = re.compile("[0-9a-f]{1,32}")
_MOST_ANCESTORS: Final = 100

_LINEAGE: Final = f"""
    WITH RECURSIVE line (content_hash, depth) AS (
        SELECT parent_hash, 1 FROM adapters WHERE content_hash = ?
        UNION
        SELECT parent_hash, depth + 1 FROM adapters JOIN line USING (content_hash)
        WHERE parent_hash <> '' AND depth < {_MOST_ANCESTORS}
    )
    SELECT adapters.* FROM line JOIN adapters USING (content_hash) GROUP BY adapter_id ORDER BY min(depth)
"""
_PROMOTIONS: Final = """
    SELECT kind, content_hash, previous_hash, reason, created_at FROM promotions
    WHERE promotion_id IN (
        SELECT promotion_id FROM promotions WHERE content_hash = ?
        UNION SELECT promotion_id FROM promotions WHERE previous_hash = ?
    )
    ORDER BY promotion_id DESC LIMIT ?
"""
_COLUMNS: Final = (
    "content_hash",
    "base_hash",
    "profile",
    "expert",
    "kind",
    "file",
    "size_bytes",
    "rank",
    "parent_hash",
    "recipe_hash",
    "data_hash",
    "note",
)
"""What whoever adds an adapter says of it; named alike in the table and in the record."""


def check(record: AdapterRecord) -> None:
    """Raises: UsageProblem for hashes and file names that are none."""
    for what, value in (("adapter", record.content_hash), ("base", record.base_hash)):
        if not _HASH.fullmatch(value):
            raise UsageProblem(f"`{value[:40]}` is no hash of the {what}.", "Take it from the file itself.")
    if record.parent_hash and not _HASH.fullmatch(record.parent_hash):
        raise UsageProblem(f"`{record.parent_hash[:40]}` is no hash of a parent.", "Leave it out if it is not known.")
    if not record.file or "/" in record.file or "\\" in record.file:
        raise UsageProblem(f"`{record.file[:80]}` is no plain name of a file.", "Name a file of the adapters' folder.")


def check_same(known: AdapterRecord, given: AdapterRecord) -> AdapterRecord:
    """The known one. Raises: UsageProblem when the same weights are here for something else, or were forgotten."""
    if known.is_forgotten:
        raise forgotten(known)
    if given.kind != "factory" and known.slot != given.slot:
        where = "" if known.base_hash == given.base_hash else ", on another base"
        raise UsageProblem(
            f"The same adapter is here already, for {known.expert} of the profile {known.profile}{where}.",
            f"Use it there, or remove it first: `macaron adapters remove {known.content_hash[:SHORT]}`.",
        )
    return known


def forgotten(record: AdapterRecord) -> UsageProblem:
    """The error that says so, for the caller to raise."""
    return UsageProblem(
        f"The adapter {record.content_hash[:SHORT]} was retired because it holds something you had forgotten.",
        "Train a new one; this one stays out of use.",
    )


def insert(connection: sqlite3.Connection, record: AdapterRecord, sources: Collection[Source], now: str) -> None:
    state = "factory" if record.kind == "factory" else "candidate"
    marks = ", ".join("?" for _ in _COLUMNS)
    added = connection.execute(
        f"INSERT INTO adapters ({', '.join(_COLUMNS)}, state, created_at) VALUES ({marks}, ?, ?)",
        [*(getattr(record, column) for column in _COLUMNS), state, now],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO adapter_sources (adapter_id, source_id, content_hash) VALUES (?, ?, ?)",
        [(added.lastrowid, source.source_id, source.content_hash) for source in sources],
    )


def delete(connection: sqlite3.Connection, number: int) -> None:
    """All that is known of an adapter but the log."""
    connection.execute(
        "DELETE FROM canary_turns WHERE canary_id IN (SELECT canary_id FROM canaries WHERE adapter_id = ?)", [number]
    )
    for table in ("canaries", "evaluations", "adapter_sources", "adapters"):
        connection.execute(f"DELETE FROM {table} WHERE adapter_id = ?", [number])


def find(connection: sqlite3.Connection, prefix: str) -> AdapterRecord:
    """By its hash or the beginning of it. Raises: UnknownName; UsageProblem when several begin so, or it is none."""
    wanted = prefix.strip().lower()
    if not _PREFIX.fullmatch(wanted) or len(wanted) < _SHORTEST_PREFIX:
        raise UsageProblem(
            f"`{prefix[:40]}` is no name of an adapter.",
            f"Give the first {_SHORTEST_PREFIX} or more of the signs that `macaron adapters list` shows.",
        )
    found = records(
        connection,
        # No digit of a hash comes after g.
        "SELECT * FROM adapters WHERE content_hash >= ? AND content_hash < ? ORDER BY content_hash LIMIT 6",
        [wanted, wanted + "g"],
    )
    if not found:
        raise _unknown(wanted)
    if len(found) > 1:
        some = ", ".join(record.content_hash[: len(wanted) + 8] for record in found[:5])
        raise UsageProblem(f"Several adapters begin with {wanted}.", f"Give more of it, such as {some}.")
    return found[0]


def known(connection: sqlite3.Connection, content_hash: str) -> AdapterRecord:
    """Raises: UnknownName."""
    record = optional(connection, content_hash)
    if record is None:
        raise _unknown(content_hash)
    return record


def optional(connection: sqlite3.Connection, content_hash: str) -> AdapterRecord | None:
    found = records(connection, "SELECT * FROM adapters WHERE content_hash = ?", [content_hash])
    return found[0] if found else None


def records(
    connection: sqlite3.Connection, statement: str, values: Sequence[str | int] = ()
) -> tuple[AdapterRecord, ...]:
    """What a statement that selects whole rows of `adapters` finds."""
    return tuple(map(_record_of, connection.execute(statement, values).fetchall()))


def lineage(connection: sqlite3.Connection, content_hash: str) -> tuple[AdapterRecord, ...]:
    return records(connection, _LINEAGE, [content_hash])


def sources(connection: sqlite3.Connection, number: int) -> tuple[Source, ...]:
    found = connection.execute(
        "SELECT source_id, content_hash FROM adapter_sources WHERE adapter_id = ? ORDER BY source_id", [number]
    )
    return tuple(Source(source_id, content_hash) for source_id, content_hash in found)


def insert_evaluation(connection: sqlite3.Connection, number: int, evaluation: Evaluation, now: str) -> None:
    connection.execute(
        """
        INSERT INTO evaluations (adapter_id, suite, items, figures, verdict, reasons, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """,
        [
            number,
            evaluation.suite,
            evaluation.items,
            json.dumps(dict(evaluation.figures)),
            evaluation.verdict,
            json.dumps(evaluation.reasons, ensure_ascii=False),
            now,
        ],
    )


def evaluations(connection: sqlite3.Connection, number: int) -> tuple[Evaluation, ...]:
    """The newest first."""
    found = connection.execute("SELECT * FROM evaluations WHERE adapter_id = ? ORDER BY evaluation_id DESC", [number])
    return tuple(
        Evaluation(
            row["suite"],
            row["items"],
            json.loads(row["figures"]),
            row["verdict"],
            tuple(json.loads(row["reasons"])),
            row["created_at"],
        )
        for row in found
    )


def verdicts(connection: sqlite3.Connection, content_hashes: Collection[str]) -> dict[str, GateVerdict]:
    """The newest of the gate by hash; adapters that it has not seen are left out."""
    found = connection.execute(
        """
        SELECT adapters.content_hash, evaluations.verdict FROM evaluations JOIN adapters USING (adapter_id)
        WHERE adapters.content_hash IN (SELECT value FROM json_each(?)) AND evaluations.verdict <> ''
        ORDER BY evaluations.evaluation_id
        """,
        [json.dumps(list(content_hashes))],
    )
    return dict(found.fetchall())


def promotions(connection: sqlite3.Connection, content_hash: str) -> tuple[Promotion, ...]:
    """Of this adapter, the newest first, not more than a page."""
    return tuple(Promotion(*row) for row in connection.execute(_PROMOTIONS, [content_hash, content_hash, PAGE]))


def _record_of(row: sqlite3.Row) -> AdapterRecord:
    kind: AdapterKind = row["kind"]
    return AdapterRecord(
        content_hash=row["content_hash"],
        base_hash=row["base_hash"],
        profile=row["profile"],
        expert=row["expert"],
        kind=kind,
        file=row["file"],
        size_bytes=row["size_bytes"],
        rank=row["rank"],
        parent_hash=row["parent_hash"],
        recipe_hash=row["recipe_hash"],
        data_hash=row["data_hash"],
        note=row["note"],
        state=row["state"],
        created_at=row["created_at"],
        was_champion=row["championed"] is not None,
        is_forgotten=bool(row["is_forgotten"]),
        number=row["adapter_id"],
    )


def _unknown(name: str) -> UnknownName:
    return UnknownName(f"There is no adapter {name[:32]}.", "See `macaron adapters list`.")
