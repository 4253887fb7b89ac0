"""A hub, a home, and a small real model that the hub serves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.models.fit import Machine
from app.paths import Paths
from tests.app.models import hub as hubs
from tests.app.models.pulls import FILE, REPO, Puller


@pytest.fixture
def paths(home: Path) -> Paths:
    return Paths(home)


@pytest.fixture
def machine() -> Machine:
    return Machine(16 * 10**9, 12 * 10**9)


@pytest.fixture(scope="session")
def model_bytes(tiny_moe: Path) -> bytes:
    """1.7 MB: 14 chunks of the size the tests use."""
    return tiny_moe.read_bytes()


@pytest.fixture
def hub(model_bytes: bytes) -> Iterator[hubs.Hub]:
    with hubs.serving() as hub:
        hub.repos[REPO] = hubs.Repo({FILE: model_bytes, "README.md": b"# Tiny"})
        yield hub


@pytest.fixture
def pull(paths: Paths, hub: hubs.Hub, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Puller:
    # Whoever runs the tests may have a token or a mirror of their own.
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    return Puller(paths, hub.endpoint, machine)
