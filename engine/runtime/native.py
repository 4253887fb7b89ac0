"""One llama.cpp model and one context, with every return code checked.

Knows sequences, positions and bytes of state; not whose they are. Used by one thread only, except for `tokenize`,
`piece` and `AbortFlag`, which llama.cpp allows from any.
"""

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from engine.errors import BindingMismatch, OutOfMemory, RuntimeFailed
from engine.runtime import binding
from engine.runtime.binding import AbortFlag, lib
from engine.runtime.devices import buffer_type_handle
from engine.runtime.memory_limit import tells_of_memory
from engine.runtime.mtp import MtpContext
from engine.runtime.protocol import LoadPlan, Tokens

_KV_TYPES: Final = {"f16": 1, "q8_0": 8}
_PARTIAL_ONLY: Final = 1
_MARKUP_ATTRIBUTES: Final = 8 | 16  # control, user-defined
MAX_OUTPUTS: Final = 64
"""Rows of logits one decode may ask for. llama.cpp reserves vocabulary-sized rows for as many."""

Int32Array = np.ndarray[Any, np.dtype[np.int32]]
FloatArray = np.ndarray[Any, np.dtype[np.float32]]


_FREE_MEMORY: Final = "Close other programs, or choose a smaller context or base."


class OutOfCells(Exception):
    """The KV pool has no room for this batch; nothing was decoded."""


class Aborted(Exception):
    """The abort flag was set while decoding; the batch does not count."""


