"""The statements that change which adapter answers, and the log of it. Each function leaves transactions to its caller.

A swap is a change of states: what answered retires, what is to answer becomes champion, and the log gets an entry. The
log is only added to; who was champion before is read from it.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import engine.store.adapter_entries as entries
from engine.adapters.records import AdapterRecord, AdapterState, InUse, PromotionKind, Slot
from engine.errors import UsageProblem

_SLOT: Final = "profile = ? AND base_hash = ? AND expert = ?"


@dataclass(frozen=True, slots=True)
class Because:
    """Why and when something changes."""

    reason: str
    now: str


def in_use(connection: sqlite3.Connection, slot: Slot) -> InUse:
    found = entries.records(
        connection, f"SELECT * FROM adapters WHERE {_SLOT} AND state IN ('champion', 'canary')", _key(slot)
    )
    return together(found).get(slot.expert, InUse())


def together(found: Iterable[AdapterRecord]) -> dict[str, InUse]:
    """Champions and canaries of one profile and base, by expert."""
    by_expert: dict[str, InUse] = {}
    for record in found:
        before = by_expert.get(record.expert, InUse())
        is_champion = record.state == "champion"
        by_expert[record.expert] = replace(before, champion=record) if is_champion else replace(before, canary=record)
    return by_expert


def crown(
    connection: sqlite3.Connection, slot: Slot, record: AdapterRecord | None, kind: PromotionKind, because: Because
) -> None:
    """Make `record` the champion of its slot, or nobody; who was champion retires."""
    old = in_use(connection, slot).champion
    if old is not None:
        set_state(connection, old, "retired")
    entry = add_to_log(connection, slot, kind, record, old, because)
    if record is not None:
        set_state(connection, record, "champion")
        connection.execute("UPDATE adapters SET championed = ? WHERE adapter_id = ?", [entry, record.number])


def set_state(connection: sqlite3.Connection, record: AdapterRecord, state: AdapterState) -> None:
    connection.execute("UPDATE adapters SET state = ? WHERE adapter_id = ?", [state, record.number])


def add_to_log(
    connection: sqlite3.Connection,
    slot: Slot,
    kind: PromotionKind,
    record: AdapterRecord | None,
    previous: AdapterRecord | None,
    because: Because,
) -> int:
    """The number of the entry."""
    added = connection.execute(
        """
        INSERT INTO promotions (profile, base_hash, expert, kind, content_hash, previous_hash, reason, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [*_key(slot), kind, _hash(record), _hash(previous), because.reason, because.now],
    )
    return added.lastrowid or 0


def champion_before(connection: sqlite3.Connection, slot: Slot) -> AdapterRecord | None:
    """Whom a rollback brings back: the last champion before this one that is still here and may be used."""
    log = connection.execute(
        f"SELECT kind, content_hash FROM promotions WHERE {_SLOT} ORDER BY promotion_id", _key(slot)
    ).fetchall()
    for content_hash in reversed(standing((kind, content_hash) for kind, content_hash in log)[:-1]):
        record = entries.optional(connection, content_hash)
        if record is not None and not record.is_forgotten:
            return record
    return None


def standing(log: Iterable[tuple[str, str]]) -> list[str]:
    """The champions on which the present one stands, itself last, from the log as (kind, who is champion after it).

    A promotion adds one; a rollback or a retirement takes away all above the one that it brought back. Trials change
    nothing.
    """
    champions: list[str] = []
    for kind, content_hash in log:
        if kind == "promote":
            champions.append(content_hash)
        elif kind in ("rollback", "retire"):
            while champions and champions[-1] != content_hash:
                champions.pop()
    return champions


def promotable(connection: sqlite3.Connection, content_hash: str) -> AdapterRecord:
    """Raises: UnknownName; UsageProblem for one of the factory and for one that was forgotten."""
    record = entries.known(connection, content_hash)
    if record.state == "factory":
        raise is_factory(record)
    if record.is_forgotten:
        raise entries.forgotten(record)
    return record


def is_factory(record: AdapterRecord) -> UsageProblem:
    """The error that says so, for the caller to raise."""
    return UsageProblem(
        f"{record.content_hash[: entries.SHORT]} came with the profile {record.profile} and is always in use.",
        f"Go back to it alone with `macaron adapters rollback {record.expert} --factory`.",
    )


def is_answering(record: AdapterRecord) -> UsageProblem:
    """The error that says so, for the caller to raise."""
    return UsageProblem(
        f"{record.content_hash[: entries.SHORT]} is in use for {record.expert}.",
        f"Go back first: `macaron adapters rollback {record.expert}`.",
    )


def _key(slot: Slot) -> list[str]:
    return [slot.profile, slot.base_hash, slot.expert]


def _hash(record: AdapterRecord | None) -> str:
    return "" if record is None else record.content_hash
