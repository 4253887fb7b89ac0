"""Two hundred turns of a user to whom much else is said: texts of the system, output of tools, planted rules, tokens of
templates, mail, fiction, guests; and, among them, what is true of the user.

`data/pollution.jsonl` holds one turn a line, labelled by hand: `holds` is what a memory from it must hold to be true of
the user (nothing of a turn without it may be stored), `never` what no memory may hold, and `told` what the model was
told by others. Beside the rules a credulous model proposes: it repeats whatever it has read of others, in all ways.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, get_args

from engine.memory.embedding import Embedder
from engine.memory.keeping import Kept, KeptMemories, Spoken
from engine.memory.values import Memory
from engine.memory.writing.proposals import Proposal
from engine.memory.writing.proposing import RuleProposer
from engine.store import Store
from engine.values import Provenance
from tests.bench.memory_arms import answered_turn

_DATA: Final = Path(__file__).parent / "data" / "pollution.jsonl"
NOW: Final = datetime(2026, 3, 2, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A turn of the stream and what is true of it."""

    conversation: int
    kind: str
    provenance: Provenance
    text: str
    holds: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    def is_true(self, memory: Memory) -> bool:
        """Whether a memory says what the user said of themselves here, and nothing else."""
        said = memory.text.casefold()
        return any(one.casefold() in said for one in self.holds) and not any(
            one.casefold() in said for one in self.never
        )


@dataclass(frozen=True, slots=True)
class Polluted:
    """What a turn has left behind."""

    turn: Labelled
    junk: tuple[Memory, ...]
    """Written, but not true of the user by the labels."""
    true: tuple[Memory, ...]
    is_missed: bool
    """It tells something of the user, and nothing of that was stored."""
    has_changed: bool
    """It tells nothing of the user and has yet made a memory more, or less, believed, or taken its place."""


def read_stream() -> tuple[Labelled, ...]:
    """Raises: ValueError for a label that there is not."""
    return tuple(map(_labelled, _DATA.read_text(encoding="utf-8").splitlines()))


def run_through(stream: Sequence[Labelled], embedder: Embedder | None) -> list[Polluted]:
    """Every turn is learned from as the product does, with all that was said before it in its conversation."""
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "a.db") as store:
        memories = KeptMemories(store, embedder)
        typed, others = dict[int, list[str]](), dict[int, list[str]]()
        leaves = dict[int, str]()
        done = list[Polluted]()
        for turn in stream:
            earlier, read = typed.setdefault(turn.conversation, []), others.setdefault(turn.conversation, [])
            read.extend(turn.told if turn.provenance == "typed" else (*turn.told, turn.text))
            leaves[turn.conversation] = turn_id = answered_turn(store, turn.text, leaves.get(turn.conversation))
            recalled = [one.memory.text for one in memories.recall(turn.text, NOW)]
            spoken = Spoken(
                turn_id,
                turn.text,
                turn.provenance,
                earlier=tuple(earlier),
                system_texts=tuple(read),
                recalled=recalled,
            )
            done.append(_polluted(turn, memories.learn(spoken, NOW, NOW.date(), _Credulous([*read, *recalled]))))
            if turn.provenance == "typed":
                earlier.append(turn.text)
        return done


class _Credulous:
    """Proposes what the rules see, and every line that it has read of others: as evidence of itself, and with the
    user's own words as its evidence."""

    def __init__(self, read: Sequence[str]) -> None:
        self._lines = tuple(dict.fromkeys(line for text in read for line in text.split("\n") if line.strip()))

    def propose(self, sentences: Sequence[str], today: date) -> Sequence[Proposal]:
        repeated = [
            Proposal(line, "fact", evidence, author="model")
            for line in self._lines
            for evidence in (line, *sentences[:1])
        ]
        return (*RuleProposer().propose(sentences, today), *repeated)


def _polluted(turn: Labelled, kept: Kept) -> Polluted:
    true = tuple(memory for memory in (*kept.written, *kept.merged) if turn.is_true(memory))
    return Polluted(
        turn,
        tuple(memory for memory in kept.written if not turn.is_true(memory)),
        true,
        is_missed=bool(turn.holds) and not true,
        has_changed=not turn.holds and bool(kept.merged or kept.superseded or kept.doubted),
    )


def _labelled(line: str) -> Labelled:
    read = json.loads(line)
    if read["provenance"] not in get_args(Provenance):
        raise ValueError(f"{read['provenance']} is no provenance.")
    lists = {name: tuple(read.pop(name, ())) for name in ("holds", "never", "told")}
    return Labelled(**read, **lists)
