"""The pictures of the page in the README come from the real page."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.running import ROOT, environment
from tests.support.requirements import require_program

SCRIPT = ROOT / "packaging" / "screenshot_page.py"
PICTURES = ROOT / "packaging" / "screenshots"
MAX_BYTES = 200_000
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.model
def test_the_script_draws_a_real_conversation(tmp_path: Path) -> None:
    require_program("chromium")
    arguments = ["--out", tmp_path / "pictures", "--language", "zh", "--dark", "--phone"]
    subprocess.run([sys.executable, SCRIPT, *arguments], check=True, timeout=100, env=environment())
    (picture,) = (tmp_path / "pictures").iterdir()
    assert picture.name == "page-zh-dark-phone.png"
    assert picture.read_bytes().startswith(PNG) and picture.stat().st_size < MAX_BYTES


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_picture_in_each_language_is_in_the_checkout_and_small(language: str) -> None:
    picture = PICTURES / f"page-{language}.png"
    assert picture.read_bytes().startswith(PNG) and picture.stat().st_size < MAX_BYTES
