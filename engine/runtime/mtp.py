"""The base's own block for guessing tokens (multi-token prediction), in a llama.cpp context of its own.

The block reads a token together with the base's hidden state before that token, so it has to follow everything the
base reads. It only guesses: whatever it lacks or fails at costs speed, never correctness, and raises nothing. Knows
sequences and positions as `Native` does, and neither sampling nor views.
"""

import ctypes
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from engine.errors import OutOfMemory
from engine.runtime import binding
from engine.runtime.binding import lib
from engine.runtime.protocol import Tokens

_MTP_CONTEXT: Final = 1

FloatArray = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(slots=True)
class _Trail:
    """How far the block has followed one sequence of the base."""

    position: int
    """Tokens the base holds, as far as we were told."""
    hidden: FloatArray
    """The base's hidden state of the last of them, shape (width,); zeros when it is not known."""
    read: int
    """Positions the block has read that the base holds too; what the block holds beyond does not count."""
    unread: list[tuple[int, FloatArray]] = field(default_factory=list)
    """(token, hidden state before it) at the positions from `read` to `position`."""


class MtpContext:
    """Raises: OutOfMemory, BindingMismatch."""

    def __init__(self, model: Any, main: Any, params: Any) -> None:
        """params: those of `main`, which must outlive this context."""
        self._extensions = binding.extensions()
        self._main = main
        self._width = int(lib.llama_model_n_embd_out(model))
        self._vocab_size = int(lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model)))
        self._batch_tokens = int(params.n_batch)
        self._trails: dict[int, _Trail] = {}
        params.ctx_type = _MTP_CONTEXT
        params.ctx_other = main
        params.n_rs_seq = 0
        params.n_outputs_max = params.n_seq_max
        self._context: Any = lib.llama_init_from_model(model, params)
        if not self._context:
            raise OutOfMemory(
                "There is no memory for drafting ahead with the base's own block.",
                "Load the base without draft tokens.",
            )
        self._memory: Any = lib.llama_get_memory(self._context)
        # Hidden states of all tokens, not only of those with logits: where few of several tokens have logits, the
        # block's graph returns the states of the wrong ones.
        self._extensions.llama_set_embeddings_nextn(main, True, False)
        self._extensions.llama_set_embeddings_nextn(self._context, True, False)
        self._last_row = 0

    def close(self) -> None:
        if self._context:
            lib.llama_free(self._context)
        self._context = None

    def set_threads(self, count: int) -> None:
        lib.llama_set_n_threads(self._context, count, count)

    def states(self, count: int) -> FloatArray:
        """The base's hidden states of the first `count` tokens of its last batch, shape (count, width)."""
        pointer = self._extensions.llama_get_embeddings_nextn(self._main)
        return np.ctypeslib.as_array(pointer, shape=(count, self._width)).copy()

    # Following the base

    def follow(self, sequence: int, tokens: Tokens, start: int) -> None:
        """The base has just read `tokens` of `sequence`, and nothing else, at the positions from `start` on."""
        trail = self.note(sequence, tokens, start, self.states(len(tokens)))
        self._feed(sequence, trail, wants_guess=False)

    def note(self, sequence: int, tokens: Tokens, start: int, states: FloatArray) -> _Trail:
        """Like `follow`, with the hidden states given; the block reads them when it guesses next."""
        trail = self._trails.get(sequence)
        if trail is None or trail.position != start:
            # What came between was read without us. The block does with what follows.
            lib.llama_memory_seq_rm(self._memory, sequence, -1, -1)
            trail = self._trails[sequence] = _Trail(start, self._unknown(), start)
        for token, state in zip(tokens, states, strict=True):
            trail.unread.append((token, trail.hidden))
            trail.hidden = state
        trail.hidden = trail.hidden.copy()  # a row would keep the states of the whole batch
        trail.position += len(tokens)
        return trail

    def clear(self) -> None:
        """The base has dropped and overwritten everything."""
        self._trails.clear()
        lib.llama_memory_clear(self._memory, True)

    def remove(self, sequence: int, start: int) -> None:
        """The base has dropped everything from position `start` on."""
        trail = self._trails.get(sequence)
        if start == 0 or trail is None:
            lib.llama_memory_seq_rm(self._memory, sequence, -1, -1)
            self._trails.pop(sequence, None)
        elif start < trail.position:
            kept = start - trail.read
            is_known = 0 <= kept < len(trail.unread)
            trail.hidden = trail.unread[kept][1] if is_known else self._unknown()
            del trail.unread[max(0, kept) :]
            trail.read = min(trail.read, start)
            trail.position = start

    def copy(self, source: int, target: int, end: int | None) -> None:
        """The base has made `target`, which was empty, share `source`, up to position `end` where it is given."""
        trail = self._trails.get(source)
        if trail is None:
            return
        lib.llama_memory_seq_cp(self._memory, source, target, -1, -1)
        self._trails[target] = _Trail(trail.position, trail.hidden, trail.read, list(trail.unread))
        if end is not None:
            self.remove(target, end)

    # Guessing

    def draft(self, sequence: int, token: int, count: int) -> list[int]:
        """Guess up to `count` tokens after `token`, which the base is about to read next on `sequence`."""
        trail = self._trails.get(sequence)
        if trail is None or count <= 0:
            return []
        trail.unread.append((token, trail.hidden))
        if not self._feed(sequence, trail, wants_guess=True):
            return []
        trail.read = trail.position  # until the base has read `token` it does not count
        guesses = [self._best()]
        for position in range(trail.position + 1, trail.position + count):
            pointer = self._extensions.llama_get_embeddings_nextn_ith(self._context, self._last_row)
            hidden = np.ctypeslib.as_array(pointer, shape=(1, self._width)).copy()
            if not self._decode(sequence, [guesses[-1]], position, hidden, wants_guess=True):
                break
            guesses.append(self._best())
        return guesses

    def _feed(self, sequence: int, trail: _Trail, *, wants_guess: bool) -> bool:
        """Read what is unread; on failure the block forgets this sequence."""
        held = int(lib.llama_memory_seq_pos_max(self._memory, sequence)) + 1
        if held > trail.read:
            lib.llama_memory_seq_rm(self._memory, sequence, trail.read, -1)
        while trail.unread:
            part = trail.unread[: self._batch_tokens]
            is_last = len(part) == len(trail.unread)
            tokens, hidden = [token for token, _ in part], np.stack([state for _, state in part])
            if not self._decode(sequence, tokens, trail.read, hidden, wants_guess=wants_guess and is_last):
                self.remove(sequence, 0)
                return False
            trail.read += len(part)
            del trail.unread[: len(part)]
        return True

    def _decode(self, sequence: int, tokens: list[int], start: int, hidden: FloatArray, *, wants_guess: bool) -> bool:
        """hidden: float32 (tokens, width). False when it was aborted or there was no room."""
        count = len(tokens)
        ids = (ctypes.c_int32 * count)(*tokens)
        positions = (ctypes.c_int32 * count)(*range(start, start + count))
        sequences = (ctypes.c_int32 * 1)(sequence)
        int_pointer = ctypes.POINTER(ctypes.c_int32)
        rows = (int_pointer * count)(*[ctypes.cast(sequences, int_pointer)] * count)
        outputs = (ctypes.c_int8 * count)()
        outputs[count - 1] = wants_guess
        hidden = np.ascontiguousarray(hidden, np.float32)
        batch: Any = lib.llama_batch(
            n_tokens=count,
            token=ids,
            embd=hidden.ctypes.data_as(ctypes.POINTER(ctypes.c_float)),
            pos=positions,
            n_seq_id=(ctypes.c_int32 * count)(*[1] * count),
            seq_id=rows,
            logits=outputs,
        )
        self._last_row = count - 1
        return int(lib.llama_decode(self._context, batch)) == 0

    def _best(self) -> int:
        pointer = lib.llama_get_logits_ith(self._context, -1)
        return int(np.ctypeslib.as_array(pointer, shape=(self._vocab_size,)).argmax())

    def _unknown(self) -> FloatArray:
        return np.zeros(self._width, np.float32)
