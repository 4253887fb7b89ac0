"""The verb `memory` in this process, in English, on the test's home."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.cli.memory import memory

Printed = Callable[..., Any]


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """Run the verb and read what it printed; with --json the value."""

    def _printed(*arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert (memory.main([*arguments], prog_name="macaron memory", standalone_mode=False) or 0) == code
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in arguments else out

    return _printed
