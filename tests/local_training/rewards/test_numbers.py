"""Numbers as people write them, in English and Chinese."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_training.rewards.numbers import MOST_CHARACTERS, chinese_value, numbers_in


def values(text: str) -> list[float]:
    return [number.value for number in numbers_in(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("It is 42.", [42], id="plain"),
        pytest.param("about 1,234,567.5 km", [1234567.5], id="thousands_by_comma"),
        pytest.param("１，２３４ 元", [1234], id="fullwidth"),
        pytest.param("12\u202f345 items", [12345], id="thousands_by_narrow_space"),
        pytest.param("minus −3 and -4", [-3, -4], id="minus_signs"),
        pytest.param("6.02e23", [6.02e23], id="exponent"),
        pytest.param("pages 5-7", [5, 7], id="a_range_is_no_difference"),
        pytest.param("1, 2, 3", [1, 2, 3], id="list"),
        pytest.param("1,2,3", [1, 2, 3], id="tight_list"),
        pytest.param("3.5万人", [35000], id="digits_with_large_unit"),
        pytest.param("三万五千元", [35000], id="chinese"),
        pytest.param("两千零五", [2005], id="chinese_with_gap"),
        pytest.param("一亿三千万", [130_000_000], id="chinese_large"),
        pytest.param("负十二", [-12], id="chinese_negative"),
        pytest.param("三点一四", [3.14], id="chinese_fraction"),
        pytest.param("二〇二六年", [2026], id="chinese_digit_by_digit"),
        pytest.param("三万五", [35000], id="chinese_spoken_tail"),
        pytest.param("答案是42，这是一个合数。", [42], id="digits_outrank_chinese_words"),
        pytest.param("答案是十二，这是一个合数。", [12], id="an_article_is_no_number"),
        pytest.param("万一下雨", [], id="a_word_of_numerals"),
        pytest.param("一" * 5000, [], id="a_numeral_without_end"),
        pytest.param("none at all", [], id="none"),
    ],
)
def test_numbers_are_read_as_they_are_written(text, expected):
    assert values(text) == pytest.approx(expected)


@given(st.integers(0, 10**9))
def test_every_number_is_read_with_and_without_separators(number):
    assert values(f"It is {number}.") == [number]
    assert values(f"It is {number:,}.") == [number]


@given(st.integers(1, 10**8 - 1))
def test_every_chinese_numeral_is_read(number):
    assert chinese_value(in_chinese(number)) == number


def in_chinese(number: int) -> str:
    """Another way round than the reader: from the number to its words."""

    def below_ten_thousand(part: int, is_first: bool) -> str:
        text, gap = "", False
        for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
            digit = part // unit % 10
            if digit:
                text += ("零" if gap and (text or not is_first) else "") + "零一二三四五六七八九"[digit] + name
                gap = False
            else:
                gap = True
        return text

    high, low = divmod(number, 10_000)
    text = below_ten_thousand(high, True) + "万" if high else ""
    if low:
        text += ("零" if high and low < 1000 else "") + below_ten_thousand(low, not high).removeprefix("零")
    return text


@given(st.text(alphabet="0123456789 ,._'-+eE一十百千万亿点零负", max_size=200))
def test_any_text_is_read_to_its_end(text):
    assert all(not math.isnan(value) for value in values(text))


def test_a_long_answer_is_read_from_its_end_in_no_time():
    assert values("1" * 50 + " " + "1," * MOST_CHARACTERS + " so 7")[-1] == 7
