"""What a lesson is tested with, answered by any adapter of the expert: once each, however often it is asked for."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from engine.adapters.gate import ItemResult, SuiteResult
from engine.evaluation.reading import TOGETHER, Bench, Reader
from engine.evaluation.suites import EvaluationMessage
from engine.runtime.protocol import AdapterStack, Sampling, Stop
from local_training.lessons.building import HeldOutItem, LessonData, imitation_suite, suite_hash, target_suite
from local_training.lessons.sampling import ANSWER_TOKENS, SamplingRequest

TellDone = Callable[[int, int], None]
"""Told how many answers are there, and of how many."""

_SEED: Final = 40_000
_EARLIER_ITEMS: Final = 16
"""Of a lesson that was learned before: enough to see whether it was lost."""


class HeldOut:
    """The held-out prompts of a lesson, and some of the lessons before it, which must not be forgotten."""

    def __init__(
        self, bench: Bench, data: LessonData, earlier: Mapping[str, LessonData], stop: Stop, tell: TellDone
    ) -> None:
        self._bench, self._data, self._stop, self._tell = bench, data, stop, tell
        self._earlier = {name: other for name, other in earlier.items() if not other.lesson.is_imitation}
        self._answers: dict[AdapterStack, Mapping[str, str]] = {}
        self._suites: dict[AdapterStack, tuple[SuiteResult, ...]] = {}

    def answers(self, stack: AdapterStack) -> Mapping[str, str]:
        """Greedy ones to the lesson's own prompts, by the item's id. Raises: ScoringStopped, RuntimeFailed."""
        if stack not in self._answers:
            self._answers[stack] = self._answered(self._data.held_out, stack)
        return self._answers[stack]

    def suites(self, stack: AdapterStack) -> tuple[SuiteResult, ...]:
        """What the gate is told of these adapters. Raises: ScoringStopped, RuntimeFailed."""
        if stack not in self._suites:
            own = (
                self._imitated(stack)
                if self._data.lesson.is_imitation
                else target_suite(self._data, self.answers(stack))
            )
            before = (self._kept(name, data, stack) for name, data in self._earlier.items())
            self._suites[stack] = (own, *before)
        return self._suites[stack]

    def _kept(self, name: str, data: LessonData, stack: AdapterStack) -> SuiteResult:
        items = data.held_out[:_EARLIER_ITEMS]
        answers = self._answered(items, stack)
        results = tuple(
            ItemResult(item.item_id, data.lesson.adheres(item.prompt, answers[item.item_id])) for item in items
        )
        return SuiteResult(f"lesson {name}", "general", suite_hash(data), results)

    def _imitated(self, stack: AdapterStack) -> SuiteResult:
        nats: dict[str, float] = {}
        with Reader(self._bench, stack, self._stop) as reader:
            for item in self._data.held_out:
                answer = reader.answer_tokens(item.wanted)
                (logprobs,) = reader.logprobs(_asked(item.prompt), [answer])
                nats[item.item_id] = max(0.0, -sum(logprobs) / len(answer))
                self._tell(len(nats), len(self._data.held_out))
        return imitation_suite(self._data, nats)

    def _answered(self, items: Sequence[HeldOutItem], stack: AdapterStack) -> dict[str, str]:
        found: dict[str, str] = {}
        with Reader(self._bench, stack, self._stop) as reader:
            for start in range(0, len(items), TOGETHER):
                batch = items[start : start + TOGETHER]
                written = reader.write([(_asked(item.prompt), ANSWER_TOKENS) for item in batch])
                found |= {item.item_id: answer.text for item, answer in zip(batch, written, strict=True)}
                self._tell(len(found), len(items))
        return found


def sampled(
    bench: Bench, requests: Sequence[SamplingRequest], stop: Stop, tell: TellDone
) -> dict[str, tuple[str, ...]]:
    """What the expert, as it came, answers to the practice prompts. Raises: ScoringStopped, RuntimeFailed."""
    asked = [(request, number) for request in requests for number in range(request.samples)]
    found: dict[str, tuple[str, ...]] = {}
    with Reader(bench, bench.stack(), stop) as reader:
        for start in range(0, len(asked), TOGETHER):
            batch = asked[start : start + TOGETHER]
            samplings = [
                Sampling(temperature=request.temperature, seed=_SEED + start + place)
                for place, (request, _) in enumerate(batch)
            ]
            written = reader.write([(_asked(request.text), request.max_tokens) for request, _ in batch], samplings)
            for (request, _), answer in zip(batch, written, strict=True):
                found[request.practice_id] = (*found.get(request.practice_id, ()), answer.text)
            tell(start + len(batch), len(asked))
    return found


def _asked(text: str) -> tuple[EvaluationMessage, ...]:
    return (EvaluationMessage("user", text),)
