"""Ask one expert under one stack of adapters: how likely are given answers to it, and what does it answer itself.

Prompts are those that serving would build, but always without a thought before the answer: a given answer begins where
one would begin, and a short one has no room for a thought. Knows neither suites nor what is right.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from engine.errors import RuntimeFailed, ScoringStopped
from engine.evaluation.suites import EvaluationMessage
from engine.harness.encoding import encode_parts
from engine.harness.prompt import Harness, PromptState, UnseenTurn, build, head
from engine.mixture import Mixture
from engine.runtime.protocol import (
    AdapterRef,
    AdapterStack,
    Finished,
    Request,
    Runtime,
    Sampling,
    ScoreRequest,
    Stop,
    Token,
    Tokens,
)

TOGETHER: Final = 8
"""Answers that are written in one batch."""
VIEWS: Final = TOGETHER + 2
"""What a plan must have of `max_views`: a batch, the view whose head it shares, and one to spare."""
_KEY: Final = "evaluation"


@dataclass(frozen=True, slots=True)
class Bench:
    """The expert that is measured, and what it runs on: the same for all adapters that are compared."""

    runtime: Runtime
    mixture: Mixture
    expert: str

    def stack(self, personal: AdapterRef | None = None) -> AdapterStack:
        """What the expert came with, and this on top of it."""
        factory = self.mixture.stacks[self.expert]
        return factory if personal is None else (*factory, personal)

    @property
    def harness(self) -> Harness:
        return replace(self.mixture.harness, thinking=False)


@dataclass(frozen=True, slots=True)
class Written:
    """An answer of the adapter's own."""

    text: str
    tokens: Tokens
    """Those that were drawn, the one that ends the answer included."""


def prompt_of(messages: Sequence[EvaluationMessage], bench: Bench) -> tuple[Tokens, Tokens]:
    """(the head that other prompts share, the whole prompt). A system message takes the place of the expert's own."""
    harness = bench.harness
    if messages[0].role == "system":
        harness = replace(harness, systems={**harness.systems, bench.expert: messages[0].content})
        messages = messages[1:]
    past = tuple(
        UnseenTurn(str(place), messages[place].content, messages[place + 1].content, is_own=True)
        for place in range(0, len(messages) - 1, 2)
    )
    beginning = head(harness, bench.runtime, bench.expert)
    state = PromptState(bench.expert, beginning, (), past, messages[-1].content)
    return beginning, build(state, harness, bench.runtime).tokens


def end_of_answer(bench: Bench) -> Tokens:
    """The token by which the expert says that it has answered; with it a short answer is a whole one."""
    harness = bench.harness
    return encode_parts(harness.chat_format.assistant_close(), bench.runtime, harness.markup)[:1]


class Reader:
    """Every prompt goes on from a view that holds its head and nothing else.

    So the head is read once, and what is computed for an item does not depend on the items before it. Used in a `with`
    statement; the view is dropped at its end.
    """

    def __init__(self, bench: Bench, stack: AdapterStack, stop: Stop) -> None:
        self.bench = bench
        self._stack = stack
        self._stop = stop
        self._head: Tokens = ()
        self._end = end_of_answer(bench)

    def __enter__(self) -> "Reader":
        self.bench.runtime.drop(_KEY)
        return self

    def __exit__(self, *_: object) -> None:
        self.bench.runtime.drop(_KEY)

    def answer_tokens(self, text: str) -> Tokens:
        return (*self.bench.runtime.encode(text), *self._end)

    def logprobs(
        self, messages: Sequence[EvaluationMessage], answers: Sequence[Tokens]
    ) -> tuple[tuple[float, ...], ...]:
        """Of every token of each answer, in nats. Raises: ScoringStopped, ContextOverflow, RuntimeFailed."""
        self._check_stop()
        tokens = self._prompt(messages)
        found = self.bench.runtime.score(ScoreRequest(tokens, tuple(answers), self._stack), self._stop).logprobs
        if not all(math.isfinite(value) for values in found for value in values):
            raise RuntimeFailed(
                "The model computed no numbers: its base or an adapter holds invalid weights.",
                "Get the file again, or go on without that adapter.",
            )
        return found

    def write(
        self, asked: Sequence[tuple[Sequence[EvaluationMessage], int]], samplings: Sequence[Sampling] = ()
    ) -> list[Written]:
        """Answers to (messages, most tokens), in one batch; greedy ones where no `samplings` are given.

        Raises: ScoringStopped, ContextOverflow, RuntimeFailed.
        """
        self._check_stop()
        drawn = samplings or [Sampling()] * len(asked)
        requests = [
            Request(self._prompt(messages), most, self._stack, sampling)
            for (messages, most), sampling in zip(asked, drawn, strict=True)
        ]
        texts: list[str] = [""] * len(requests)
        tokens: list[Tokens] = [()] * len(requests)
        for piece in self.bench.runtime.generate(requests, self._stop):
            if isinstance(piece, Token):
                texts[piece.index] += piece.text
                tokens[piece.index] += (piece.token,)
            elif isinstance(piece, Finished):
                if piece.reason == "stopped":
                    raise _stopped()
                texts[piece.index] += piece.text
        return [Written(text, own) for text, own in zip(texts, tokens, strict=True)]

    def _prompt(self, messages: Sequence[EvaluationMessage]) -> Tokens:
        beginning, tokens = prompt_of(messages, self.bench)
        if beginning and beginning != self._head:
            # A request leaves in its view what it read: nothing but the head, whatever the one token is that it writes.
            request = Request(beginning, 1, self._stack, cache_key=_KEY, snapshot_at=(len(beginning),))
            for _ in self.bench.runtime.generate([request], self._stop):
                pass
            self._head = beginning
        return tokens

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise _stopped()


def _stopped() -> ScoringStopped:
    return ScoringStopped("Stopped before everything was measured.", "Measure again; what is complete is remembered.")
