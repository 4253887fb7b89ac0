"""A Runtime that says what a test tells it to, over a toy vocabulary of one token per character.

For the logic of a turn only: nothing is computed. It counts reused tokens as a real prefix cache does, so that a prompt
that does not begin with what its view already read is seen in the figures. Knows no messages and no experts.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.errors import AgentError, ContextOverflow, RuntimeFailed, ScoringStopped
from engine.runtime.protocol import (
    NEVER,
    AdapterStack,
    Finished,
    FinishReason,
    LoadPlan,
    ModelInfo,
    Piece,
    Prefilled,
    Request,
    ScoreRequest,
    Scores,
    Stop,
    Token,
    Tokens,
    Usage,
)

if TYPE_CHECKING:
    import numpy as np

START, END = 1, 2
MARKUP = {"<|im_start|>": START, "<|im_end|>": END, "<bos>": 3, "<start_of_turn>": 4, "<end_of_turn>": 5}
FIRST_CHARACTER = 100
"""The token of a character is its code point plus this."""
READ_AT_ONCE = 64
"""Prompt tokens between two looks at the stop flag."""
PREFERRED_NATS, OTHER_NATS = -0.25, -5.0

_TEXTS = {token: text for text, token in MARKUP.items()}


@dataclass(frozen=True, slots=True)
class _Saying:
    text: str
    held_back: str = ""
    reason: FinishReason = "eos"
    error: AgentError | None = None


@dataclass
class ScriptedRuntime:
    """`requests` and `score_requests` are all that was asked, in order."""

    context_tokens: int = 1 << 20
    requests: list[Request] = field(default_factory=list)
    score_requests: list[ScoreRequest] = field(default_factory=list)
    on_request: Callable[[], None] = lambda: None
    """Called at the start of every `generate` and `score`, before anything else."""
    ended: int = 0
    """How many requests are over, whether they were completed, stopped or given up."""

    def __post_init__(self) -> None:
        self._sayings: deque[_Saying] = deque()
        self._broken_off: _Saying | None = None
        self._score_error: AgentError | None = None
        self._preferred: str | None = None
        self._views: dict[tuple[str, AdapterStack], Tokens] = {}

    # What the test wants

    def will_say(self, *texts: str, held_back: str = "", reason: FinishReason = "eos") -> None:
        """The next requests say these, one each; without any they say "Reply 1.", "Reply 2." and so on.

        `held_back` comes at the very end, as the rest of a character does.
        """
        self._sayings.extend(_Saying(text, held_back, reason) for text in texts)

    def will_fail(self, error: AgentError, *, after: str = "") -> None:
        """The next request raises `error` after saying `after`."""
        self._sayings.append(_Saying(after, error=error))

    def will_prefer(self, label: str | None) -> None:
        """From now on this label is far likelier than all others; with None all are equally likely."""
        self._preferred = label

    def will_fail_to_score(self, error: AgentError) -> None:
        """The next score raises `error`."""
        self._score_error = error

    # What the test wants to know

    @property
    def answers(self) -> list[Request]:
        """The requests that belong to a view."""
        return [request for request in self.requests if request.cache_key]

    @property
    def summaries(self) -> list[Request]:
        """The requests that keep nothing."""
        return [request for request in self.requests if not request.cache_key]

    def last_prompt(self) -> str:
        """The last request's prompt as text."""
        return self.decode(self.requests[-1].tokens)

    # Runtime

    def encode(self, text: str) -> Tokens:
        return tuple(FIRST_CHARACTER + ord(character) for character in text)

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(_TEXTS.get(token) or chr(token - FIRST_CHARACTER) for token in tokens)

    def load(self, plan: LoadPlan) -> ModelInfo:
        return model_info()

    def generate(self, requests: Sequence[Request], stop: Stop = NEVER) -> Iterator[Piece]:
        for index, request in enumerate(requests):
            self.requests.append(request)
            self.on_request()
            try:
                yield from self._complete(index, request, stop)
            finally:
                self.ended += 1

    def score(self, request: ScoreRequest, stop: Stop = NEVER) -> Scores:
        self.score_requests.append(request)
        self.on_request()
        error, self._score_error = self._score_error, None
        if error is not None:
            raise error
        if stop.is_set():
            raise ScoringStopped("Stopped before the scores were complete.", "Ask again.")
        reused = self._reused(request.tokens, request.cache_key, request.adapters)
        self._views[request.cache_key, request.adapters] = request.tokens
        return Scores(tuple(map(self._logprobs, request.labels)), Usage(len(request.tokens), reused))

    def embed(self, texts: Sequence[str]) -> "np.ndarray":
        raise RuntimeFailed("No embedder is configured.", "Name one in the profile.")

    def drop(self, cache_key_prefix: str) -> None:
        self._views = {key: tokens for key, tokens in self._views.items() if not key[0].startswith(cache_key_prefix)}

    def close(self) -> None:
        self._views.clear()

    def _complete(self, index: int, request: Request, stop: Stop) -> Iterator[Piece]:
        total = len(request.tokens)
        if total >= self.context_tokens:
            raise ContextOverflow(f"The prompt has {total} tokens.", "Shorten it.")
        saying = self._broken_off if request.said and self._broken_off else self._next_saying()
        self._broken_off = None
        reused = self._reused(request.tokens, request.cache_key, request.adapters)
        done = reused
        while done < total and not stop.is_set():
            done = min(done + READ_AT_ONCE, total)
            yield Prefilled(index, done, total, reused)
        said: list[int] = []
        reason: FinishReason = "stopped"
        if done == total:
            for token in self._tokens_of(saying, request.max_tokens):
                if stop.is_set():
                    break
                said.append(token)
                # Whoever leaves here may ask for the rest.
                self._broken_off = replace(saying, text=saying.text[len(said) :])
                yield Token(index, token, "" if token == END else self.decode([token]))
                self._broken_off = None
            else:
                reason = "length" if len(said) == request.max_tokens and said[-1] != END else saying.reason
        if saying.error is not None and reason != "stopped":
            raise saying.error
        # As in life, the last sampled token is known but not decoded.
        self._views[request.cache_key, request.adapters] = (*request.tokens[:done], *said[:-1])
        held_back = saying.held_back if reason not in ("stopped", "length") else ""
        yield Finished(index, reason, Usage(total, reused, len(said)), held_back)

    def _tokens_of(self, saying: _Saying, limit: int) -> Tokens:
        tokens = self.encode(saying.text)
        return (*tokens, END)[:limit] if saying.reason == "eos" and saying.error is None else tokens[:limit]

    def _logprobs(self, label: Tokens) -> tuple[float, ...]:
        total = PREFERRED_NATS if self._preferred in (None, self.decode(label)) else OTHER_NATS
        return (total, *[0.0] * (len(label) - 1))

    def _next_saying(self) -> _Saying:
        return self._sayings.popleft() if self._sayings else _Saying(f"Reply {len(self.requests)}.")

    def _reused(self, tokens: Tokens, cache_key: str, stack: AdapterStack) -> int:
        """Leading tokens this view holds. Of a request without a view: that any view under the same stack holds."""
        held = [
            kept
            for (key, kept_stack), kept in self._views.items()
            if kept_stack == stack and (key == cache_key or not cache_key)
        ]
        return max((_common(kept, tokens[:-1]) for kept in held), default=0)


def model_info(base_hash: str = "base-1") -> ModelInfo:
    return ModelInfo(base_hash, "llama", "Scripted", 1 << 20, 1 << 21, "nowhere", markup=dict(MARKUP))


def control_tokens(tokens: Sequence[int], markup: Mapping[str, int]) -> list[int]:
    known = set(markup.values())
    return [token for token in tokens if token in known]


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    return next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
