"""Requests that outlive their child: what was said so far, and what is left to ask of the next one.

Also turns the plain data of the pipe into pieces and vectors. Pure; knows no process.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, cast

import numpy as np

from engine.runtime import wire
from engine.runtime.protocol import Finished, Piece, Prefilled, Request, Token, Tokens, Usage


class Resumable:
    """Requests under way, kept so that another child can go on where one broke off."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = requests
        self._said: list[list[int]] = [[] for _ in requests]
        self._done = [False] * len(requests)
        self._indices: list[int] = list(range(len(requests)))
        self._before = [0] * len(requests)

    @property
    def said_anything(self) -> bool:
        return any(self._said)

    def remaining(self) -> list[Request]:
        """What is left to do, as requests of their own."""
        self._indices = [index for index, done in enumerate(self._done) if not done]
        self._before = [len(said) for said in self._said]
        return [self._rest(index) for index in self._indices]

    def took(self, piece: Piece) -> Piece:
        """The piece as the caller knows it: by its own index, and with what came before a break counted.

        Raises: WireError when it belongs to no request.
        """
        if not 0 <= piece.index < len(self._indices):
            raise wire.WireError(f"a piece came for request {piece.index} of {len(self._indices)}")
        index = self._indices[piece.index]
        if isinstance(piece, Token):
            self._said[index].append(piece.token)
        elif isinstance(piece, Finished):
            self._done[index] = True
            if before := self._before[index]:
                usage = piece.usage
                usage = replace(
                    usage,
                    prompt_tokens=usage.prompt_tokens - before,
                    reused_tokens=min(usage.reused_tokens, usage.prompt_tokens - before),
                    completion_tokens=usage.completion_tokens + before,
                )
                piece = replace(piece, usage=usage)
        return replace(piece, index=index)

    def stopped(self) -> Iterator[Finished]:
        for index, done in enumerate(self._done):
            if not done:
                usage = Usage(len(self._requests[index].tokens), 0, len(self._said[index]))
                yield Finished(index, "stopped", usage)

    def _rest(self, index: int) -> Request:
        request, said = self._requests[index], tuple(self._said[index])
        return replace(
            request,
            tokens=request.tokens + said,
            said=request.said + said,
            max_tokens=request.max_tokens - len(said),
        )


_Top = tuple[tuple[int, float], ...]


def value_from_plain(kind: Any, value: Any, _: bytes) -> Any:
    return wire.from_plain(kind, value)


def vectors_from_plain(shape: Any, block: bytes) -> Any:
    try:
        return np.frombuffer(block, np.float32).reshape(shape).copy()
    except (ValueError, TypeError) as error:
        raise wire.WireError(f"vectors came malformed: {error}") from error


def pieces_from_plain(sizes: Any, block: bytes) -> tuple[bytes, ...]:
    """Byte strings of these sizes, one after the other in `block`."""
    lengths = wire.from_plain(Tokens, sizes)
    if min(lengths, default=0) < 0 or sum(lengths) != len(block):
        raise wire.WireError(f"pieces of {sizes!r:.80} bytes came with {len(block)}")
    ends = list(accumulate(lengths, initial=0))
    return tuple(block[start:end] for start, end in pairwise(ends))


def piece_from_plain(value: Any) -> Piece:
    match value:
        case ["T", int(index), int(token), str(text), float() | int() | None as logprob, list(top)]:
            return Token(index, token, text, logprob, cast(Any, wire.from_plain(_Top, top)))
        case ["P", int(index), int(done), int(total), int(reused)]:
            return Prefilled(index, done, total, reused)
        case ["F", plain]:
            return cast(Finished, wire.from_plain(Finished, plain))
    raise wire.WireError(f"a piece came malformed: {value!r:.80}")
