"""What one adapter computed never serves another: a warm switch equals a cold run, for every ordered pair.

Equal to the bit wherever the tokens were decoded in the same batches, coming back to a view included. In batches of
another size llama.cpp's kernels add in another order: next to nothing on an F32 base, and on the starter, whose
activations are rounded to 8 bits, 0.01 to 0.04 nats a token, without any adapter too. The last test commits the fault
itself, so that these tests are known to see it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from engine.errors import NoNumbers
from engine.runtime import decoding
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import AdapterStack, ScoreRequest, Tokens
from tests.support.adapters import write_random_adapter
from tests.support.completing import Completion, complete, largest_gap, loaded, mean_gap, stack
from tests.support.evaluating import nan_adapter

pytestmark = pytest.mark.model

PAIRS = list(permutations(range(4), 2))
TOLERANCE_NATS = {"starter": 0.06, "tiny_moe": 0.02}
"""Mean per token between one read and the same tokens in batches of other sizes: the rounding of each base."""
CONTAMINATION_NATS = 0.2
AGAIN: dict[str, Any] = {"cache_key": "view", "snapshot_at": (39,)}
"""The same prompt of 40 tokens again: a recurrent base can go back only to where it was told to."""


class Bench:
    """One base with four adapters, and what each of them says when it never met another."""

    def __init__(self, name: str, base: Path, adapters: Sequence[Path]) -> None:
        self.name = name
        self.base = base
        self.stacks: list[AdapterStack] = [stack(adapter) for adapter in adapters]
        self.alone = [self._alone(adapters) for adapters in self.stacks]
        """Per adapter: its answers to the shared and to the grown prompt, in a runtime that serves nothing else."""
        self.cold = [self._cold(*both) for both in zip(self.stacks, self.alone, strict=True)]
        """Per adapter: log-probabilities of the second answer, read at once by a runtime that saw nothing before."""

    def _alone(self, adapters: AdapterStack) -> tuple[Completion, Completion]:
        with loaded(self.base) as runtime:
            first = complete(runtime, prompt(runtime), adapters, cache_key="first")
            return first, complete(runtime, grown(runtime, first), adapters, cache_key="first", max_tokens=32)

    def _cold(self, adapters: AdapterStack, answers: tuple[Completion, Completion]) -> tuple[float, ...]:
        first, second = answers
        with loaded(self.base) as runtime:
            return score(runtime, grown(runtime, first), second.tokens, adapters)


@pytest.fixture(scope="module", params=["starter", "tiny_moe"])
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    base = request.getfixturevalue("starter_base" if request.param == "starter" else "tiny_moe")
    folder = tmp_path_factory.mktemp("adapters")
    # About as strong as trained ones; much stronger ones make a chaos of the starter in which nothing can be compared.
    strength = 0.05 if request.param == "starter" else 0.15
    paths = [write_random_adapter(base, folder / f"{seed}.gguf", seed=seed, strength=strength) for seed in range(4)]
    return Bench(request.param, base, paths)


@pytest.fixture
def warm(bench: Bench) -> Iterator[LlamaRuntime]:
    with loaded(bench.base) as runtime:
        yield runtime


def prompt(runtime: LlamaRuntime, length: int = 40) -> Tokens:
    text = "Every expert reads the same words and makes something of its own of them. 专家们读同样的话。" * 4
    return runtime.encode(text)[:length]


def grown(runtime: LlamaRuntime, answer: Completion) -> Tokens:
    return (*prompt(runtime), *answer.tokens, *prompt(runtime, 12))


def score(
    runtime: LlamaRuntime, tokens: Tokens, label: Tokens, adapters: AdapterStack, key: str = ""
) -> tuple[float, ...]:
    return runtime.score(ScoreRequest(tokens, (label,), adapters, cache_key=key)).logprobs[0]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_warm_switch_equals_a_cold_run(bench: Bench, warm: LlamaRuntime, first: int, second: int) -> None:
    one = complete(warm, prompt(warm), bench.stacks[first], cache_key="first")

    other = complete(warm, prompt(warm), bench.stacks[second], cache_key="second")

    cold, _ = bench.alone[second]
    assert other.usage.reused_tokens == 0
    assert (other.tokens, other.logprobs) == (cold.tokens, cold.logprobs)
    assert one.logprobs != other.logprobs, "adapters this alike could not show contamination"


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_coming_back_to_a_view_reads_only_its_tail_and_changes_nothing(
    bench: Bench, warm: LlamaRuntime, first: int, second: int
) -> None:
    one = complete(warm, prompt(warm), bench.stacks[first], cache_key="first")
    complete(warm, prompt(warm), bench.stacks[second], cache_key="second")

    back = complete(warm, grown(warm, one), bench.stacks[first], cache_key="first", max_tokens=32)

    # The last sampled token was never decoded, so it belongs to the tail.
    assert back.usage.reused_tokens == len(prompt(warm)) + len(one.tokens) - 1
    _, alone = bench.alone[first]
    assert (back.tokens, back.logprobs) == (alone.tokens, alone.logprobs)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_coming_back_to_a_view_agrees_with_reading_it_anew(
    bench: Bench, warm: LlamaRuntime, first: int, second: int
) -> None:
    one = complete(warm, prompt(warm), bench.stacks[first], cache_key="first")
    complete(warm, prompt(warm), bench.stacks[second], cache_key="second")
    _, answer = bench.alone[first]

    back = score(warm, grown(warm, one), answer.tokens, bench.stacks[first], "first")

    assert mean_gap(back, bench.cold[first]) <= TOLERANCE_NATS[bench.name]


def test_a_stack_of_two_is_neither_of_its_parts(bench: Bench, warm: LlamaRuntime) -> None:
    shared = prompt(warm)
    both = (*bench.stacks[0], *bench.stacks[1])

    alone = complete(warm, shared, bench.stacks[0], **AGAIN)
    stacked = complete(warm, shared, both, **AGAIN)
    swapped = complete(warm, shared, both[::-1], **AGAIN)

    assert stacked.usage.reused_tokens == 0
    assert stacked.logprobs != alone.logprobs
    assert swapped.usage.reused_tokens == len(shared) - 1, "the order of a stack means nothing"


@pytest.mark.parametrize("way", ["writing", "reading"])
def test_an_adapter_that_computes_no_numbers_spoils_nothing_after_it(
    bench: Bench, warm: LlamaRuntime, tmp_path: Path, way: str
) -> None:
    broken = stack(nan_adapter(bench.base, tmp_path / "nan.gguf"))
    complete(warm, prompt(warm), bench.stacks[0], cache_key="first")

    with pytest.raises(NoNumbers):
        if way == "writing":
            complete(warm, prompt(warm), broken, cache_key="broken")
        else:
            score(warm, prompt(warm), prompt(warm, 8), broken, "broken")

    assert warm.views() == ()
    after = complete(warm, prompt(warm), bench.stacks[1], cache_key="second")
    alone, _ = bench.alone[1]
    assert (after.tokens, after.logprobs) == (alone.tokens, alone.logprobs)


def test_a_scale_makes_another_view(bench: Bench, warm: LlamaRuntime) -> None:
    shared = prompt(warm)
    (adapter,) = bench.stacks[0]
    bare = complete(warm, shared, (), **AGAIN)

    whole = complete(warm, shared, (adapter,), **AGAIN)
    halved = complete(warm, shared, (replace(adapter, scale=0.5),), **AGAIN)
    switched_off = complete(warm, shared, (replace(adapter, scale=0.0),), **AGAIN)

    assert halved.usage.reused_tokens == 0
    assert halved.logprobs != whole.logprobs
    assert switched_off.usage.reused_tokens == len(shared) - 1
    assert switched_off.tokens == bare.tokens


def test_keying_views_by_tokens_alone_contaminates(
    bench: Bench, warm: LlamaRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault that these tests are there to catch, made on purpose: they must be able to see it."""
    monkeypatch.setattr(decoding, "stack_key", lambda stack: ())
    complete(warm, prompt(warm), bench.stacks[0], **AGAIN)

    contaminated = complete(warm, prompt(warm), bench.stacks[1], **AGAIN)

    assert contaminated.usage.reused_tokens == len(prompt(warm)) - 1
    cold, _ = bench.alone[1]
    assert contaminated.tokens != cold.tokens or largest_gap(contaminated, cold) >= CONTAMINATION_NATS
