"""The minutes of a lesson: what is left of them, for learning and for the tests after it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from engine.evaluation.reading import Bench, Reader
from engine.evaluation.suites import EvaluationMessage
from engine.runtime.protocol import NEVER, Tokens
from local_training.lessons.building import LessonData
from local_training.lessons.lesson_files import LessonRecipe
from ui.teaching import TeachPhase, TeachProgress

_TEST_TOKENS: Final = 41_000
"""What testing a candidate costs, in tokens that are read: items, probes, drift, and its own held-out answers."""
_TEST_MARGIN: Final = 1.3
"""The candidate is one adapter more than what was timed, and the machine may have more to do by then."""
_START_S: Final = 10.0
"""Of a run, for what takes as long whatever the machine reads: a process, its libraries, the base as floats."""
_START_TOKENS: Final = 3000
"""Before the first step: answers to everyday requests, and what the expert says on them."""
_END_TOKENS: Final = 9000
"""After the last step: how far the adapter moved, and whether the engine computes the same."""
_LEAST_TRAINING_S: Final = 45.0
"""A lesson that was not tested is worth nothing, but neither is one that was not learned."""
_LEARNING_OVER_READING: Final = 2.0
"""A step goes through its tokens forwards and backwards, in more bits than the engine, but with the machine's best
routines for that."""
_ANCHOR_TOKENS: Final = 4 * 96
"""Of everyday requests and answers, each with its head."""
_HEAD_TOKENS: Final = 48
"""Of the expert's system text, which all examples of a step share."""
_MARKUP_TOKENS: Final = 8
"""Around what was said."""
_PROBE: Final = "word " * 192
_PROBES: Final = 5
"""Readings that are timed. What else the machine does makes one slower, never quicker: the quickest counts."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What a run may take, in seconds."""

    seconds: float
    """Up to its last step."""
    start_s: float
    """Of them, before the first."""
    step_s: float


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

    def pace(self, read_s: float, step_s: float) -> Pace:
        """Of a run that leaves time for the tests, where the engine takes `read_s` seconds to read a token."""
        start_s = _START_S + _START_TOKENS * read_s
        left_s = self.left_s - start_s - (_END_TOKENS + _TEST_MARGIN * _TEST_TOKENS) * read_s
        return Pace(start_s + max(_LEAST_TRAINING_S, left_s), start_s, step_s)

    def tell(self, phase: TeachPhase, done: int, total: int) -> None:
        self.report(TeachProgress(phase, done, total, self.left_s))


def reading_seconds(bench: Bench) -> float:
    """What the engine takes to read a token on this machine, where nothing holds it up for a moment."""
    with Reader(bench, bench.stack(), NEVER) as reader:
        answer = reader.answer_tokens(_PROBE)
        return min(_timed(reader, answer) for _ in range(_PROBES)) / len(answer)


def _timed(reader: Reader, answer: Tokens) -> float:
    """Seconds it takes to read an answer once."""
    began = time.monotonic()
    reader.logprobs((EvaluationMessage("user", "Read this."),), [answer])
    return time.monotonic() - began


def step_seconds(bench: Bench, data: LessonData, read_s: float) -> float:
    """What an optimizer step will take, where the engine takes `read_s` seconds to read a token."""
    lengths = [len(bench.runtime.encode(f"{one.messages[-1].text} {one.answer}")) for one in data.examples]
    mean = _MARKUP_TOKENS + sum(lengths) / len(lengths)
    learned = _HEAD_TOKENS + LessonRecipe().batch_examples * mean
    return _LEARNING_OVER_READING * read_s * (learned + _ANCHOR_TOKENS)
