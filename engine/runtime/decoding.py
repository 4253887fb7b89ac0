"""Serve a list of requests on the worker thread: read their prompts, then decode together those with equal adapters.

Yields pieces as they come. Knows nothing of threads or queues; the caller pulls.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.errors import ContextOverflow, NoNumbers, RuntimeFailed
from engine.runtime.adapters import AdapterPool
from engine.runtime.drafting import Drafter
from engine.runtime.native import MAX_OUTPUTS, Aborted, Native, OutOfCells
from engine.runtime.protocol import Finished, FinishReason, Piece, Prefilled, Request, Stop, Token, Usage
from engine.runtime.sampler import Sampler, logprob
from engine.runtime.text import TextAssembler
from engine.runtime.views import View, ViewTable, stack_key


@dataclass(slots=True, eq=False)
class _Branch:
    """One request being decoded. `pending` is sampled but not yet decoded."""

    index: int
    request: Request
    view: View
    sampler: Sampler
    assembler: TextAssembler
    reused_tokens: int
    prefill_ms: float
    started: float
    room: int
    completion_tokens: int = 0
    pending: int = -1
    finished: bool = False


class Decoder:
    def __init__(self, native: Native, views: ViewTable, adapters: AdapterPool) -> None:
        self._native = native
        self._views = views
        self._adapters = adapters
        self.drafter = Drafter(native)

    def run(self, requests: Sequence[Request], stop: Stop) -> Iterator[Piece]:
        """Serve all requests, in waves of as many as there are free views.

        Raises: ContextOverflow, AdapterMismatch, BadModelFile, RuntimeFailed.
        """
        for request in requests:
            # What was said already had its room in the context.
            self.check_length(len(request.tokens) - len(request.said))
        order = sorted(range(len(requests)), key=lambda index: (stack_key(requests[index].adapters), index))
        waves = _waves([(index, requests[index]) for index in order], self._native.plan.max_views)
        for wave in waves:
            yield from self._run_wave(wave, stop)

    def read(
        self, view: View, tokens: Sequence[int], snapshot_at: Sequence[int], stop: Stop, outputs_from: int
    ) -> Iterator[tuple[int, int]]:
        """Decode `tokens` beyond what `view` holds, in batches. Yields (first position, count) after each.

        Logits are available, until the next batch, for every position >= `outputs_from`; batch row = position - first.
        Ends early when `stop` is set; the view then holds what was read.
        """
        plan, total = self._native.plan, len(tokens)
        cuts = [position for position in snapshot_at if len(view.tokens) < position < total]
        if self._native.is_recurrent and len(view.tokens) in snapshot_at:
            self._views.snapshot(view)
        while (start := len(view.tokens)) < total and not stop.is_set():
            end = min(start + plan.micro_batch_tokens, total)
            if self._native.is_recurrent and cuts and start < cuts[0] <= end:
                end = cuts.pop(0)
            end = _limit_outputs(start, end, outputs_from, self._native.plan.max_views)
            batch = tokens[start:end]
            outputs = [position >= outputs_from for position in range(start, end)]
            if not self.decode(batch, range(start, end), [view.sequence] * len(batch), outputs, (view,)):
                return
            view.tokens.extend(batch)
            self.drafter.follow(view, batch, start)
            if end in snapshot_at:
                self._views.snapshot(view)
            yield start, end - start

    # One wave: equal adapters, at most max_views requests

    def _run_wave(self, wave: Sequence[tuple[int, Request]], stop: Stop) -> Iterator[Piece]:
        self._adapters.attach(wave[0][1].adapters)
        branches: list[_Branch] = []
        try:
            for same in _same_prompts(wave):
                yield from self._open_branches(same, branches, stop)
            while any(not branch.finished for branch in branches):
                if len(branches) == 1 and self.drafter.is_on:
                    yield from self._step_drafting(branches[0], stop)
                else:
                    yield from self._step(branches, stop)
        finally:
            for branch in branches:
                branch.sampler.close()
                self._views.release(branch.view)

    def _open_branches(
        self, same: Sequence[tuple[int, Request]], branches: list[_Branch], stop: Stop
    ) -> Iterator[Piece]:
        """Read one prompt once, and branch it for every request that has it."""
        index, request = same[0]
        started = time.perf_counter()
        total = len(request.tokens)
        view = self._views.acquire(request.tokens, stack_key(request.adapters), request.cache_key)
        reused = len(view.tokens)
        row = 0
        try:
            yield Prefilled(index, reused, total, reused)
            for start, count in self.read(view, request.tokens, request.snapshot_at, stop, total - 1):
                row = total - 1 - start
                yield Prefilled(index, start + count, total, reused)
        except BaseException:
            self._views.release(view)
            raise
        elapsed_ms = (time.perf_counter() - started) * 1000
        complete = len(view.tokens) == total
        for position, (index, request) in enumerate(same):
            if position > 0 and complete:
                view = self._views.fork(view, request.cache_key)
            elif position > 0:
                yield Finished(index, "stopped", Usage(total, reused, 0, 0.0))
                continue
            branch = _Branch(
                index,
                request,
                view,
                Sampler(self._native, request),
                TextAssembler(request.stop),
                reused if position == 0 else total,
                elapsed_ms if position == 0 else 0.0,
                time.perf_counter(),
                room=min(request.max_tokens, self._native.plan.context_tokens - total),
            )
            branches.append(branch)
            self._recall(branch)
            yield from self._begin(branch, row) if complete else self._finish(branch, "stopped")

    def _recall(self, branch: _Branch) -> None:
        """Take in what was said before the completion broke off; its text has been shown already."""
        for token in branch.request.said:
            branch.assembler.add(self._native.piece(token))

    def _begin(self, branch: _Branch, row: int) -> Iterator[Piece]:
        said = branch.request.said
        if said and self._native.is_end(said[-1]):
            yield from self._finish(branch, "eos")
        elif branch.assembler.stopped:
            yield from self._finish(branch, "stop")
        else:
            yield from self._sample(branch, row)

    def _step(self, branches: Sequence[_Branch], stop: Stop) -> Iterator[Piece]:
        """Decode the pending token of every live branch in one batch, then sample each branch's next."""
        live = [branch for branch in branches if not branch.finished]
        stopped = stop.is_set()
        if not stopped:
            stopped = not self.decode(
                [branch.pending for branch in live],
                [len(branch.view.tokens) for branch in live],
                [branch.view.sequence for branch in live],
                [True] * len(live),
                [branch.view for branch in live],
            )
        if stopped:
            for branch in live:
                yield from self._finish(branch, "stopped")
            return
        for branch in live:
            branch.view.tokens.append(branch.pending)
        for row, branch in enumerate(live):
            yield from self._sample(branch, row)

    def _step_drafting(self, branch: _Branch, stop: Stop) -> Iterator[Piece]:
        """Decode the pending token and guesses of what follows it, and sample for as long as the guesses are right."""
        view, start = branch.view, len(branch.view.tokens)
        guesses = self.drafter.draft(view, branch.pending, branch.room - branch.completion_tokens - 1)
        tokens = [branch.pending, *guesses]
        count = len(tokens)
        positions = range(start, start + count)
        if stop.is_set() or not self.decode(tokens, positions, [view.sequence] * count, [True] * count, (view,)):
            yield from self._finish(branch, "stopped")
            return
        try:
            for row, token in enumerate(tokens):
                if branch.finished or token != branch.pending:
                    break
                view.tokens.append(token)
                yield from self._sample(branch, row)
        finally:  # also when the caller goes away between two tokens
            self.drafter.keep(view, start, count)

    def _sample(self, branch: _Branch, row: int) -> Iterator[Piece]:
        if branch.room <= 0:
            yield from self._finish(branch, "length")
            return
        token = branch.sampler.sample(row)
        if math.isnan(self._native.logit(row, token)):
            raise no_numbers()
        chosen: float | None = None
        top: tuple[tuple[int, float], ...] = ()
        if branch.request.logprobs is not None:
            chosen, top = logprob(self._native.logits(row), token, branch.request.logprobs)
        branch.completion_tokens += 1
        branch.pending = token
        is_end = self._native.is_end(token)
        text = "" if is_end else branch.assembler.add(self._native.piece(token))
        yield Token(branch.index, token, text, chosen, top)
        if is_end:
            yield from self._finish(branch, "eos")
        elif branch.assembler.stopped:
            yield from self._finish(branch, "stop")
        elif branch.completion_tokens >= branch.room:
            yield from self._finish(branch, "length")

    def _finish(self, branch: _Branch, reason: FinishReason) -> Iterator[Piece]:
        branch.finished = True
        decode_ms = (time.perf_counter() - branch.started) * 1000
        # Stopped while reading, it has read less than the prompt.
        prompt_tokens = min(len(branch.request.tokens), max(len(branch.view.tokens), branch.reused_tokens))
        usage = Usage(prompt_tokens, branch.reused_tokens, branch.completion_tokens, branch.prefill_ms, decode_ms)
        yield Finished(branch.index, reason, usage, branch.assembler.finish())

    # Decoding with all that can go wrong

    def decode(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        sequences: Sequence[int],
        outputs: Sequence[bool],
        views: Sequence[View],
    ) -> bool:
        """False when the abort flag ended it; the views then hold what they held before, or less."""
        try:
            while True:
                try:
                    self._native.decode(tokens, positions, sequences, outputs)
                    return True
                except OutOfCells:
                    if not self._views.make_room():
                        raise RuntimeFailed(
                            f"The pool of {self._native.plan.pool_tokens} tokens is full.",
                            "Ask for fewer or shorter answers at once, or start a new conversation.",
                        ) from None
        except Aborted:
            self._recover(views)
            return False
        except RuntimeFailed:
            self._recover(views)
            raise

    def _recover(self, views: Sequence[View]) -> None:
        for view in views:
            self._views.recover(view)

    def check_length(self, prompt_tokens: int) -> None:
        limit = self._native.plan.context_tokens
        if prompt_tokens == 0:
            raise RuntimeFailed("The prompt is empty.", "Send at least one token.")
        if prompt_tokens >= limit:
            raise ContextOverflow(
                f"The prompt has {prompt_tokens} tokens; the context holds {limit}, answer included.",
                "Shorten the message, or choose a profile with a larger context.",
            )


def no_numbers() -> NoNumbers:
    return NoNumbers(
        "The model computed no numbers: its base or an adapter holds invalid weights.",
        "Get the file again, or go on without that adapter.",
    )


def _limit_outputs(start: int, end: int, outputs_from: int, max_views: int) -> int:
    return min(end, max(start, outputs_from) + max(MAX_OUTPUTS, max_views))


def _waves(items: Sequence[tuple[int, Request]], size: int) -> Iterator[Sequence[tuple[int, Request]]]:
    """Groups of at most `size` neighbours with equal adapters and no cache key twice."""
    wave: list[tuple[int, Request]] = []
    for index, request in items:
        keys = {other.cache_key for _, other in wave if other.cache_key}
        full = len(wave) == size or request.cache_key in keys
        if wave and (full or stack_key(wave[0][1].adapters) != stack_key(request.adapters)):
            yield wave
            wave = []
        wave.append((index, request))
    if wave:
        yield wave


def _same_prompts(wave: Sequence[tuple[int, Request]]) -> list[list[tuple[int, Request]]]:
    groups: dict[tuple[int, ...], list[tuple[int, Request]]] = {}
    for index, request in wave:
        groups.setdefault(request.tokens, []).append((index, request))
    return list(groups.values())
