"""The five questions of the first day, and their answers as memories that the user vouches for.

Whatever is answered is typed, so it counts at once; asked again, an answer takes the place of the one before. Knows no
words of the questions: who asks brings them, in the user's language.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from engine.errors import UsageProblem
from engine.memory.keeping import KeptMemories
from engine.memory.values import Draft, Memory, MemoryKind
from engine.memory.weighting import first_r0

Topic = Literal["name", "answers", "region", "work", "avoid"]


@dataclass(frozen=True, slots=True)
class Question:
    topic: Topic
    kind: MemoryKind
    slot: str
    """Where the answer holds; what the user says of the same later takes its place."""


QUESTIONS: Final = (
    Question("name", "fact", "name"),
    Question("answers", "instruction", "answer_language"),
    Question("region", "fact", "units"),
    Question("work", "fact", "work"),
    Question("avoid", "instruction", "avoid"),
)
"""How they want to be called; in which language and tone they want answers; where they are, their units and time zone;
what they work on; what is to be avoided."""


def keep_answers(
    memories: KeptMemories, answers: Mapping[str, str], statement: Callable[[Topic, str], str], now: datetime
) -> tuple[Memory, ...]:
    """What is remembered of them, in the order of the questions. A blank answer is one that was skipped, and changes
    nothing. `statement`: what is remembered of an answer.

    Raises: UsageProblem for a topic that there is not, BadText for an answer that is too long or no text.
    """
    if unknown := set(answers) - {question.topic for question in QUESTIONS}:
        raise UsageProblem(
            f"There is no question about {min(unknown)!r:.40}.",
            f"There are: {', '.join(question.topic for question in QUESTIONS)}.",
        )
    given = {topic: " ".join(answer.split()) for topic, answer in answers.items() if answer.strip()}
    return tuple(
        _kept(memories, question, given[question.topic], statement(question.topic, given[question.topic]), now)
        for question in QUESTIONS
        if question.topic in given
    )


def _kept(memories: KeptMemories, question: Question, answer: str, text: str, now: datetime) -> Memory:
    before = memories.store.in_slot(question.slot)
    draft = Draft(
        text,
        question.kind,
        answer,
        None,
        "confirmed",
        first_r0("confirmed"),
        question.slot,
        source="interview",
    )
    same = next((memory for memory in before if memory.text == text), None)
    if same is not None:
        return memories.judge(same.memory_id, "approved", now)
    return memories.write(draft, now, supersedes=[memory.memory_id for memory in before])
