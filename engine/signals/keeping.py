"""The signals that are kept: given, read, confirmed and erased. Lives in the store's database.

Decides what may be kept at all; whether it may teach is said by `trust`. Every method is one transaction or one read
and raises StoreProblem or one of its children when the disk or the file fails.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Final, get_args

import engine.store.rows as rows
import engine.store.signals as signals
import engine.store.turns as turns
from engine.errors import BadText, UsageProblem
from engine.signals.trust import NEVER_KEPT, is_pair_tainted
from engine.signals.values import Correction, CorrectionKind, Signal, SignalKind
from engine.store.database import Database
from engine.values import Provenance, TurnRecord

MAX_CHARACTERS: Final = 400_000
"""Of a better answer: as long as a message may be."""


class KeptSignals:
    def __init__(self, database: Database) -> None:
        self._database = database

    def correct(
        self, turn_id: str, text: str, kind: CorrectionKind = "correction", provenance: Provenance = "typed"
    ) -> Signal:
        """Keep what should have been answered. The answer itself, and what experts read of it, stay as they are.

        Raises: UnknownName; BadText for an empty, too long or invalid text; UsageProblem for a turn without an answer,
        for a text that says the same, and for one that no person wrote.
        """
        if kind not in get_args(CorrectionKind):
            raise UsageProblem(f"{kind!r:.40} is no way to correct an answer.", "Give correction or edit.")
        if provenance in NEVER_KEPT:
            raise UsageProblem(
                "What a program says of an answer is not kept.", "Write the better answer in a chat or the page."
            )
        better = rows.checked_text(text).strip()
        if not better:
            raise BadText("The better answer is empty.", "Write what should have been answered.")
        if len(better) > MAX_CHARACTERS:
            raise BadText(f"The better answer is longer than {MAX_CHARACTERS:,} characters.", "Write a shorter one.")
        with self._database.transaction() as connection:
            turn = turns.turn(connection, turn_id)
            _check_correctable(turn, better)
            is_tainted = is_pair_tainted(provenance, turn.provenance, turn.attachments)
            number = signals.insert(
                connection,
                turn_id,
                kind,
                provenance,
                _now(),
                value=signals.NOT_GOOD_ENOUGH,
                text=better,
                is_tainted=is_tainted,
            )
            return signals.known(connection, number)

    def pick(self, turn_id: str) -> None:
        """This answer is better than the others to the same message.

        Raises: UnknownName; UsageProblem when there is no other.
        """
        with self._database.transaction() as connection:
            turns.turn(connection, turn_id)
            if not signals.other_answers(connection, turn_id):
                raise UsageProblem(
                    "There is no other answer to this message to choose from.", "Answer the message again first."
                )
            signals.pick(connection, turn_id, signals.CHOSEN, _now())

    def page(
        self,
        limit: int = signals.PAGE,
        before: int | None = None,
        kinds: Collection[SignalKind] = (),
        expert: str | None = None,
        conversation_id: str | None = None,
    ) -> Sequence[Signal]:
        """Those numbered below `before`, the newest first; of these kinds, about answers of this expert, said here."""
        with self._database.reading() as connection:
            return signals.page(connection, limit, before, kinds, expert, conversation_id)

    def corrections(self, expert: str | None = None) -> Sequence[Correction]:
        """What may be learned: one of every turn, its last; the newest last."""
        with self._database.reading() as connection:
            return signals.corrections(connection, expert)

    def erase(self, signal_id: int) -> None:
        """Its text is gone, and it counts no more; neither does what it had replaced. Raises: UnknownName."""
        with self._database.transaction() as connection:
            signals.erase(connection, signal_id)

    def confirm(self, signal_id: int) -> Signal:
        """The user has looked at it: it may teach from now on. Raises: UnknownName."""
        with self._database.transaction() as connection:
            return signals.confirm(connection, signal_id)


def _check_correctable(turn: TurnRecord, better: str) -> None:
    """Raises: UsageProblem."""
    if turn.state == "running" or not turn.answer_text:
        raise UsageProblem("There is no answer yet to be corrected.", "Wait for the answer, or ask again.")
    if better == turn.answer_text.strip():
        raise UsageProblem("This is what was answered.", "Write what should have been answered instead.")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
