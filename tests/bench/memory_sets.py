"""Conversations over several sessions, written by hand in English and Chinese, and what is asked about them afterwards.

One JSON file a language: `sessions` (day, messages with ids), `questions` (with the ids of the messages that answer
them), `absent` (what was never said) and `updates` (something said, what took its place, and a question). Questions
share few words with what answers them: a search for words alone must not do.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.memory.words import content_terms, held_terms

_DATA: Final = Path(__file__).parent / "data"
LANGUAGES: Final = ("en", "zh")
MOST_OVERLAP: Final = 0.3
"""Of the terms of a question, the share that may occur in a message that answers it."""


@dataclass(frozen=True, slots=True)
class Message:
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    day: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    evidence: tuple[str, ...]
    """Ids of the messages that answer it."""


@dataclass(frozen=True, slots=True)
class Update:
    """Something that held, what the user said then, and a question for which only the second may come back."""

    first: str
    then: str
    question: str
    stale: str
    """What only the first says."""
    fresh: str
    """What only the second says."""


@dataclass(frozen=True, slots=True)
class Told:
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    absent: tuple[str, ...] = ()
    updates: tuple[Update, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(message for session in self.sessions for message in session.messages)


def read_set(language: str) -> Told:
    read = json.loads((_DATA / f"memory_{language}.json").read_text(encoding="utf-8"))
    return Told(
        tuple(
            Session(session["day"], tuple(Message(one["id"], one["text"]) for one in session["messages"]))
            for session in read["sessions"]
        ),
        tuple(Question(one["question"], tuple(one["evidence"])) for one in read["questions"]),
        tuple(read["absent"]),
        tuple(Update(**one) for one in read["updates"]),
    )


def read_locomo(path: Path) -> tuple[Told, ...]:
    """The LoCoMo conversations: a session is what was said at one time, a message an utterance with its speaker and its
    day. Questions that nothing answers (category 5) are left out, and evidence that is in no conversation."""
    return tuple(map(_locomo, json.loads(path.read_text(encoding="utf-8"))))


def overlap(question: str, text: str) -> float:
    """The share of the question's terms that the text holds."""
    asked = content_terms(question)
    return len(asked & held_terms(text)) / (len(asked) or 1)


def recall_at(found: Sequence[str], evidence: Sequence[str]) -> float:
    """The share of the evidence that was found."""
    return sum(one in found for one in evidence) / len(evidence)


def _locomo(read: dict[str, list[dict[str, object]]]) -> Told:
    sessions = dict[str, list[Message]]()
    for said in read["utterances"]:
        time = str(said["time"])
        day = time.partition(" on ")[2] or time
        sessions.setdefault(time, []).append(Message(str(said["id"]), f"{said['speaker']} ({day}): {said['text']}"))
    ids = {message.message_id for messages in sessions.values() for message in messages}
    questions = [
        Question(str(one["question"]), evidence)
        for one in read["questions"]
        if one["category"] != 5 and (evidence := tuple(id_ for id_ in _names(one["evidence"]) if id_ in ids))
    ]
    return Told(tuple(Session("2023-06-01", tuple(messages)) for messages in sessions.values()), tuple(questions))


def _names(evidence: object) -> list[str]:
    return [str(one) for one in evidence] if isinstance(evidence, list) else []
