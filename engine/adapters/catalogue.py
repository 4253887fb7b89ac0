"""The catalogue of adapters: which there are, where each came from, how it did, and which of them answers.

Lives in the store's database. Knows hashes and names of files, and opens none; decides neither whether an adapter is
good enough (the gate does) nor when a trial has failed (`canary` does). Every method is one transaction or one read and
raises StoreProblem or one of its children when the disk or the file fails; nothing is then half-written. The statements
are in `engine.store`: `adapter_entries`, `adapter_promotions` and `adapter_trials`.
"""

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Final

import engine.store.adapter_entries as entries
import engine.store.adapter_promotions as promoting
import engine.store.adapter_trials as trials
from engine.adapters.canary import TURNS, Verdict
from engine.adapters.records import (
    AdapterDetails,
    AdapterRecord,
    AdapterState,
    Evaluation,
    GateVerdict,
    InUse,
    Source,
    Swap,
)
from engine.store.adapter_entries import PAGE
from engine.store.adapter_promotions import Because
from engine.store.database import Database

KEPT_CHAMPIONS: Final = 5
"""Retired champions of an expert that are kept, so that there is something to go back to."""
_GARBAGE: Final = f"""
    SELECT * FROM adapters
    WHERE state = 'retired' AND adapter_id > ? AND (is_forgotten OR championed IS NULL OR (
        SELECT count(*) FROM (
            SELECT 1 FROM adapters AS newer
            WHERE newer.profile = adapters.profile AND newer.base_hash = adapters.base_hash
                AND newer.expert = adapters.expert AND newer.championed > adapters.championed
                AND newer.state = 'retired' AND NOT newer.is_forgotten
            LIMIT {KEPT_CHAMPIONS}
        )
    ) = {KEPT_CHAMPIONS})
    ORDER BY adapter_id LIMIT ?
"""


