"""The seam between the agent and whatever runs the model.

Token ids in, pieces out. Knows no messages, no routing, no SQLite and no screen. Everything here is a frozen value
that can be pickled, so that the same calls work in this process, behind a pipe or over HTTP.

Units: tokens, bytes, milliseconds; log-probabilities in nats, taken before temperature and filters.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np

Tokens = tuple[int, ...]
FinishReason = Literal["eos", "stop", "length", "stopped"]


class Stop(Protocol):
    """Anything with `is_set`, such as `threading.Event`. Set it to end a request in any phase."""

    def is_set(self) -> bool: ...


class _Never:
    def is_set(self) -> bool:
        return False


NEVER: Stop = _Never()


@dataclass(frozen=True, slots=True)
class AdapterRef:
    """One LoRA file as the runtime sees it. Identity is the content, never the path."""

    path: str
    content_hash: str
    scale: float = 1.0


AdapterStack = tuple[AdapterRef, ...]
"""Adapters that are set together; the empty stack is the bare base."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn. Temperature 0 is greedy and ignores the seed."""

    temperature: float = 0.0
    top_k: int = 0
    """Keep the k best candidates; 0 keeps all."""
    top_p: float = 1.0
    min_p: float = 0.0
    repeat_penalty: float = 1.0
    """Divides the logits of recent tokens; 1 is off."""
    repeat_last_n: int = 64
    """How many recent tokens the penalties look at."""
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One completion. `tokens` is the whole prompt; reusing a prefix is the runtime's own affair."""

    tokens: Tokens
    max_tokens: int
    adapters: AdapterStack = ()
    sampling: Sampling = Sampling()
    stop: tuple[str, ...] = ()
    """Texts that end the completion; they are not part of it."""
    grammar: str | None = None
    """GBNF that the completion must match."""
    json_schema: str | None = None
    """JSON Schema (as text) that the completion must match. At most one of grammar and json_schema."""
    logprobs: int | None = None
    """None: none. 0: of the chosen token. n: also the n likeliest tokens."""
    cache_key: str = ""
    """Names the view, so that it is kept for the next request with this key; empty: keep nothing."""
    said: Tokens = ()
    """The end of `tokens` that was sampled for this very completion before it broke off: penalties, grammar and stop
    texts take it into account, and the completion goes on after it."""
    snapshot_at: tuple[int, ...] = ()
    """Prompt positions worth coming back to (turn boundaries), ascending. Only recurrent bases need them."""


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int = 0
    reused_tokens: int = 0
    """Prompt tokens whose state was already there."""
    completion_tokens: int = 0
    prefill_ms: float = 0.0
    decode_ms: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.reused_tokens + other.reused_tokens,
            self.completion_tokens + other.completion_tokens,
            self.prefill_ms + other.prefill_ms,
            self.decode_ms + other.decode_ms,
        )


@dataclass(frozen=True, slots=True)
class Prefilled:
    """Progress of reading the prompt of request `index`: `done` of `total` tokens, `reused` of them for free."""

    index: int
    done: int
    total: int
    reused: int


