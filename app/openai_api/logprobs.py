"""Log-probabilities as the API shows them: each token with its bytes, which may be part of a character.

Knows tokens and their bytes, no endpoint.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from engine.runtime.protocol import Token, Tokens

PiecesOf = Callable[[Sequence[int]], tuple[bytes, ...]]

LEAST_LOGPROB: Final = -9999.0
"""What the API writes for a token that has no chance at all."""


def logprobs_of(tokens: Sequence[Token], pieces_of: PiecesOf) -> list[dict[str, Any]]:
    """One entry per token, in nats. Asks for the bytes of all tokens at once."""
    wanted: Tokens = tuple(sorted({number for token in tokens for number in _numbers(token)}))
    pieces = dict(zip(wanted, pieces_of(wanted), strict=True)) if wanted else {}
    return [
        {
            **_entry(pieces[token.token], token.logprob or 0.0),
            "top_logprobs": [_entry(pieces[number], logprob) for number, logprob in token.top],
        }
        for token in tokens
    ]


def _numbers(token: Token) -> Iterable[int]:
    return (token.token, *(number for number, _ in token.top))


def _entry(piece: bytes, logprob: float) -> dict[str, Any]:
    return {
        "token": piece.decode("utf-8", "replace"),
        "logprob": max(logprob, LEAST_LOGPROB),
        "bytes": list(piece),
    }
