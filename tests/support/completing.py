"""Drive a real runtime in tests: load one, complete a prompt, and compare two completions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.runtime.identity import adapter_ref
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import (
    AdapterStack,
    Finished,
    LoadPlan,
    Prefilled,
    Request,
    Runtime,
    Sampling,
    Token,
    Usage,
)


@dataclass(frozen=True, slots=True)
class Completion:
    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    text: str
    usage: Usage
    reason: str


@contextmanager
def loaded(base: Path, **plan: Any) -> Iterator[LlamaRuntime]:
    """A runtime with small budgets, closed at the end."""
    defaults = {"context_tokens": 2048, "pool_tokens": 4096, "threads": 1}
    runtime = LlamaRuntime()
    try:
        runtime.load(LoadPlan(str(base), **{**defaults, **plan}))
        yield runtime
    finally:
        runtime.close()


def stack(*adapters: Path, scale: float = 1.0) -> AdapterStack:
    return tuple(adapter_ref(adapter, scale) for adapter in adapters)


def complete(
    runtime: Runtime, tokens: Sequence[int], adapters: AdapterStack = (), *, max_tokens: int = 8, **options: Any
) -> Completion:
    """Greedy unless `sampling` says otherwise, with log-probabilities."""
    options = {"sampling": Sampling(), "logprobs": 0, **options}
    (result,) = complete_all(runtime, [Request(tuple(tokens), max_tokens, adapters, **options)])
    return result


def complete_all(runtime: Runtime, requests: Sequence[Request]) -> list[Completion]:
    tokens: list[list[Token]] = [[] for _ in requests]
    ends: dict[int, Finished] = {}
    for piece in runtime.generate(requests):
        match piece:
            case Token():
                tokens[piece.index].append(piece)
            case Finished():
                ends[piece.index] = piece
            case Prefilled():
                pass
    return [
        Completion(
            tuple(piece.token for piece in pieces),
            tuple(piece.logprob or 0.0 for piece in pieces),
            "".join(piece.text for piece in pieces) + ends[index].text,
            ends[index].usage,
            ends[index].reason,
        )
        for index, pieces in enumerate(tokens)
    ]


def largest_gap(left: Completion, right: Completion) -> float:
    """Largest difference of log-probabilities, in nats, over the tokens both begin with; infinite when none are."""
    common = 0
    while common < min(len(left.tokens), len(right.tokens)) and left.tokens[common] == right.tokens[common]:
        common += 1
    if common == 0:
        return float("inf")
    return max(abs(a - b) for a, b in zip(left.logprobs[:common], right.logprobs[:common], strict=True))


def mean_gap(left: Sequence[float], right: Sequence[float]) -> float:
    """Mean difference of two lists of log-probabilities of the same tokens, in nats."""
    return sum(abs(a - b) for a, b in zip(left, right, strict=True)) / len(left)