class Native:
    """Raises `RuntimeFailed` with what llama.cpp said whenever it reports an error."""

    def __init__(self, plan: LoadPlan) -> None:
        self._log = binding.start()
        self.plan = plan
        self.abort = AbortFlag()
        self._model: Any = None
        self._context: Any = None
        self.mtp: MtpContext | None = None
        """The base's block for guessing tokens ahead, where the plan asks for it."""
        self._pieces: dict[int, bytes] = {}
        self._taken_back: set[int] = set()
        """Sequences whose recurrent state goes back to an earlier one when they are decoded next."""
        try:
            self._load_model(plan)
            self._open_context(plan)
        except (RuntimeFailed, BindingMismatch):
            self.close()
            raise
        self._batch = _Batch(max(plan.batch_tokens, plan.micro_batch_tokens))
        self._memory: Any = lib.llama_get_memory(self._context)
        self.is_recurrent = bool(lib.llama_model_is_recurrent(self._model) or lib.llama_model_is_hybrid(self._model))

    def _load_model(self, plan: LoadPlan) -> None:
        params: Any = lib.llama_model_default_params()
        params.n_gpu_layers = plan.gpu_layers
        params.load_mtp = plan.draft_tokens > 0
        overrides = _overrides(plan.tensor_overrides)
        if overrides is not None:
            params.tensor_buft_overrides = ctypes.cast(overrides, ctypes.c_void_p)
        self._model = lib.llama_model_load_from_file(os.fsencode(plan.base), params)
        if not self._model:
            said = self._log.take() or "no reason given"
            if tells_of_memory(said):
                raise OutOfMemory(f"There is no memory for {Path(plan.base).name}: {said}", _FREE_MEMORY)
            raise RuntimeFailed(
                f"llama.cpp could not load {Path(plan.base).name}: {said}",
                "The file may be damaged or its architecture too new; try another base.",
            )
        self._vocab: Any = lib.llama_model_get_vocab(self._model)
        self.vocab_size = int(lib.llama_vocab_n_tokens(self._vocab))
        self.context_train = int(lib.llama_model_n_ctx_train(self._model))

    def _open_context(self, plan: LoadPlan) -> None:
        params: Any = lib.llama_context_default_params()
        params.n_ctx = plan.pool_tokens
        params.n_batch = max(plan.batch_tokens, plan.micro_batch_tokens)
        params.n_ubatch = plan.micro_batch_tokens
        params.n_seq_max = plan.max_views
        params.n_rs_seq = plan.draft_tokens
        params.n_outputs_max = max(MAX_OUTPUTS, plan.max_views)
        params.n_threads = params.n_threads_batch = plan.threads or 1
        params.type_k = params.type_v = _KV_TYPES[plan.kv_type]
        params.kv_unified = True
        params.abort_callback = self.abort.callback
        params.abort_callback_data = self.abort.data
        self._context = lib.llama_init_from_model(self._model, params)
        if not self._context:
            raise OutOfMemory(
                f"There is no memory for a context of {plan.pool_tokens} tokens: {self._log.take()}", _FREE_MEMORY
            )
        if plan.draft_tokens > 0:
            self.mtp = MtpContext(self._model, self._context, params)

    def set_threads(self, writing: int, reading: int) -> None:
        """CPU threads for single tokens, and for batches of them."""
        lib.llama_set_n_threads(self._context, writing, reading)
        if self.mtp:
            self.mtp.set_threads(writing)

    def close(self) -> None:
        if self.mtp:
            self.mtp.close()
        if self._context:
            lib.llama_free(self._context)
        if self._model:
            lib.llama_model_free(self._model)
        self._context = self._model = self.mtp = None

    # Text

    def tokenize(self, text: str, *, add_special: bool = False) -> Tokens:
        """Token ids of plain text; control tokens in it stay text."""
        data = text.encode()
        room = len(data) + 8
        buffer = (ctypes.c_int32 * room)()
        count = lib.llama_tokenize(self._vocab, data, len(data), buffer, room, add_special, False)
        if count < 0:
            raise RuntimeFailed(f"A text of {len(data)} bytes could not be tokenised.", "Send a shorter text.")
        return tuple(buffer[:count])

    def piece(self, token: int) -> bytes:
        """The bytes of one token; control tokens have none."""
        if (known := self._pieces.get(token)) is None:
            known = self._pieces[token] = self._read_piece(token)
        return known

    def _read_piece(self, token: int) -> bytes:
        buffer = ctypes.create_string_buffer(64)
        count = lib.llama_token_to_piece(self._vocab, token, buffer, 64, 0, False)
        if count < 0:
            buffer = ctypes.create_string_buffer(-count)
            count = lib.llama_token_to_piece(self._vocab, token, buffer, -count, 0, False)
        return buffer.raw[:count]

    def is_end(self, token: int) -> bool:
        return bool(lib.llama_vocab_is_eog(self._vocab, token))

    def markup(self) -> dict[str, int]:
        """Text of every control and user-defined token, with its id."""
        found: dict[str, int] = {}
        for token in range(self.vocab_size):
            if lib.llama_vocab_get_attr(self._vocab, token) & _MARKUP_ATTRIBUTES:
                text = (lib.llama_vocab_get_text(self._vocab, token) or b"").decode("utf-8", "replace")
                if text:
                    found[text] = token
        return found

    def bos(self) -> str:
        token = lib.llama_vocab_bos(self._vocab)
        if token < 0 or not lib.llama_vocab_get_add_bos(self._vocab):
            return ""
        return (lib.llama_vocab_get_text(self._vocab, token) or b"").decode("utf-8", "replace")

    @property
    def vocab(self) -> Any:
        return self._vocab

    @property
    def context(self) -> Any:
        return self._context

    # Adapters

    def load_adapter(self, path: str) -> Any:
        adapter = lib.llama_adapter_lora_init(self._model, os.fsencode(path))
        if not adapter:
            raise RuntimeFailed(
                f"The adapter {Path(path).name} could not be loaded: {self._log.take() or 'no reason given'}",
                "Close other programs if memory is short, or get the file again.",
            )
        return adapter

    def free_adapter(self, adapter: Any) -> None:
        """Only after it has been detached: llama.cpp compares adapters by address."""
        lib.llama_adapter_lora_free(adapter)

    def attach(self, adapters: Sequence[tuple[Any, float]]) -> None:
        """Replace the set of active adapters by these (handle, scale) pairs."""
        if not adapters:
            lib.llama_set_adapters_lora(self._context, None, 0, None)
            return
        handles = (lib.llama_adapter_lora_p_ctypes * len(adapters))(*(handle for handle, _ in adapters))
        scales = (ctypes.c_float * len(adapters))(*(scale for _, scale in adapters))
        if lib.llama_set_adapters_lora(self._context, handles, len(adapters), scales) != 0:
            raise RuntimeFailed(f"The adapters could not be set: {self._log.take()}", "Restart the program.")

    # Decoding

    def decode(
        self, tokens: Sequence[int], positions: Sequence[int], sequences: Sequence[int], outputs: Sequence[bool]
    ) -> None:
        """Run one batch; row i of the logits is then available where outputs[i].

        Raises: OutOfCells, Aborted, RuntimeFailed.
        """
        self._batch.fill(tokens, positions, sequences, outputs)
        code = lib.llama_decode(self._context, self._batch.struct)
        if code == 0:
            self._taken_back.difference_update(sequences)
            return
        if code == 1:
            raise OutOfCells
        if code == 2:
            raise Aborted
        raise RuntimeFailed(
            f"llama.cpp could not compute ({code}): {self._log.take() or 'no reason given'}",
            "Close other programs if memory is short, then try again.",
        )

    def logits(self, row: int) -> FloatArray:
        """Logits of batch row `row`, shape (vocabulary,); a view that the next decode overwrites."""
        pointer = lib.llama_get_logits_ith(self._context, row)
        if not pointer:
            raise RuntimeFailed(f"llama.cpp returned no logits for row {row}.", "Try again.")
        return np.ctypeslib.as_array(pointer, shape=(self.vocab_size,))

    def logit(self, row: int, token: int) -> float:
        """One of the logits of batch row `row`."""
        return float(lib.llama_get_logits_ith(self._context, row)[token])

    # Sequences

    def end_position(self, sequence: int) -> int:
        """Number of positions this sequence holds."""
        return int(lib.llama_memory_seq_pos_max(self._memory, sequence)) + 1

    def remove(self, sequence: int, start: int = 0) -> bool:
        """Drop everything from position `start`. False when this memory cannot be cut there."""
        if self.mtp:
            self.mtp.remove(sequence, start)
        if start == 0:
            self._taken_back.discard(sequence)
        return bool(lib.llama_memory_seq_rm(self._memory, sequence, start if start > 0 else -1, -1))

    def clear(self) -> None:
        """Drop everything of all sequences, and overwrite it: cells that hold no numbers spoil whatever is read later,
        since attention multiplies also what it masks."""
        if self.mtp:
            self.mtp.clear()
        self._taken_back.clear()
        lib.llama_memory_clear(self._memory, True)

    def take_back(self, sequence: int, start: int) -> bool:
        """Drop what the last batch decoded from position `start` on: up to `LoadPlan.draft_tokens` tokens."""
        if not lib.llama_memory_seq_rm(self._memory, sequence, start, -1):
            return False
        if self.is_recurrent:
            self._taken_back.add(sequence)
        return True

    def copy(self, source: int, target: int, end: int | None = None) -> None:
        """Make `target`, which must be empty, share `source`'s state; up to `end` on non-recurrent models only."""
        if source in self._taken_back:
            # llama.cpp would give the copy the state before it was taken back. Saving and restoring settles it.
            data = self.save(source, recurrent_only=True)
            if not data or not self.restore(source, data, recurrent_only=True):
                raise RuntimeFailed(f"A view could not be copied: {self._log.take()}", "Load without draft tokens.")
        if self.mtp:
            self.mtp.copy(source, target, end)
        first, last = (-1, -1) if end is None else (0, end)
        lib.llama_memory_seq_cp(self._memory, source, target, first, last)

    def save(self, sequence: int, *, recurrent_only: bool) -> bytes:
        """The state of a sequence as bytes, or an empty result when it cannot be taken."""
        flags = _PARTIAL_ONLY if recurrent_only else 0
        size = lib.llama_state_seq_get_size_ext(self._context, sequence, flags)
        buffer = (ctypes.c_uint8 * size)()
        written = lib.llama_state_seq_get_data_ext(self._context, buffer, size, sequence, flags)
        return bytes(buffer) if written == size else b""

    def restore(self, sequence: int, data: bytes, *, recurrent_only: bool) -> bool:
        """Put back what `save` returned; False when llama.cpp refuses it, for example for lack of cells."""
        flags = _PARTIAL_ONLY if recurrent_only else 0
        buffer = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
        self._taken_back.discard(sequence)
        return bool(lib.llama_state_seq_set_data_ext(self._context, buffer, len(data), sequence, flags))


