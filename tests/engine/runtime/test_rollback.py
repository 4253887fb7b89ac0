"""Going back on a recurrent base: its state cannot be cut, so it must come from a snapshot, exactly.

On the tiny Qwen3.5-MoE, whose gated-delta layers llama.cpp refuses to roll back by even one token.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import AdapterStack, Tokens
from tests.support.completing import Completion, complete, largest_gap, loaded, stack

pytestmark = pytest.mark.model

TOLERANCE_NATS = 0.02


@pytest.fixture
def runtime(tiny_moe: Path) -> Iterator[LlamaRuntime]:
    with loaded(tiny_moe) as runtime:
        yield runtime


@pytest.fixture(params=range(2), ids=["first adapter", "second adapter"])
def adapters(request: pytest.FixtureRequest, tiny_moe_adapters: tuple[Path, ...]) -> AdapterStack:
    return stack(tiny_moe_adapters[request.param])


def turn(number: int) -> Tokens:
    """The tokens of a turn of 30; any ids of the tiny vocabulary will do."""
    return tuple((37 * number + 11 * position) % 500 + 1 for position in range(30))


def cold(base: Path, tokens: Tokens, adapters: AdapterStack) -> Completion:
    with loaded(base) as runtime:
        return complete(runtime, tokens, adapters)


def talk(runtime: LlamaRuntime, adapters: AdapterStack, turns: int = 3) -> tuple[Tokens, list[int]]:
    """A conversation: all tokens up to the last answer, and where each turn begins."""
    tokens: Tokens = ()
    boundaries: list[int] = []
    for number in range(turns):
        boundaries.append(len(tokens))
        tokens += turn(number)
        answer = complete(runtime, tokens, adapters, cache_key="talk", snapshot_at=tuple(boundaries))
        tokens += answer.tokens
    return tokens, boundaries


def test_the_base_needs_snapshots(tiny_moe: Path, starter_base: Path) -> None:
    from engine.runtime.protocol import LoadPlan

    runtime = LlamaRuntime()
    try:
        assert runtime.load(LoadPlan(str(tiny_moe), pool_tokens=2048)).needs_snapshots
        assert not runtime.load(LoadPlan(str(starter_base), pool_tokens=2048)).needs_snapshots
    finally:
        runtime.close()


def test_an_edit_of_an_earlier_turn_goes_back_to_its_beginning(
    runtime: LlamaRuntime, tiny_moe: Path, adapters: AdapterStack
) -> None:
    tokens, boundaries = talk(runtime, adapters)
    edited = (*tokens[: boundaries[1]], *turn(7))

    answer = complete(runtime, edited, adapters, cache_key="talk", snapshot_at=tuple(boundaries[:2]))

    assert answer.usage.reused_tokens == boundaries[1]
    assert largest_gap(answer, cold(tiny_moe, edited, adapters)) <= TOLERANCE_NATS


def test_regenerating_the_last_turn_goes_back_to_its_beginning(
    runtime: LlamaRuntime, tiny_moe: Path, adapters: AdapterStack
) -> None:
    tokens, boundaries = talk(runtime, adapters)
    again = (*tokens[: boundaries[2]], *turn(2))

    answer = complete(runtime, again, adapters, cache_key="talk", snapshot_at=tuple(boundaries))

    assert answer.usage.reused_tokens == boundaries[2]
    assert largest_gap(answer, cold(tiny_moe, again, adapters)) <= TOLERANCE_NATS


def test_going_on_needs_no_snapshot(runtime: LlamaRuntime, tiny_moe: Path, adapters: AdapterStack) -> None:
    tokens, _ = talk(runtime, adapters)
    longer = (*tokens, *turn(5))

    answer = complete(runtime, longer, adapters, cache_key="talk")

    assert answer.usage.reused_tokens == len(tokens) - 1
    assert largest_gap(answer, cold(tiny_moe, longer, adapters)) <= TOLERANCE_NATS


def test_without_a_snapshot_everything_is_read_again(
    runtime: LlamaRuntime, tiny_moe: Path, adapters: AdapterStack
) -> None:
    whole = (*turn(0), *turn(1))
    complete(runtime, whole, adapters, cache_key="talk")
    other = (*turn(0), *turn(2))

    answer = complete(runtime, other, adapters, cache_key="talk")

    assert answer.usage.reused_tokens == 0
    assert largest_gap(answer, cold(tiny_moe, other, adapters)) <= TOLERANCE_NATS


def test_another_conversation_forks_the_common_beginning(
    runtime: LlamaRuntime, tiny_moe: Path, adapters: AdapterStack
) -> None:
    tokens, boundaries = talk(runtime, adapters)
    other = (*tokens[: boundaries[1]], *turn(8))

    forked = complete(runtime, other, adapters, cache_key="other")
    back = complete(runtime, (*tokens, *turn(3)), adapters, cache_key="talk")

    assert forked.usage.reused_tokens == boundaries[1]
    assert largest_gap(forked, cold(tiny_moe, other, adapters)) <= TOLERANCE_NATS
    assert back.usage.reused_tokens == len(tokens) - 1, "the fork left the first conversation as it was"
    assert largest_gap(back, cold(tiny_moe, (*tokens, *turn(3)), adapters)) <= TOLERANCE_NATS


def test_going_back_works_after_the_view_was_parked(tiny_moe: Path, adapters: AdapterStack) -> None:
    with loaded(tiny_moe, max_views=2) as runtime:
        tokens, boundaries = talk(runtime, adapters)
        for number in range(3):
            complete(runtime, turn(20 + number), adapters, cache_key=f"other-{number}")
        assert all(key != "talk" for key, _ in runtime.views()), "it was parked"
        edited = (*tokens[: boundaries[1]], *turn(7))

        answer = complete(runtime, edited, adapters, cache_key="talk")

    assert answer.usage.reused_tokens == boundaries[1]
    assert largest_gap(answer, cold(tiny_moe, edited, adapters)) <= TOLERANCE_NATS


def test_snapshots_keep_to_their_budget(tiny_moe: Path, adapters: AdapterStack) -> None:
    with loaded(tiny_moe, snapshot_bytes=1) as runtime:
        tokens, boundaries = talk(runtime, adapters)
        again = (*tokens[: boundaries[1]], *turn(7))
        answer = complete(runtime, again, adapters, cache_key="talk")
    assert answer.usage.reused_tokens == 0
    assert largest_gap(answer, cold(tiny_moe, again, adapters)) <= TOLERANCE_NATS


def test_an_aborted_read_leaves_no_half_read_state(tiny_moe: Path, adapters: AdapterStack) -> None:
    class AfterSome:
        """Set after it was looked at a few times, in the middle of the prompt."""

        looks = 0

        def is_set(self) -> bool:
            self.looks += 1
            return self.looks > 3

    from engine.runtime.protocol import Request

    prompt = tuple(token for number in range(20) for token in turn(number))
    with loaded(tiny_moe, micro_batch_tokens=64) as runtime:
        pieces = list(runtime.generate([Request(prompt, 4, adapters, cache_key="talk")], AfterSome()))
        assert pieces[-1].reason == "stopped"  # type: ignore[union-attr]
        answer = complete(runtime, prompt, adapters, cache_key="talk")
    assert largest_gap(answer, cold(tiny_moe, prompt, adapters)) <= TOLERANCE_NATS
