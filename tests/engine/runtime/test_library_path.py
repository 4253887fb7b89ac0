"""A library from elsewhere, named by LLAMA_CPP_LIB_PATH: taken when it matches, refused with the reason when not."""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine.errors import BindingMismatch
from engine.runtime.child import ChildRuntime
from engine.runtime.protocol import LoadPlan
from tests.support.completing import complete

pytestmark = pytest.mark.model


@pytest.fixture
def installed() -> Path:
    spec = find_spec("llama_cpp")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "lib"


def load(folder: Path, base: Path) -> str:
    runtime = ChildRuntime(environment={"LLAMA_CPP_LIB_PATH": str(folder)})
    try:
        runtime.load(LoadPlan(str(base), context_tokens=256, pool_tokens=256, threads=1))
        return complete(runtime, runtime.encode("Once upon a time"), max_tokens=4).text
    finally:
        runtime.close()


def test_a_matching_library_elsewhere_is_used(tmp_path: Path, installed: Path, starter_base: Path) -> None:
    folder = tmp_path / "elsewhere"
    shutil.copytree(installed, folder, symlinks=True)
    assert load(folder, starter_base)


def test_a_folder_without_a_library_is_refused(tmp_path: Path, starter_base: Path) -> None:
    with pytest.raises(BindingMismatch, match=str(tmp_path)) as caught:
        load(tmp_path, starter_base)
    assert "LLAMA_CPP_LIB_PATH" in caught.value.hint


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler to make a library that does not match")
def test_a_library_that_is_another_one_is_refused(tmp_path: Path, starter_base: Path) -> None:
    source = tmp_path / "other.c"
    source.write_text("int llama_other(void) { return 1; }")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "libllama.so", source], check=True)
    with pytest.raises(BindingMismatch, match="could not be loaded"):
        load(tmp_path, starter_base)