class _Override(ctypes.Structure):
    _fields_: ClassVar = [("pattern", ctypes.c_char_p), ("buffer_type", ctypes.c_void_p)]


def _overrides(pairs: Sequence[tuple[str, str]]) -> Any:
    """The C array for (tensor name pattern, buffer type) pairs, ended by an empty one; None when there is none."""
    if not pairs:
        return None
    array = (_Override * (len(pairs) + 1))()
    for entry, (pattern, buffer_type) in zip(array, pairs, strict=False):
        entry.pattern, entry.buffer_type = pattern.encode(), buffer_type_handle(buffer_type)
    return array


class _Batch:
    """The arrays of one llama_batch, allocated once; each token belongs to exactly one sequence."""

    def __init__(self, size: int) -> None:
        self.token: Int32Array = np.zeros(size, np.int32)
        self.position: Int32Array = np.zeros(size, np.int32)
        self.sequence: Int32Array = np.zeros(size, np.int32)
        self.count: Int32Array = np.ones(size, np.int32)
        self.output = np.zeros(size, np.int8)
        int_pointer = ctypes.POINTER(ctypes.c_int32)
        base = self.sequence.ctypes.data
        self.rows = (int_pointer * size)(*(ctypes.cast(base + 4 * row, int_pointer) for row in range(size)))
        self.struct: Any = lib.llama_batch(
            n_tokens=0,
            token=self.token.ctypes.data_as(int_pointer),
            embd=None,
            pos=self.position.ctypes.data_as(int_pointer),
            n_seq_id=self.count.ctypes.data_as(int_pointer),
            seq_id=ctypes.cast(self.rows, ctypes.POINTER(int_pointer)),
            logits=self.output.ctypes.data_as(ctypes.POINTER(ctypes.c_int8)),
        )

    def fill(
        self, tokens: Sequence[int], positions: Sequence[int], sequences: Sequence[int], outputs: Sequence[bool]
    ) -> None:
        count = len(tokens)
        self.token[:count] = tokens
        self.position[:count] = positions
        self.sequence[:count] = sequences
        self.output[:count] = outputs
        self.struct.n_tokens = count
