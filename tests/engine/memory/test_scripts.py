"""Traditional Chinese is understood as simplified Chinese is, and kept as it was typed."""

import pytest

from engine.memory.scripts import _SIMPLIFIED, _TRADITIONAL, simplified
from tests.engine.memory.conftest import active, recalled


def test_the_table_is_one_for_one_and_doing_it_twice_changes_nothing_more():
    assert len(_TRADITIONAL) == len(_SIMPLIFIED) == len(set(_TRADITIONAL))
    assert not set(_TRADITIONAL) & set(_SIMPLIFIED)


def test_a_text_stays_as_long_as_it_was():
    text = "我們搬到臺北了嗎？I like tea"
    assert simplified(text) == "我们搬到台北了吗？I like tea"
    assert len(simplified(text)) == len(text)


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        ("我們搬到臺北了。", ["我們搬到臺北了"]),
        ("我喜歡喝茶。", ["我喜歡喝茶"]),
        ("請記住我對花生過敏。", ["我對花生過敏"]),
        ("我喜歡茶嗎？", []),
        ("翻譯：我住在巴黎。", []),
        ("寫一個故事，我住在火星上。", []),
        ("如果我住在巴黎就好了。", []),
        ("我的密碼是12345。", []),
    ],
)
def test_what_is_typed_in_traditional_characters_is_understood(memories, say, message, texts):
    say(message)
    assert active(memories) == texts


def test_either_script_finds_and_supersedes_the_other(memories, say):
    say("我养了一只猫。")
    assert recalled(memories, "我養了什麼動物？") == ["我养了一只猫"]
    say("我每天喝咖啡。")
    say("我不再喝咖啡了，戒掉了。")
    say("我又開始喝咖啡了。")
    assert recalled(memories, "我喝咖啡嗎？")[0] == "我又開始喝咖啡了"


def test_typographic_apostrophes_are_read_as_plain_ones(memories, say):
    say("I’m allergic to peanuts. I don’t eat pork.")
    assert active(memories) == ["I'm allergic to peanuts", "I don't eat pork"]
