"""The library and its Python binding belong together, and it shows when they do not."""

import ctypes

import pytest

from engine.errors import BindingMismatch
from engine.runtime import binding
from engine.runtime.binding import AbortFlag, check_binding, lib


def test_the_installed_library_fits() -> None:
    check_binding()


def test_the_size_of_the_structs_is_seen() -> None:
    for name in ("llama_context_default_params", "llama_model_default_params"):
        written = binding._written_bytes(name)
        if written is None:
            pytest.skip("this processor returns structs in another way")
        size = ctypes.sizeof(getattr(lib, name)())
        assert size - 7 <= written <= size


@pytest.mark.parametrize("added", [8, -8])
def test_a_struct_of_another_size_is_refused(monkeypatch: pytest.MonkeyPatch, added: int) -> None:
    size = ctypes.sizeof(lib.llama_context_default_params())
    monkeypatch.setattr(binding, "_written_bytes", lambda function: size + added)
    with pytest.raises(BindingMismatch, match=f"{size + added} bytes in the library"):
        check_binding()


def test_a_moved_field_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def moved() -> object:
        params = original()
        params.kv_unified, params.swa_full = True, False
        return params

    original = lib.llama_context_default_params
    monkeypatch.setattr(lib, "llama_context_default_params", moved)
    with pytest.raises(BindingMismatch, match="swa_full"):
        check_binding()


def test_the_abort_flag_answers_without_python() -> None:
    flag = AbortFlag()
    assert not flag.callback(flag.data)
    flag.set()
    assert flag.callback(flag.data)
    flag.clear()
    assert not flag.callback(flag.data)
