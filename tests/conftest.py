"""Fixtures for every test: an empty home, no network, and the real models with random adapters."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import adapters, hosting, models, network, requirements


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of this test's own, not yet created, in `MACARON_HOME`; children inherit it, and its host ends with it."""
    path = tmp_path / "home"
    monkeypatch.setenv("MACARON_HOME", str(path))
    yield path
    hosting.end_host(path)


@pytest.fixture(autouse=True, scope="session")
def only_loopback() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        network.refuse_network(patch)
        yield


@pytest.fixture
def require_program() -> Callable[[str], str]:
    """`require_program("tmux")`: its path, or a skipped test; under `MACARON_CI` a failed one."""
    return requirements.require_program


@pytest.fixture(scope="session")
def starter_base() -> Path:
    return models.starter_base()


@pytest.fixture(scope="session")
def tiny_moe() -> Path:
    return models.tiny_moe()


@pytest.fixture(scope="session")
def starter_adapters(starter_base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Four random adapters on the starter base, L0 to L3, written once."""
    return adapters.write_adapters(starter_base, tmp_path_factory.mktemp("starter-adapters"))


@pytest.fixture(scope="session")
def tiny_moe_adapters(tiny_moe: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Four random adapters on the tiny Qwen3.5-MoE, L0 to L3, routed experts included, written once."""
    return adapters.write_adapters(tiny_moe, tmp_path_factory.mktemp("tiny-moe-adapters"))
