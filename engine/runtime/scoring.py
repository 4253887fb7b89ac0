"""Score labels as continuations of one prompt, through the prefix trie of their tokens.

The part that all labels share is read with the prompt; what differs is read in one further pass, and only where a
label goes on after its first differing token. "L0"..."L4", which share "L", cost one pass in all.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.errors import RuntimeFailed, ScoringStopped
from engine.runtime.adapters import AdapterPool
from engine.runtime.decoding import Decoder, no_numbers
from engine.runtime.native import MAX_OUTPUTS, Native
from engine.runtime.protocol import ScoreRequest, Scores, Stop, Tokens, Usage
from engine.runtime.sampler import logprob
from engine.runtime.views import View, ViewTable, common_prefix, stack_key


@dataclass(frozen=True, slots=True)
class LabelTrie:
    """`shared` begins every label and leaves each at least one token; `rests` are what follows, in label order."""

    shared: Tokens
    rests: tuple[Tokens, ...]


def label_trie(labels: Sequence[Tokens]) -> LabelTrie:
    """Raises: ValueError when there is no label or one is empty."""
    if not labels or any(not label for label in labels):
        raise ValueError("every label needs at least one token")
    length = min(len(label) for label in labels) - 1
    for label in labels[1:]:
        length = min(length, common_prefix(labels[0], label))
    return LabelTrie(labels[0][:length], tuple(label[length:] for label in labels))


class Scorer:
    def __init__(self, native: Native, views: ViewTable, adapters: AdapterPool, decoder: Decoder) -> None:
        self._native = native
        self._views = views
        self._adapters = adapters
        self._decoder = decoder

    def score(self, request: ScoreRequest, stop: Stop) -> Scores:
        """Raises: ContextOverflow, NoNumbers, RuntimeFailed, ScoringStopped."""
        trie = label_trie(request.labels)
        tokens = request.tokens + trie.shared
        self._decoder.check_length(len(tokens) + max(map(len, trie.rests)))
        self._adapters.attach(request.adapters)
        # The state before the prompt's last token must be decoded anew, so acquire for the prompt alone.
        view = self._views.acquire(request.tokens, stack_key(request.adapters), request.cache_key)
        reused = len(view.tokens)
        try:
            shared, firsts = self._read_shared(view, request, trie, tokens, stop)
            rests = self._read_rests(view, trie.rests, firsts, stop)
        finally:
            self._views.release(view)
        scores = Scores(tuple(shared + rest for rest in rests), Usage(len(request.tokens), reused, 0))
        if any(math.isnan(value) for label in scores.logprobs for value in label):
            raise no_numbers()
        return scores

    def _read_shared(
        self, view: View, request: ScoreRequest, trie: LabelTrie, tokens: Tokens, stop: Stop
    ) -> tuple[tuple[float, ...], list[float]]:
        """Log-probabilities of the shared tokens, and of every rest's first token."""
        first_row = len(request.tokens) - 1
        shared: list[float] = []
        firsts: list[float] = []
        for start, count in self._decoder.read(view, tokens, (), stop, first_row):
            for position in range(max(start, first_row), start + count):
                logits = self._native.logits(position - start)
                if position + 1 < len(tokens):
                    shared.append(logprob(logits, tokens[position + 1], 0)[0])
                else:
                    firsts = [logprob(logits, rest[0], 0)[0] for rest in trie.rests]
        if len(view.tokens) < len(tokens):
            raise ScoringStopped("Stopped before the scores were complete.", "Ask again.")
        return tuple(shared), firsts

    def _read_rests(
        self, view: View, rests: Sequence[Tokens], firsts: Sequence[float], stop: Stop
    ) -> list[tuple[float, ...]]:
        result: list[tuple[float, ...]] = [(first,) for first in firsts]
        longer = [index for index, rest in enumerate(rests) if len(rest) > 1]
        for group in self._groups(longer, rests):
            if stop.is_set():
                raise ScoringStopped("Stopped before the scores were complete.", "Ask again.")
            for index, values in zip(group, self._read_group(view, [rests[index] for index in group]), strict=True):
                result[index] += values
        return result

    def _groups(self, longer: Sequence[int], rests: Sequence[Tokens]) -> Iterator[list[int]]:
        group: list[int] = []
        outputs = 0
        for index in longer:
            size = len(rests[index]) - 1
            if size > MAX_OUTPUTS:
                raise RuntimeFailed(f"A label goes on for {size} tokens of its own.", "Score it in a call of its own.")
            if group and (len(group) + 1 >= self._native.plan.max_views or outputs + size > MAX_OUTPUTS):
                yield group
                group, outputs = [], 0
            group.append(index)
            outputs += size
        if group:
            yield group

    def _read_group(self, view: View, rests: Sequence[Tokens]) -> list[tuple[float, ...]]:
        """Log-probabilities of every token but the first of each rest, decoded together in branches of `view`."""
        branches: list[View] = []
        try:
            for _ in rests:
                branches.append(self._views.fork(view))
            tokens: list[int] = []
            positions: list[int] = []
            sequences: list[int] = []
            for branch, rest in zip(branches, rests, strict=True):
                tokens += rest[:-1]
                positions += range(len(view.tokens), len(view.tokens) + len(rest) - 1)
                sequences += [branch.sequence] * (len(rest) - 1)
            if not self._decoder.decode(tokens, positions, sequences, [True] * len(tokens), [view, *branches]):
                raise ScoringStopped("Stopped before the scores were complete.", "Ask again.")
            result: list[tuple[float, ...]] = []
            row = 0
            for rest in rests:
                following = rest[1:]
                result.append(
                    tuple(logprob(self._native.logits(row + step), token, 0)[0] for step, token in enumerate(following))
                )
                row += len(following)
            return result
        finally:
            for branch in branches:
                self._views.release(branch)
