"""A conversation for every test that wants one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.talking import Talk, open_talk


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    """Three experts with a system text and an adapter each, and a scripted runtime."""
    with open_talk(tmp_path) as opened:
        yield opened
