"""The doctor finds what is there, says where the model runs, and tells what to do about what is not well."""

from pathlib import Path

import pytest

from tests.app.running import macaron, profile_like_starter

pytestmark = pytest.mark.model


def test_a_healthy_home_is_found_healthy(home: Path) -> None:
    done = macaron("doctor", "--json")
    checks = {check["name"]: check for check in done.json["checks"]}
    assert done.code == 0
    assert done.json["ok"]
    assert {"system", "memory", "disk", "home", "llama_cpp", "profile", "base", "backend", "speed"} <= set(checks)
    assert "CPU" in checks["backend"]["detail"]
    assert "GPU" in checks["backend"]["detail"], "it says why"


def test_a_missing_base_is_named_with_what_to_do(home: Path, tmp_path: Path) -> None:
    folder = profile_like_starter(tmp_path / "broken")
    settings = folder / "profile.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("Q4_1.gguf", "nowhere.gguf"), encoding="utf-8")

    done = macaron("doctor", "--profile", str(folder))

    assert done.code == 1
    assert "BAD  Engine" in done.out
    assert "models" in done.out, "it says where the file belongs"
    assert "ok   Memory" in done.out
