"""A conversation of many times the view's length: what must not be lost, what is stored, and what a turn costs.

A real agent on a real store, with a runtime that says what it is told over a vocabulary about as dense as a real one.
Each message is also learned from, as the program does after a turn, so that recall can find what has no room.
"""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from engine.events import TurnClosed
from engine.memory.embedding import Embedder
from engine.memory.folding.values import RunningMemory
from engine.memory.folding.verifying import fault_of
from engine.memory.keeping import KeptMemories, Spoken
from engine.runtime.protocol import Tokens
from engine.values import TurnRecord
from tests.bench.report import Figure, Row
from tests.support.scripted_runtime import ScriptedRuntime
from tests.support.talking import Talk, make_profile, open_talk

CONTEXT_TOKENS: Final = 2048
ANSWER_TOKENS: Final = 512
CONVERSATION_TOKENS: Final = 40_000
QUICK_TOKENS: Final = 8_000
_DATA: Final = Path(__file__).parent / "data" / "folding.jsonl"
_PIECE: Final = re.compile(r" ?[A-Za-z]{1,6}|\d|\s|[^\sA-Za-z\d]")
_FIRST_PIECE: Final = 1000
_TOPICS_TEXT: Final = """
    tides, rye bread, the moon, canals, violins, glaciers, tax forms, sourdough, steam engines, migrating birds,
    volcanoes, public libraries, chess openings, lighthouses, beekeeping, old maps
"""
_TOPICS: Final = tuple(topic.strip() for topic in _TOPICS_TEXT.split(","))
_TOPICS_ZH: Final = ("潮汐", "面包", "月亮", "运河", "小提琴", "冰川", "税表", "蒸汽机", "候鸟", "火山", "象棋", "灯塔")
_ASKED: Final = (
    "Explain how {topic} came to matter to people, and what one would look at first.",
    "What would you tell a child about {topic} in a few plain sentences?",
    "Compare {topic} with {other}; where are they alike and where not?",
)
_ASKED_ZH: Final = (
    "请解释一下{topic}为什么重要，先看什么？",
    "怎么用几句话给孩子讲{topic}？",
    "比较{topic}和{other}有什么异同？",
)


@dataclass(frozen=True, slots=True)
class Planted:
    """What the user says that must not be lost, a question for it, and what its answer holds."""

    language: str
    said: str
    question: str
    expected: str


@dataclass(frozen=True, slots=True)
class Lived:
    """What became of a conversation."""

    planted: tuple[Planted, ...]
    in_memory: frozenset[str]
    """What was said that the last view's running memory holds."""
    recalled: frozenset[str]
    """What was said that recall finds."""
    turns: int
    stored: int
    """Turns that are in the database as they were said."""
    tokens: int
    closed: tuple[TurnClosed, ...]
    folds: tuple[int, ...]
    """The turns at which the view was folded."""
    faults: int
    """Lines of all running memories that their turn does not bear out."""
    lines: int

    @property
    def lost(self) -> tuple[Planted, ...]:
        return tuple(one for one in self.planted if one.said not in self.in_memory | self.recalled)


@dataclass
class WordRuntime(ScriptedRuntime):
    """A piece of a word, a digit, a sign or a wide character is a token."""

    def __post_init__(self) -> None:
        ScriptedRuntime.__post_init__(self)
        self._pieces: dict[str, int] = {}
        self._texts: list[str] = []

    def encode(self, text: str) -> Tokens:
        return tuple(self._token(piece) for piece in _PIECE.findall(text))

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(
            self._texts[token - _FIRST_PIECE] if token >= _FIRST_PIECE else super(WordRuntime, self).decode([token])
            for token in tokens
        )

    def _token(self, piece: str) -> int:
        if piece not in self._pieces:
            self._pieces[piece] = _FIRST_PIECE + len(self._texts)
            self._texts.append(piece)
        return self._pieces[piece]


@dataclass
class _Script:
    """What is said in a conversation: passing talk, and at even distances what must not be lost."""

    random: random.Random
    planted: list[Planted] = field(default_factory=list)

    def message(self) -> str:
        if self.random.random() < 0.5:
            topic, other = self.random.sample(_TOPICS, 2)
            return self.random.choice(_ASKED).format(topic=topic, other=other)
        topic, other = self.random.sample(_TOPICS_ZH, 2)
        return self.random.choice(_ASKED_ZH).format(topic=topic, other=other)

    def answer(self) -> str:
        words = self.random.choices(" ".join(_TOPICS).replace(",", "").split(), k=self.random.randint(35, 45))
        return " ".join(words).capitalize() + "."


def planted() -> tuple[Planted, ...]:
    lines = _DATA.read_text(encoding="utf-8").splitlines()
    return tuple(Planted(**json.loads(line)) for line in lines)


