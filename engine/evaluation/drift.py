"""How far an adapter moved on general requests, which nobody wanted changed, from the champion and from the factory.

Three things, over the same requests: how likely given answers are, how long own answers become, and how unlike those
that the reference draws (KL, estimated from what it drew; a runtime gives no whole distributions).
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Final

from engine.adapters.gate.inputs import GeneralDrift
from engine.evaluation.measuring import Tell, tell_nobody
from engine.evaluation.reading import TOGETHER, Bench, Reader
from engine.evaluation.remembering import Remembered, key_of
from engine.evaluation.suites import EvaluationMessage, GeneralText
from engine.runtime.protocol import NEVER, AdapterStack, Sampling, Stop, Tokens

VERSION: Final = 1
"""As that of `engine.evaluation.measuring`."""
MOST_TOKENS: Final = 64
"""Of an answer that is drawn, and of one whose length is measured."""
NAME: Final = "drift"
"""What progress is told under, in the place of a suite."""
_SEED: Final = 20_000


@dataclass(frozen=True, slots=True)
class Stretch:
    """One answer drawn at temperature 1, and how likely each of its tokens was to the adapter that drew it."""

    tokens: Tokens
    logprobs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class General:
    """One adapter on all requests."""

    nats: float
    """Negative log-likelihood a token of the given answers."""
    answer_tokens: float
    """Mean length of greedy answers, of which long ones are cut."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An adapter that others are held against, with an answer of its own to every request."""

    general: General
    stretches: tuple[Stretch, ...]


def measure_drift(
    bench: Bench,
    texts: Sequence[GeneralText],
    candidate: AdapterStack,
    champion: AdapterStack,
    factory: AdapterStack,
    *,
    remembered: Remembered | None = None,
    stop: Stop = NEVER,
    tell: Tell = tell_nobody,
) -> GeneralDrift:
    """Of the candidate; references that are `remembered` are not measured again.

    Raises: as `engine.evaluation.measuring.measure`.
    """
    counter = _Counter(tell, len(texts) * (7 if champion == factory else 12))
    before = _reference(bench, texts, factory, remembered, stop, counter)
    now = before if champion == factory else _reference(bench, texts, champion, remembered, stop, counter)
    with Reader(bench, candidate, stop) as reader:
        general = _general(reader, texts, counter)
        from_factory = _kl(reader, texts, before.stretches, counter)
        from_champion = from_factory if now is before else _kl(reader, texts, now.stretches, counter)
    return GeneralDrift(
        prompts=len(texts),
        kl_from_champion_nats=from_champion,
        kl_from_factory_nats=from_factory,
        candidate_nats=general.nats,
        champion_nats=now.general.nats,
        factory_nats=before.general.nats,
        candidate_tokens=general.answer_tokens,
        champion_tokens=now.general.answer_tokens,
    )


def measure_reference(
    bench: Bench,
    texts: Sequence[GeneralText],
    stack: AdapterStack,
    *,
    remembered: Remembered,
    stop: Stop = NEVER,
    tell: Tell = tell_nobody,
) -> None:
    """Measure an adapter that others will be held against, and remember it. Raises: as `measure_drift`."""
    _reference(bench, texts, stack, remembered, stop, _Counter(tell, 4 * len(texts)))


class _Counter:
    """Counts answers that were read or written."""

    def __init__(self, tell: Tell, total: int) -> None:
        self._tell, self._total, self._done = tell, total, 0

    def add(self, count: int) -> None:
        self._done += count
        self._tell(NAME, min(self._done, self._total), self._total)


def _reference(
    bench: Bench,
    texts: Sequence[GeneralText],
    stack: AdapterStack,
    remembered: Remembered | None,
    stop: Stop,
    counter: _Counter,
) -> Reference:
    key = key_of(bench, stack, f"drift {VERSION}", _content_hash(texts))
    known = None if remembered is None else remembered.find(key, Reference)
    if known is not None and len(known.stretches) == len(texts):
        counter.add(4 * len(texts))
        return known
    with Reader(bench, stack, stop) as reader:
        reference = Reference(_general(reader, texts, counter), _draw(reader, texts, counter))
    if remembered is not None:
        remembered.keep(key, reference)
    return reference


def _general(reader: Reader, texts: Sequence[GeneralText], counter: _Counter) -> General:
    logprobs: list[float] = []
    for text in texts:
        logprobs += reader.logprobs(_asked(text), [reader.answer_tokens(text.answer)])[0]
        counter.add(1)
    lengths: list[int] = []
    for start in range(0, len(texts), TOGETHER):
        batch = texts[start : start + TOGETHER]
        lengths += [len(answer.tokens) for answer in reader.write([(_asked(text), MOST_TOKENS) for text in batch])]
        counter.add(len(batch))
    return General(-fmean(logprobs), fmean(lengths))


def _draw(reader: Reader, texts: Sequence[GeneralText], counter: _Counter) -> tuple[Stretch, ...]:
    """An answer to every request.

    How likely its tokens are is read afterwards, and not taken from the drawing: candidates read them too, and numbers
    that are computed in the same way differ by nothing but the adapter.
    """
    found: list[Stretch] = []
    for start in range(0, len(texts), TOGETHER):
        batch = texts[start : start + TOGETHER]
        samplings = [Sampling(temperature=1.0, seed=_SEED + start + place) for place in range(len(batch))]
        answers = reader.write([(_asked(text), MOST_TOKENS) for text in batch], samplings)
        counter.add(len(batch))
        for text, answer in zip(batch, answers, strict=True):
            (logprobs,) = reader.logprobs(_asked(text), [answer.tokens])
            found.append(Stretch(answer.tokens, logprobs))
            counter.add(1)
    return tuple(found)


def _kl(reader: Reader, texts: Sequence[GeneralText], stretches: Sequence[Stretch], counter: _Counter) -> float:
    """KL(reference || candidate), a token: the mean of k3, which is never below 0."""
    found: list[float] = []
    for text, stretch in zip(texts, stretches, strict=True):
        (logprobs,) = reader.logprobs(_asked(text), [stretch.tokens])
        for mine, theirs in zip(logprobs, stretch.logprobs, strict=True):
            # Below 0 it can only be rounded to.
            found.append(max(0.0, math.expm1(mine - theirs) - (mine - theirs)))
        counter.add(1)
    return fmean(found)


def _asked(text: GeneralText) -> tuple[EvaluationMessage, ...]:
    return (EvaluationMessage("user", text.request),)


def _content_hash(texts: Sequence[GeneralText]) -> str:
    return hashlib.sha256(json.dumps([asdict(text) for text in texts], sort_keys=True).encode()).hexdigest()
