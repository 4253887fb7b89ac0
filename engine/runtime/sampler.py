"""Draw the next token with llama.cpp's own sampler chain, within a grammar when there is one."""

import ctypes
from typing import Any, Final

import numpy as np
from llama_cpp.llama_grammar import json_schema_to_gbnf

from engine.errors import UsageProblem
from engine.runtime.binding import lib
from engine.runtime.native import FloatArray, Native
from engine.runtime.protocol import Request, Sampling

_CANDIDATE: Final = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class Sampler:
    """The sampler of one request. Penalties look at the completion only, never at the prompt."""

    def __init__(self, native: Native, request: Request) -> None:
        self._native = native
        self._grammar: Any = None
        grammar = _grammar_text(request)
        if grammar is not None:
            self._grammar = lib.llama_sampler_init_grammar(native.vocab, grammar.encode(), b"root")
            if not self._grammar:
                raise UsageProblem("The grammar cannot be used: it has an error.", "Check that its root rule exists.")
        self._chain = _chain(native, request.sampling)
        for token in request.said:
            self._accept(token)

    def close(self) -> None:
        lib.llama_sampler_free(self._chain)
        if self._grammar:
            lib.llama_sampler_free(self._grammar)
        self._chain = self._grammar = None

    def sample(self, row: int) -> int:
        """The next token, drawn from logits row `row` of the last decode."""
        if self._grammar is None:
            return int(lib.llama_sampler_sample(self._chain, self._native.context, row))
        logits = self._native.logits(row)
        # Filtering the whole vocabulary by the grammar is slow; most drawn tokens fit anyway, so look at one first.
        token = self._draw(logits, within_grammar=False)
        if not self._fits(token):
            token = self._draw(logits, within_grammar=True)
        self._accept(token)
        return token

    def _accept(self, token: int) -> None:
        if self._grammar:
            lib.llama_sampler_accept(self._grammar, token)
        lib.llama_sampler_accept(self._chain, token)

    def _draw(self, logits: FloatArray, *, within_grammar: bool) -> int:
        candidates = np.empty(len(logits), _CANDIDATE)
        candidates["id"] = np.arange(len(logits), dtype=np.int32)
        candidates["logit"] = logits
        candidates["p"] = 0.0
        array = _token_array(candidates)
        if within_grammar:
            lib.llama_sampler_apply(self._grammar, ctypes.byref(array))
        lib.llama_sampler_apply(self._chain, ctypes.byref(array))
        return int(array.data[array.selected].id)

    def _fits(self, token: int) -> bool:
        single = np.array([(token, 1.0, 0.0)], _CANDIDATE)
        lib.llama_sampler_apply(self._grammar, ctypes.byref(_token_array(single)))
        return bool(np.isfinite(single["logit"][0]))


def _token_array(candidates: "np.ndarray[Any, Any]") -> Any:
    pointer = candidates.ctypes.data_as(lib.llama_token_data_p)
    return lib.llama_token_data_array(data=pointer, size=len(candidates), selected=-1, sorted=False)


def _chain(native: Native, sampling: Sampling) -> Any:
    chain: Any = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
    penalties = (sampling.repeat_penalty, sampling.frequency_penalty, sampling.presence_penalty)
    if penalties != (1.0, 0.0, 0.0):
        lib.llama_sampler_chain_add(
            chain, lib.llama_sampler_init_penalties(native.vocab_size, sampling.repeat_last_n, *penalties)
        )
    if sampling.temperature <= 0.0:
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_greedy())
        return chain
    if sampling.top_k > 0:
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_top_k(sampling.top_k))
    if sampling.top_p < 1.0:
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_top_p(sampling.top_p, 1))
    if sampling.min_p > 0.0:
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_min_p(sampling.min_p, 1))
    lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_temp(sampling.temperature))
    lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_dist(sampling.seed & 0xFFFFFFFF))
    return chain


def _grammar_text(request: Request) -> str | None:
    if request.json_schema is None:
        return request.grammar
    try:
        return str(json_schema_to_gbnf(request.json_schema))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, AssertionError) as error:
        raise UsageProblem(f"The JSON schema cannot be used: {error}", "Simplify the schema and try again.") from error


def logprob(logits: FloatArray, token: int, top: int) -> tuple[float, tuple[tuple[int, float], ...]]:
    """Log-probability of `token` in nats, and those of the `top` likeliest tokens, before temperature and filters."""
    values = logits.astype(np.float64)
    values -= values.max()
    values -= np.log(np.exp(values).sum())
    if top <= 0:
        return float(values[token]), ()
    best = np.argpartition(values, -top)[-top:]
    ranked = best[np.argsort(values[best])[::-1]]
    return float(values[token]), tuple((int(index), float(values[index])) for index in ranked)