class Catalogue:
    def __init__(self, database: Database) -> None:
        self._database = database

    # What there is

    def add(self, record: AdapterRecord, sources: Collection[Source] = ()) -> AdapterRecord:
        """Enter an adapter as a candidate (one of the factory as such); the stored one when it is here already.

        Raises: UsageProblem when the same weights are entered for another expert, profile or base, or were forgotten.
        """
        entries.check(record)
        with self._database.transaction() as connection:
            known = entries.optional(connection, record.content_hash)
            if known is not None:
                return entries.check_same(known, record)
            entries.insert(connection, record, sources, _now())
            return entries.known(connection, record.content_hash)

    def has(self, content_hash: str) -> bool:
        with self._database.reading() as connection:
            return entries.optional(connection, content_hash) is not None

    def get(self, prefix: str) -> AdapterRecord:
        """By its hash or the beginning of it. Raises: UnknownName, UsageProblem when several begin so."""
        with self._database.reading() as connection:
            return entries.find(connection, prefix)

    def page(
        self,
        *,
        profile: str | None = None,
        expert: str | None = None,
        state: AdapterState | None = None,
        limit: int = PAGE,
        before: int | None = None,
    ) -> tuple[AdapterRecord, ...]:
        """The newest first; `before` is the `number` of the last one of the page before."""
        wanted = {"profile = ?": profile, "expert = ?": expert, "state = ?": state, "adapter_id < ?": before}
        chosen = {text: value for text, value in wanted.items() if value is not None}
        where = f"WHERE {' AND '.join(chosen)}" if chosen else ""
        with self._database.reading() as connection:
            return entries.records(
                connection,
                f"SELECT * FROM adapters {where} ORDER BY adapter_id DESC LIMIT ?",
                [*chosen.values(), limit],
            )

    def details(self, prefix: str) -> AdapterDetails:
        """Raises: UnknownName, UsageProblem when several begin so."""
        with self._database.snapshot() as connection:
            record = entries.find(connection, prefix)
            return AdapterDetails(
                record,
                entries.lineage(connection, record.content_hash),
                entries.records(
                    connection,
                    "SELECT * FROM adapters WHERE parent_hash = ? ORDER BY adapter_id DESC LIMIT ?",
                    [record.content_hash, PAGE],
                ),
                entries.sources(connection, record.number),
                entries.evaluations(connection, record.number),
                entries.promotions(connection, record.content_hash),
                trials.last(connection, record),
            )

    def lineage(self, content_hash: str) -> tuple[AdapterRecord, ...]:
        """What it was trained on top of, and what that was: the parent first, as far as the catalogue knows."""
        with self._database.reading() as connection:
            return entries.lineage(connection, content_hash)

    def find_by_source(self, source_id: str) -> tuple[AdapterRecord, ...]:
        """Every adapter that holds this turn, retired ones too; the newest first."""
        with self._database.reading() as connection:
            return entries.records(
                connection,
                "SELECT adapters.* FROM adapter_sources JOIN adapters USING (adapter_id) WHERE source_id = ?"
                " ORDER BY adapter_id DESC",
                [source_id],
            )

    def made_from(self, data_hash: str) -> tuple[AdapterRecord, ...]:
        """Every adapter that learned data of this hash; the newest first."""
        with self._database.reading() as connection:
            return entries.records(
                connection, "SELECT * FROM adapters WHERE data_hash = ? ORDER BY adapter_id DESC", [data_hash]
            )

    def children(self, content_hash: str) -> tuple[AdapterRecord, ...]:
        """Every adapter that was trained on top of this one; the newest first."""
        with self._database.reading() as connection:
            return entries.records(
                connection, "SELECT * FROM adapters WHERE parent_hash = ? ORDER BY adapter_id DESC", [content_hash]
            )

    def garbage(self, limit: int = PAGE, *, after: int = 0) -> tuple[AdapterRecord, ...]:
        """What may be deleted, the oldest first, behind the number `after`.

        That is what has retired, without the last few champions of every expert; of these too what was forgotten.
        """
        with self._database.reading() as connection:
            return entries.records(connection, _GARBAGE, [after, limit])

    def remove(self, content_hash: str, delete_file: Callable[[AdapterRecord], None]) -> bool:
        """Delete the file and all that is known of it but the log. False when there is no such adapter.

        Killed in between, the adapter is still listed and can be removed again.

        Raises: UsageProblem for one that is in use or came with a profile; what `delete_file` raises.
        """
        with self._database.transaction() as connection:
            record = entries.optional(connection, content_hash)
            if record is None:
                return False
            if record.state == "factory":
                raise promoting.is_factory(record)
            if record.state in ("champion", "canary"):
                raise promoting.is_answering(record)
            entries.delete(connection, record.number)
            delete_file(record)
            return True

    def add_evaluation(self, content_hash: str, evaluation: Evaluation) -> None:
        """Raises: UnknownName."""
        with self._database.transaction() as connection:
            number = entries.known(connection, content_hash).number
            entries.insert_evaluation(connection, number, evaluation, _now())

    def evaluations(self, content_hash: str) -> tuple[Evaluation, ...]:
        """The newest first. Raises: UnknownName."""
        with self._database.reading() as connection:
            return entries.evaluations(connection, entries.known(connection, content_hash).number)

    def verdicts(self, content_hashes: Collection[str]) -> dict[str, GateVerdict]:
        """The newest of the gate by hash; adapters that it has not seen are left out."""
        with self._database.reading() as connection:
            return entries.verdicts(connection, content_hashes)

    # Which of them answers

    def in_use(self, profile: str, base_hash: str | None = None) -> tuple[AdapterRecord, ...]:
        """Champions and canaries of a profile, on one base or on any."""
        where = "" if base_hash is None else " AND base_hash = ?"
        with self._database.reading() as connection:
            return entries.records(
                connection,
                f"SELECT * FROM adapters WHERE state IN ('champion', 'canary') AND profile = ?{where}"
                " ORDER BY expert, state",
                [profile, *([] if base_hash is None else [base_hash])],
            )

    def answering(self, profile: str, base_hash: str) -> dict[str, InUse]:
        """`in_use` by expert; experts that answer as they came from the factory are left out."""
        return promoting.together(self.in_use(profile, base_hash))

    def promote(self, content_hash: str, reason: str = "") -> Swap:
        """Make it the champion of its expert, in one step. A trial that goes on there ends; that one waits again.

        Raises: UnknownName; UsageProblem for one of the factory, and for one that was forgotten.
        """
        with self._database.transaction() as connection:
            record = promoting.promotable(connection, content_hash)
            previous = promoting.in_use(connection, record.slot).answering
            if record.state != "champion":
                trials.make_way(connection, record)
                promoting.crown(connection, record.slot, record, "promote", Because(reason, _now()))
            return Swap(previous, entries.known(connection, content_hash))

    def begin_canary(self, content_hash: str, reason: str = "", *, turns: int = TURNS) -> Swap:
        """Let it answer the next turns of its expert on trial, before the champion.

        Raises: UnknownName; UsageProblem for the champion, one of the factory, and one that was forgotten.
        """
        with self._database.transaction() as connection:
            record = promoting.promotable(connection, content_hash)
            previous = promoting.in_use(connection, record.slot).answering
            if record.state != "canary":
                trials.make_way(connection, record)
                trials.begin(connection, record, turns, Because(reason, _now()))
            return Swap(previous, entries.known(connection, content_hash))

    def rollback(self, content_hash: str, reason: str = "", *, to_factory: bool = False) -> Swap:
        """Take back the adapter that answers: a canary gives way to the champion, a champion to the one before it.

        With `to_factory` no personal adapter is left. Where this adapter does not answer (any more) nothing changes,
        so that asking twice goes back once.

        Raises: UnknownName.
        """
        with self._database.transaction() as connection:
            slot = entries.known(connection, content_hash).slot
            used = promoting.in_use(connection, slot)
            because = Because(reason, _now())
            if used.answering is not None and content_hash == used.answering.content_hash:
                if used.canary is not None:
                    trials.take_back(connection, used.canary, because)
                if used.champion is not None and (to_factory or used.canary is None):
                    before = None if to_factory else promoting.champion_before(connection, slot)
                    promoting.crown(connection, slot, before, "rollback", because)
            return Swap(used.answering, promoting.in_use(connection, slot).answering)

    def retire(self, content_hash: str, reason: str = "", *, forgotten: bool = False) -> Swap:
        """Take it out of use; the one before it answers then. What was `forgotten` can never be promoted again.

        Raises: UnknownName; UsageProblem for one of the factory.
        """
        with self._database.transaction() as connection:
            record = entries.known(connection, content_hash)
            if record.state == "factory":
                raise promoting.is_factory(record)
            previous, because = promoting.in_use(connection, record.slot).answering, Because(reason, _now())
            if forgotten:
                connection.execute("UPDATE adapters SET is_forgotten = 1 WHERE adapter_id = ?", [record.number])
            if record.state == "champion":
                before = promoting.champion_before(connection, record.slot)
                promoting.crown(connection, record.slot, before, "retire", because)
            elif record.state == "canary":
                trials.take_back(connection, record, because)
            else:
                promoting.set_state(connection, record, "retired")
            return Swap(previous, promoting.in_use(connection, record.slot).answering)

    # Trials

    def count_turn(self, content_hash: str, turn_id: str) -> None:
        """A turn that the adapter answered; it counts while the adapter is on trial. Raises: UnknownName."""
        with self._database.transaction() as connection:
            trials.count_turn(connection, entries.known(connection, content_hash), turn_id)

    def settle_canary(self, content_hash: str) -> Verdict:
        """Judge a trial by what is known now, and promote or take back. Raises: UnknownName."""
        with self._database.transaction() as connection:
            return trials.settle(connection, entries.known(connection, content_hash), _now())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
