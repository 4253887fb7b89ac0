"""The statements of trials: an adapter that answers some turns before it becomes champion, and how these were liked.

Each function leaves transactions to its caller. When a trial has failed is the affair of `canary`.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

from engine.adapters.canary import Verdict, judge
from engine.adapters.records import AdapterRecord, Canary, CanaryOutcome
from engine.errors import UsageProblem
from engine.store.adapter_promotions import Because, add_to_log, crown, in_use, set_state

_BASELINE_TURNS: Final = 200
"""Turns of the same expert before the trial that it is held against."""


def begin(connection: sqlite3.Connection, record: AdapterRecord, planned_turns: int, because: Because) -> None:
    """Raises: UsageProblem for the champion."""
    champion = in_use(connection, record.slot).champion
    if record.state == "champion":
        raise UsageProblem(f"{record.content_hash[:12]} is the champion already.", "There is nothing to be tried.")
    turns, negative = _liking(
        connection,
        "SELECT turn_id, state FROM turns WHERE expert = ? AND state IN ('answered', 'failed')"
        " ORDER BY rowid DESC LIMIT ?",
        [record.expert, _BASELINE_TURNS],
    )
    connection.execute(
        """
        INSERT INTO canaries (adapter_id, planned_turns, baseline_turns, baseline_negative, outcome, created_at)
        VALUES (?, ?, ?, ?, '', ?)
        """,
        [record.number, planned_turns, turns, negative, because.now],
    )
    set_state(connection, record, "canary")
    add_to_log(connection, record.slot, "canary", record, champion, because)


def end(connection: sqlite3.Connection, record: AdapterRecord, outcome: CanaryOutcome) -> None:
    """Of its trial, where it is on one."""
    connection.execute(
        "UPDATE canaries SET outcome = ? WHERE adapter_id = ? AND outcome = ''", [outcome, record.number]
    )


def make_way(connection: sqlite3.Connection, successor: AdapterRecord) -> None:
    """End the trial that goes on in the slot of `successor`: another one waits again, itself has passed."""
    canary = in_use(connection, successor.slot).canary
    if canary is not None:
        end(connection, canary, "promoted" if canary.number == successor.number else "superseded")
        set_state(connection, canary, "candidate")


def take_back(connection: sqlite3.Connection, canary: AdapterRecord, because: Because) -> None:
    """The champion, or the factory, answers again."""
    end(connection, canary, "rolled_back")
    set_state(connection, canary, "retired")
    add_to_log(connection, canary.slot, "rollback", in_use(connection, canary.slot).champion, canary, because)


def settle(connection: sqlite3.Connection, record: AdapterRecord, now: str) -> Verdict:
    """Judge the trial by what is known now, and do what follows."""
    trial = last(connection, record)
    if record.state != "canary" or trial is None:
        return "go_on"
    verdict = judge(trial)
    because = Because(f"{trial.negative} of the {trial.turns} turns of its trial were negative.", now)
    if verdict == "promote":
        end(connection, record, "promoted")
        crown(connection, record.slot, record, "promote", because)
    elif verdict == "roll_back":
        take_back(connection, record, because)
    return verdict


def count_turn(connection: sqlite3.Connection, record: AdapterRecord, turn_id: str) -> None:
    """It counts while the adapter is on trial."""
    connection.execute(
        "INSERT OR IGNORE INTO canary_turns (canary_id, turn_id)"
        " SELECT canary_id, ? FROM canaries WHERE adapter_id = ? AND outcome = ''",
        [turn_id, record.number],
    )


def last(connection: sqlite3.Connection, record: AdapterRecord) -> Canary | None:
    """The last trial of an adapter, and how its turns were liked until now."""
    row = connection.execute(
        "SELECT * FROM canaries WHERE adapter_id = ? ORDER BY canary_id DESC LIMIT 1", [record.number]
    ).fetchone()
    if row is None:
        return None
    turns, negative = _liking(
        connection,
        "SELECT turn_id, state FROM turns WHERE turn_id IN (SELECT turn_id FROM canary_turns WHERE canary_id = ?)",
        [row["canary_id"]],
    )
    return Canary(
        record.content_hash,
        row["planned_turns"],
        turns,
        negative,
        row["baseline_turns"],
        row["baseline_negative"],
        row["outcome"],
    )


def _liking(connection: sqlite3.Connection, turns: str, values: Sequence[str | int]) -> tuple[int, int]:
    """(turns, negative ones). Negative is a failed turn, and one with a signal below 0 that was not taken back; what
    was suggested after it says nothing of it."""
    found = connection.execute(
        f"""
        SELECT count(*), coalesce(sum(state = 'failed' OR EXISTS (
            SELECT 1 FROM signals AS said
            WHERE said.turn_id = asked.turn_id AND said.kind <> 'suggestion' AND said.value < 0 AND NOT EXISTS (
                SELECT 1 FROM signals AS later
                WHERE later.turn_id = said.turn_id AND later.kind = said.kind AND later.signal_id > said.signal_id
            )
        )), 0)
        FROM ({turns}) AS asked
        """,
        values,
    ).fetchone()
    return int(found[0]), int(found[1])
