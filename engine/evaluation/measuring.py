"""Measure an adapter with suites: which of given answers it finds likelier, and whether its own pass their checks.

Every adapter reads the same prompts in the same order, so that results can be compared item by item. What follows from
them is the gate's to say.
"""

from collections.abc import Callable, Sequence
from typing import Final

from engine.adapters.gate.inputs import AdapterResults, ItemResult, SuiteResult
from engine.evaluation.reading import TOGETHER, Bench, Reader
from engine.evaluation.remembering import Remembered, key_of
from engine.evaluation.suites import ChoiceItem, Suite, WrittenItem, passes
from engine.runtime.protocol import NEVER, AdapterStack, Stop

VERSION: Final = 2
"""Rises whenever the same items could come out otherwise; results of another version are measured again."""

Tell = Callable[[str, int, int], None]
"""Told which suite is measured, how many items of all suites are done, and how many there are."""


def tell_nobody(_suite: str, _done: int, _total: int) -> None:
    """For those who do not wait."""


def measure(
    bench: Bench,
    stack: AdapterStack,
    suites: Sequence[Suite],
    *,
    content_hash: str,
    remembered: Remembered | None = None,
    stop: Stop = NEVER,
    tell: Tell = tell_nobody,
) -> AdapterResults:
    """How the expert does under `stack`, all the adapters of it; `content_hash` is of the one that is measured.

    With `remembered`, suites that were measured before are not measured again, and new results are kept there.

    Raises: ScoringStopped when `stop` was set, ContextOverflow, AdapterMismatch, BadModelFile; RuntimeFailed, also
    where the adapter computes no numbers.
    """
    total = sum(len(suite.items) for suite in suites)
    done = 0
    found: list[SuiteResult] = []
    for suite in suites:
        key = _key(bench, stack, suite)
        result = None if remembered is None else remembered.find(key, SuiteResult)
        if result is None:
            result = _measure_suite(bench, stack, suite, stop, _from(tell, suite.name, done, total))
            if remembered is not None:
                remembered.keep(key, result)
        found.append(result)
        done += len(suite.items)
        tell(suite.name, done, total)
    return AdapterResults(content_hash, tuple(found))


def is_remembered(bench: Bench, stack: AdapterStack, suites: Sequence[Suite], remembered: Remembered) -> bool:
    """Whether `measure` would measure none of them again."""
    return all(remembered.find(_key(bench, stack, suite), SuiteResult) is not None for suite in suites)


def _key(bench: Bench, stack: AdapterStack, suite: Suite) -> str:
    return key_of(bench, stack, f"suite {VERSION} {suite.name} {suite.role}", suite.content_hash)


def _from(tell: Tell, name: str, done: int, total: int) -> Callable[[int], None]:
    """What a suite tells of its own items, as told of those of all suites."""
    return lambda count: tell(name, done + count, total)


def _measure_suite(
    bench: Bench, stack: AdapterStack, suite: Suite, stop: Stop, tell: Callable[[int], None]
) -> SuiteResult:
    """A suite is measured as if it was the only one, since another time the others may be remembered."""
    found: dict[str, ItemResult] = {}
    written = [item for item in suite.items if isinstance(item, WrittenItem)]
    with Reader(bench, stack, stop) as reader:
        for item in suite.items:
            if isinstance(item, ChoiceItem):
                tell(len(found))
                found[item.item_id] = _read(item, reader)
        for start in range(0, len(written), TOGETHER):
            tell(len(found))
            found.update((result.item_id, result) for result in _write(written[start : start + TOGETHER], reader))
    return SuiteResult(suite.name, suite.role, suite.content_hash, tuple(found[item.item_id] for item in suite.items))


def _read(item: ChoiceItem, reader: Reader) -> ItemResult:
    """Right when the right answer as a whole is likelier than every wrong one."""
    answers = [reader.answer_tokens(text) for text in (item.right, *item.wrong)]
    logprobs = reader.logprobs(item.messages, answers)
    right, *wrong = map(sum, logprobs)
    # With its end an answer has two tokens or more.
    nats, continued = _nats(logprobs[0]), _nats(logprobs[0][1:])
    return ItemResult(item.item_id, right > max(wrong), nats, item.group, continued)


def _nats(logprobs: Sequence[float]) -> float:
    """A token. A sum of what is rounded may end a hair above 0, which no loss can be."""
    return max(0.0, -sum(logprobs) / len(logprobs))


def _write(items: Sequence[WrittenItem], reader: Reader) -> Sequence[ItemResult]:
    answers = reader.write([(item.messages, item.max_tokens) for item in items])
    return [
        ItemResult(item.item_id, passes(item, answer.text), group=item.group)
        for item, answer in zip(items, answers, strict=True)
    ]