def live(conversation_tokens: int, seed: int, embedder: Embedder | None, facts: Sequence[Planted]) -> Lived:
    """Hold a conversation of so many tokens, in which the facts are said at even distances."""
    profile = make_profile({"L0": "I chat."}, context_tokens=CONTEXT_TOKENS, max_answer_tokens=ANSWER_TOKENS)
    with TemporaryDirectory() as folder, open_talk(Path(folder), profile=profile, runtime=WordRuntime()) as talk:
        kept = KeptMemories(talk.store, embedder)
        said, folds = _talk(talk, kept, conversation_tokens, _Script(random.Random(seed)), facts)
        return _lived(talk, kept, talk.turns(), said, folds, facts)


def _talk(
    talk: Talk, kept: KeptMemories, conversation_tokens: int, script: _Script, facts: Sequence[Planted]
) -> tuple[list[tuple[str, str, TurnClosed]], list[int]]:
    said, folds, tokens = list[tuple[str, str, TurnClosed]](), list[int](), 0
    waiting = list(facts)
    while tokens < conversation_tokens:
        is_due = waiting and tokens >= conversation_tokens * (len(facts) - len(waiting)) / len(facts)
        message, answer = waiting.pop(0).said if is_due else script.message(), script.answer()
        closed = talk.say(message, answer=answer)
        folds += [len(said)] if "folded" in talk.notices() else []
        earlier = [text for text, _, _ in said]
        kept.learn(Spoken(closed.turn_id, message, earlier=earlier), datetime.now(UTC), datetime.now(UTC).date())
        said.append((message, answer, closed))
        tokens += len(talk.runtime.encode(message)) + len(talk.runtime.encode(answer))
    return said, folds


def _lived(
    talk: Talk,
    kept: KeptMemories,
    turns: Sequence[TurnRecord],
    said: Sequence[tuple[str, str, TurnClosed]],
    folds: Sequence[int],
    facts: Sequence[Planted],
) -> Lived:
    memories = _memories(talk)
    by_id = {turn.turn_id: turn for turn in turns}
    lines = [line for memory in memories for line in memory.lines]
    now = datetime.now(UTC)
    return Lived(
        tuple(facts),
        frozenset(one.said for one in facts if any(one.expected in line.text for line in memories[-1].lines)),
        frozenset(
            one.said
            for one in facts
            if any(one.expected in found.memory.text for found in kept.recall(one.question, now))
        ),
        len(said),
        sum(
            (turn.user_text, turn.answer_text) == (message, answer)
            for turn, (message, answer, _) in zip(turns, said, strict=False)
        ),
        sum(len(talk.runtime.encode(text)) for message, answer, _ in said for text in (message, answer)),
        tuple(closed for _, _, closed in said),
        tuple(folds),
        sum(fault_of(line, by_id) is not None for line in lines),
        len(lines),
    )


def _memories(talk: Talk) -> list[RunningMemory]:
    """Of all epochs of the view, in their order."""
    with talk.store.database.reading() as connection:
        found = [tuple(row) for row in connection.execute("SELECT folded_through FROM epochs ORDER BY number")]
    through = [turn_id for (turn_id,) in found if turn_id is not None]
    memories = [talk.store.running_memory(talk.conversation_id or "", [turn_id]) for turn_id in through]
    return [memory[0] for memory in memories if memory is not None]


def drift(values: Sequence[float], folds: Sequence[int]) -> float:
    """How far the mean of the last tenth is from that of the first, as a share of it, from the first fold to the last.

    Before the first fold a view only grows. Tenths end at folds, as a turn that folds reads what the others reuse.
    """
    tenth = max(1, (len(folds) - 1) // 10)
    first, last = values[folds[0] : folds[tenth]], values[folds[-1 - tenth] : folds[-1]]
    return abs(sum(last) / len(last) / (sum(first) / len(first)) - 1)


def figures(lived: Lived) -> tuple[dict[str, Figure], list[Row]]:
    prompts = [turn.usage.prompt_tokens for turn in lived.closed]
    read = [turn.usage.prompt_tokens - turn.usage.reused_tokens for turn in lived.closed]
    kept = len(lived.planted) - len(lived.lost)
    found = {
        "folding_pinned_kept": Figure(kept / len(lived.planted), len(lived.planted)),
        "folding_turns_stored": Figure(lived.stored / lived.turns, lived.turns),
        "folding_prompt_drift": Figure(drift(prompts, lived.folds), len(prompts)),
        "folding_read_drift": Figure(drift(read, lived.folds), len(read)),
        "folding_line_faults": Figure(lived.faults, lived.lines),
    }
    row: Row = {
        "turns": lived.turns,
        "tokens": lived.tokens,
        "folds": len(lived.folds),
        "in running memory": len(lived.in_memory),
        "recalled": len(lived.recalled),
        "prompt tokens a turn": sum(prompts) / len(prompts),
        "longest prompt": max(prompts),
        "read tokens a turn": sum(read) / len(read),
        "read tokens without reuse": sum(prompts),
    }
    return found, [row]


def lost_rows(lived: Lived) -> list[Row]:
    return [{"said": one.said, "question": one.question} for one in lived.lost]
