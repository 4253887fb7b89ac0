"""The helpers that other tests stand on: guards that guard, and adapters that really change a model."""

import ctypes
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import llama_cpp
import numpy as np
import pytest

from tests.support.adapters import write_random_adapter
from tests.support.models import DATA
from tests.support.requirements import require_program

TINY_PROMPT = tuple(int(token) for token in np.load(DATA / "tiny-qwen35moe" / "logits.npz")["ids"])
STARTER_PROMPT = tuple(range(300, 319))


@pytest.mark.parametrize(
    "reach",
    [
        pytest.param(lambda: socket.create_connection(("192.0.2.1", 80), timeout=1), id="address"),
        pytest.param(lambda: socket.create_connection(("2001:db8::1", 80), timeout=1), id="ipv6"),
        pytest.param(lambda: socket.getaddrinfo("example.invalid", 443), id="name"),
        pytest.param(lambda: datagram("192.0.2.1"), id="datagram"),
    ],
)
def test_a_test_that_leaves_the_machine_fails_even_where_errors_are_caught(reach):
    with pytest.raises(pytest.fail.Exception, match="only loopback"):
        try:
            reach()
        except Exception as error:
            pytest.exit(f"the code under test could take this for being offline: {error!r}")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_is_open(host):
    with socket.create_server(("127.0.0.1", 0)) as server:
        answer = threading.Thread(target=lambda: server.accept()[0].close())
        answer.start()
        with socket.create_connection((host, server.getsockname()[1]), timeout=5) as connection:
            assert connection.recv(1) == b""
        answer.join()


def test_a_missing_program_skips_for_a_developer(monkeypatch):
    monkeypatch.delenv("MACARON_CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no-such-program"):
        require_program("no-such-program")


def test_a_missing_program_fails_in_the_gate(monkeypatch):
    monkeypatch.setenv("MACARON_CI", "1")
    with pytest.raises(pytest.fail.Exception, match="no-such-program"):
        require_program("no-such-program")


def test_equal_seeds_give_equal_adapters_and_other_seeds_other_ones(tiny_moe, tmp_path):
    first, again, other = (
        write_random_adapter(tiny_moe, tmp_path / f"{name}.gguf", seed=seed).read_bytes()
        for name, seed in (("first", 1), ("again", 1), ("other", 2))
    )
    assert first == again
    assert first != other


def test_an_adapter_for_kinds_that_the_base_lacks_is_refused(tiny_moe, tmp_path):
    with pytest.raises(ValueError, match="ffn_gate"):
        write_random_adapter(tiny_moe, tmp_path / "none.gguf", kinds=("ffn_gate",))


@pytest.mark.model
def test_random_adapters_on_the_starter_change_every_answer(starter_base, starter_adapters):
    check_adapters(starter_base, STARTER_PROMPT, starter_adapters)


@pytest.mark.model
def test_random_adapters_on_the_tiny_moe_change_every_answer(tiny_moe, tiny_moe_adapters):
    check_adapters(tiny_moe, TINY_PROMPT, tiny_moe_adapters)


@pytest.mark.model
@pytest.mark.parametrize("kind", ["attn_qkv", "attn_gate", "ssm_out", "ffn_up_shexp", "ffn_down_exps"])
def test_a_half_precision_adapter_on_one_kind_alone_has_an_effect(tiny_moe, tmp_path, kind):
    path = write_random_adapter(tiny_moe, tmp_path / "one.gguf", kinds=(kind,), strength=1.0, data_type="f16")
    with loaded(tiny_moe) as model:
        base, adapted = greedy(model, TINY_PROMPT), greedy(model, TINY_PROMPT, path)
    assert np.abs(adapted[1] - base[1]).max() > 0.1


def check_adapters(base: Path, prompt: tuple[int, ...], paths: tuple[Path, ...]) -> None:
    """No two of the base and its adapters answer alike, and logits move by units without running away."""
    with loaded(base) as model:
        plain, logits = greedy(model, prompt)
        adapted = [greedy(model, prompt, path) for path in paths]
    assert len({plain, *(tokens for tokens, _ in adapted)}) == 1 + len(paths)
    for _, changed in adapted:
        assert np.isfinite(changed).all()
        assert 1 < np.abs(changed - logits).max() < 50


@contextmanager
def loaded(base: Path) -> Iterator[int]:
    llama_cpp.llama_log_set(keep_quiet, ctypes.c_void_p(0))
    model = llama_cpp.llama_model_load_from_file(str(base).encode(), llama_cpp.llama_model_default_params())
    assert model
    try:
        yield model
    finally:
        llama_cpp.llama_model_free(model)


@llama_cpp.llama_log_callback
def keep_quiet(level: int, text: bytes, data: object) -> None:
    """llama.cpp reports every load at length."""


def greedy(model, prompt: tuple[int, ...], adapter: Path | None = None) -> tuple[tuple[int, ...], np.ndarray]:
    """Twelve greedy tokens after `prompt`, and the logits of the first of them, (V,)."""
    parameters = llama_cpp.llama_context_default_params()
    parameters.n_ctx, parameters.n_threads, parameters.n_threads_batch = 128, 1, 1
    context = llama_cpp.llama_init_from_model(model, parameters)
    handle = attach(model, context, adapter) if adapter else None
    try:
        rows = []
        tokens = list(prompt)
        for _ in range(12):
            array = (llama_cpp.llama_token * len(tokens))(*tokens)  # the batch only points at it
            assert llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(array, len(tokens))) == 0
            rows.append(last_logits(model, context))
            tokens = [int(rows[-1].argmax())]
        return tuple(int(row.argmax()) for row in rows), rows[0]
    finally:
        llama_cpp.llama_free(context)
        if handle:
            llama_cpp.llama_adapter_lora_free(handle)


def attach(model, context, path: Path):
    handle = llama_cpp.llama_adapter_lora_init(model, str(path).encode())
    assert handle, f"llama.cpp refused {path.name}"
    handles, scales = (llama_cpp.llama_adapter_lora_p_ctypes * 1)(handle), (ctypes.c_float * 1)(1.0)
    assert llama_cpp.llama_set_adapters_lora(context, handles, 1, scales) == 0
    return handle


def last_logits(model, context) -> np.ndarray:
    size = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model))
    return np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(context, -1), (size,)).copy()


def datagram(host: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"hello", (host, 9))
