"""Examples that begin alike, so that what they share is read once: by tokens alone, in the order they come in. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from engine.runtime.protocol import Tokens
from local_training.runs.inputs import TokenExample

_SHARED: Final = 0.5
"""Of the shorter prompt, at the least: sharing less saves little."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Examples whose prompts begin with `head`."""

    head: Tokens
    examples: tuple[TokenExample, ...]

    @property
    def rests(self) -> tuple[Tokens, ...]:
        """What follows the head in each prompt; of an example alone, and where prompts are equal, nothing."""
        return tuple(example.prompt[len(self.head) :] for example in self.examples)


def by_head(examples: Sequence[TokenExample]) -> tuple[Pack, ...]:
    """All of them once, those with equal beginnings together; the same for the same examples in any order."""
    packs: list[Pack] = []
    for example in sorted(examples, key=lambda one: (one.prompt, one.answer, one.example_id)):
        joined = _joined(packs[-1], example) if packs else None
        if joined is None:
            packs.append(_alone(example))
        else:
            packs[-1] = joined
    return tuple(packs)


def runs_of(examples: Sequence[TokenExample], longest: int) -> tuple[tuple[TokenExample, ...], ...]:
    """In their order, cut where the beginning changes and after `longest` of them."""
    packs: list[Pack] = []
    for example in examples:
        is_full = not packs or len(packs[-1].examples) >= longest
        joined = None if is_full else _joined(packs[-1], example)
        if joined is None:
            packs.append(_alone(example))
        else:
            packs[-1] = joined
    return tuple(pack.examples for pack in packs)


def _alone(example: TokenExample) -> Pack:
    return Pack(example.prompt, (example,))


def _joined(pack: Pack, example: TokenExample) -> Pack | None:
    """With the example, where it shares enough."""
    both = zip(pack.head, example.prompt, strict=False)
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], both)))
    shortest = min(len(one.prompt) for one in (*pack.examples, example))
    return Pack(pack.head[:shared], (*pack.examples, example)) if shared and shared >= _SHARED * shortest else None
