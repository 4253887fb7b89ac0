"""The pictures of the README come from the real program, and hold nothing that a reader's browser would fetch."""

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from tests.app.running import ROOT, environment

SCRIPT = ROOT / "packaging" / "screenshot.py"
PICTURES = sorted((ROOT / "packaging" / "screenshots").glob("*.svg"))
MAX_BYTES = 200_000


def words_of(picture: Path) -> str:
    """All text of an SVG in the order of drawing."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8"))
    return unescape("".join(texts)).replace("\xa0", " ")


def addresses_of(picture: Path) -> set[str]:
    """Every address in an SVG but the names of its XML vocabularies and where Rich says it comes from."""
    found = set(re.findall(r"https?://[^\s\"')<]+", picture.read_text(encoding="utf-8")))
    return found - {"http://www.w3.org/2000/svg", "https://www.textualize.io"}


@pytest.mark.model
def test_the_script_draws_a_real_conversation(tmp_path: Path) -> None:
    arguments = ["--out", tmp_path / "pictures", "--language", "en", "--light"]
    subprocess.run([sys.executable, SCRIPT, *arguments], check=True, timeout=100, env=environment())
    (picture,) = (tmp_path / "pictures").iterdir()
    assert picture.name == "chat-en-light.svg"
    words = words_of(picture)
    assert "Paris" in words.partition("What is the capital of France?")[2]
    assert "L2 · pinned" in words and "tok/s" in words
    assert addresses_of(picture) == set()


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_in_the_checkout_is_small_and_fetches_nothing(picture: Path) -> None:
    assert picture.stat().st_size < MAX_BYTES
    assert addresses_of(picture) == set()
    assert "@font-face" not in picture.read_text(encoding="utf-8")


def test_there_is_a_picture_in_each_language() -> None:
    english, chinese = (
        words_of(ROOT / "packaging" / "screenshots" / f"chat-{language}.svg") for language in ("en", "zh")
    )
    assert "The capital of France is Paris." in english
    assert "你好，你是谁？" in chinese and "上下文" in chinese