@dataclass(frozen=True, slots=True)
class Token:
    """One sampled token of request `index`. `text` may be empty while bytes of a character are missing."""

    index: int
    token: int
    text: str
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of request `index`; exactly one per request. `text` is what was still held back."""

    index: int
    reason: FinishReason
    usage: Usage
    text: str = ""


Piece = Prefilled | Token | Finished


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """How likely each label is as the continuation of `tokens` (teacher-forced, nothing is sampled)."""

    tokens: Tokens
    labels: tuple[Tokens, ...]
    adapters: AdapterStack = ()
    cache_key: str = ""


@dataclass(frozen=True, slots=True)
class Scores:
    """`logprobs[i][j]` is the log-probability of token j of label i given everything before it."""

    logprobs: tuple[tuple[float, ...], ...]
    usage: Usage

    def totals(self) -> tuple[float, ...]:
        return tuple(sum(label) for label in self.logprobs)


WHERE_IT_PAYS: Final = -1
"""`LoadPlan.draft_tokens` that leaves the choice to the runtime."""


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What to load and how much room it may take."""

    base: str
    """Path of the base GGUF."""
    context_tokens: int = 8192
    """Longest prompt plus answer of one view."""
    pool_tokens: int = 16384
    """KV cells shared by all views. Memory grows linearly with it."""
    kv_type: Literal["f16", "q8_0"] = "f16"
    gpu_layers: int = -1
    """Layers offloaded to a GPU where llama.cpp was built with one; -1 is all."""
    tensor_overrides: tuple[tuple[str, str], ...] = ()
    """(tensor name pattern, buffer type) pairs, such as experts kept on the CPU."""
    threads: int = 0
    """CPU threads; 0 finds out which numbers are fastest now, for reading and for writing."""
    batch_tokens: int = 512
    micro_batch_tokens: int = 256
    """Tokens per forward pass. Small ones stop sooner, large ones read faster."""
    max_views: int = 8
    """Views kept decoded at once; each costs one recurrent state on hybrid bases."""
    adapter_bytes: int = 8 << 30
    """Budget of adapters kept loaded; the least recently used one leaves first."""
    snapshot_bytes: int = 512 << 20
    """Budget of turn-boundary snapshots of recurrent bases."""
    parked_bytes: int = 1 << 30
    """Budget of host memory for views that lost their cells; beyond it they are forgotten and read again."""
    embedder: str | None = None
    """Path of a second, small GGUF for embeddings."""
    draft_tokens: int = 0
    """Tokens guessed ahead per step by the base's own block for that, where it carries one. Answers stay the same;
    memory is needed for a second context and, on hybrid bases, for as many more recurrent states per view. 0 is off;
    `WHERE_IT_PAYS` is on with all layers on a GPU and memory enough, else off."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What was loaded. `markup` maps the text of every control or markup token to its id."""

    base_hash: str
    architecture: str
    name: str
    context_train: int
    vocab_size: int
    backend: str
    """Where it is computed, in words, such as "CPU, 2 threads (AMD EPYC)"."""
    backend_reason: str = ""
    """Why there and not elsewhere."""
    threads: int = 0
    """CPU threads in use for writing."""
    markup: Mapping[str, int] = field(default_factory=dict)
    bos: str = ""
    needs_snapshots: bool = False
    """True for recurrent and hybrid bases: their state cannot be cut, only restored."""
    can_draft: bool = False
    """The base carries a block of its own for guessing tokens ahead."""
    draft_tokens: int = 0
    """Tokens guessed ahead per step; 0 where that is off."""


class Encoder(Protocol):
    """Text to token ids and back. `encode` never yields a control or markup token."""

    def encode(self, text: str) -> Tokens: ...

    def decode(self, tokens: Sequence[int]) -> str: ...


class Runtime(Encoder, Protocol):
    """Holds one base, its adapters and its views. Calls may come from any thread; they are served in order."""

    def load(self, plan: LoadPlan) -> ModelInfo:
        """Raises: ModelMissing, BadModelFile, BindingMismatch, RuntimeFailed."""
        ...

    def generate(self, requests: Sequence[Request], stop: Stop = NEVER) -> Iterator[Piece]:
        """Complete all requests, decoding together those with equal adapters. Closing the iterator ends them.

        Raises: ContextOverflow, AdapterMismatch, BadModelFile, RuntimeFailed.
        """
        ...

    def score(self, request: ScoreRequest, stop: Stop = NEVER) -> Scores: ...

    def embed(self, texts: Sequence[str]) -> "np.ndarray":
        """One unit vector per text: float32 (texts, dimensions). Needs `LoadPlan.embedder`."""
        ...

    def drop(self, cache_key_prefix: str) -> None:
        """Forget every view and parked state whose cache key starts with this."""
        ...

    def close(self) -> None: ...
