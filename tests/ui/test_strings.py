"""English and Chinese say the same things."""

from string import Formatter

import pytest

from ui.strings import LANGUAGES, TEXTS, Wording, detect_language, say


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("key", TEXTS)
def test_both_languages_have_the_same_placeholders(key: str) -> None:
    wording = TEXTS[key]
    assert placeholders(wording.en) == placeholders(wording.zh)


@pytest.mark.parametrize("key", TEXTS)
def test_both_languages_have_every_text(key: str) -> None:
    assert TEXTS[key].en.strip()
    assert TEXTS[key].zh.strip()


def test_every_language_has_a_wording() -> None:
    assert Wording._fields == LANGUAGES


def test_texts_of_the_palette_hold_no_markup() -> None:
    """Textual reads markup in the lines of its palette."""
    assert not [key for key in TEXTS if key.startswith(("command.", "palette.")) and "[" in TEXTS[key].en]


def test_a_text_is_filled_in_the_language_that_is_asked_for() -> None:
    assert say("expert.unknown", "en", name="L9", known="L0") == "There is no expert L9. Experts: L0."
    assert say("quit.how", "zh", quit="Ctrl+Q") == "按 Ctrl+Q 退出。"


def test_a_language_we_do_not_have_reads_english() -> None:
    assert say("copied", "fr") == "Copied."


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        pytest.param({}, "en", id="nothing set"),
        pytest.param({"LANG": "zh_CN.UTF-8"}, "zh", id="Chinese"),
        pytest.param({"LANG": "zh_TW"}, "zh", id="Taiwan"),
        pytest.param({"LANG": "C.UTF-8"}, "en", id="no language"),
        pytest.param({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"}, "en", id="messages before LANG"),
        pytest.param({"LANG": "en_US.UTF-8", "LC_ALL": "zh_CN.UTF-8"}, "zh", id="LC_ALL before all"),
        pytest.param({"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, "zh", id="empty counts as not set"),
    ],
)
def test_the_locale_decides_the_language(environment: dict[str, str], language: str) -> None:
    assert detect_language(environment) == language
