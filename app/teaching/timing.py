"""The minutes of a lesson: what is left of them, for learning and for the tests after it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from engine.evaluation.reading import Bench, Reader
from engine.evaluation.suites import EvaluationMessage
from engine.runtime.protocol import NEVER
from local_training.lessons.building import LessonData
from local_training.lessons.lesson_files import LessonRecipe
from ui.teaching import TeachPhase, TeachProgress

_TEST_SHARE: Final = 0.42
"""Of all minutes, kept for the tests and what surrounds the steps: a lesson that was not tested is worth nothing."""
_LEAST_TRAINING_S: Final = 30.0
_TRAINING_OVER_READING: Final = 3.5
"""A step reads its tokens once, goes back through them, and computes in more bits than the engine."""
_ANCHOR_TOKENS: Final = 4 * 64
_PROBE: Final = "word " * 192


@dataclass(slots=True)
class Budget:
    seconds: float
    """Of the whole lesson."""
    report: Callable[[TeachProgress], None]
    began: float = field(default_factory=time.monotonic)

    @property
    def spent_s(self) -> float:
        return time.monotonic() - self.began

    @property
    def left_s(self) -> float:
        return max(0.0, self.seconds - self.spent_s)

    def for_training_s(self) -> float:
        return max(_LEAST_TRAINING_S, self.left_s - _TEST_SHARE * self.seconds)

    def tell(self, phase: TeachPhase, done: int, total: int) -> None:
        self.report(TeachProgress(phase, done, total, self.left_s))


def step_seconds(bench: Bench, data: LessonData) -> float:
    """What an optimizer step will take, from how fast the engine reads on this machine now."""
    began = time.monotonic()
    with Reader(bench, bench.stack(), NEVER) as reader:
        answer = reader.answer_tokens(_PROBE)
        reader.logprobs((EvaluationMessage("user", "Read this."),), [answer])
        read_s = (time.monotonic() - began) / len(answer)
        texts = [f"{one.messages[-1].text} {one.answer}" for one in data.examples]
        tokens = sum(len(bench.runtime.encode(text)) + 48 for text in texts) / len(texts)
    batch = LessonRecipe().batch_examples
    return _TRAINING_OVER_READING * read_s * (batch * tokens + _ANCHOR_TOKENS)
