"""Jobs in a database of their own, by a clock that stands still until it is set."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.jobs.keeping import KeptJobs
from engine.store import Store


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[KeptJobs]:
    with Store.open(tmp_path / "macaron.db") as store:
        yield KeptJobs(store.database)
