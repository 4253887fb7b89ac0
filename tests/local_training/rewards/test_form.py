"""Rewards for language, length and shape."""

import time

import pytest

from local_training.rewards import RewardProblem, build_reward
from local_training.tasks import RewardSpec
from tests.local_training.rewards.judging import judge, outcome


@pytest.mark.parametrize(
    ("said", "language", "value"),
    [
        pytest.param("The weather is fine today.", "en", 1, id="english"),
        pytest.param("今天天气很好。", "zh", 1, id="chinese"),
        pytest.param("今天天气很好。", "en", 0, id="chinese_for_english"),
        pytest.param("Ça va très bien à l’école.", "en", 1, id="script_tells_no_more_than_latin"),
        pytest.param("今天用 Python 写了一个小程序，运行得很快。", "zh", 1, id="a_foreign_name"),
        pytest.param("今日はいい天気ですね。とても気持ちがいい。", "zh", 0, id="japanese"),
        pytest.param("Сегодня хорошая погода.", "en", 0, id="cyrillic"),
        pytest.param("这样写：\n```python\nfor item in items: print(item)\n```", "zh", 1, id="code_does_not_count"),
        pytest.param("42 + 1 = 43!", "en", 0, id="no_words"),
        pytest.param("", "zh", 0, id="empty"),
    ],
)
def test_language_by_script(said, language, value):
    assert judge("language", said, language=language).value == value


@pytest.mark.parametrize(
    ("tokens", "value"), [(4, 0.5), (5, 1), (10, 1), (11, 0.5), (12, 0), (3, 0), (500, 0)], ids=lambda item: str(item)
)
def test_length_falls_off_outside_of_its_band(tokens, value):
    assert judge("length", outcome("x", tokens=tokens), least=5, most=10, slack=2).value == value


@pytest.mark.parametrize(
    ("unit", "said", "length"), [("characters", " 你好 ", 2), ("words", "two words", 2), ("words", "你好 there", 3)]
)
def test_length_in_other_units(unit, said, length):
    assert judge("length", said, least=length, most=length, unit=unit).value == 1
    assert judge("length", said, least=length + 1, most=length + 1, unit=unit).value == 0


@pytest.mark.parametrize(
    ("said", "parameters", "value"),
    [
        pytest.param("Answer: 4", {"starts_with": "Answer:"}, 1, id="starts"),
        pytest.param("It is 4", {"starts_with": "Answer:"}, 0, id="starts_otherwise"),
        pytest.param("4 km", {"ends_with": "km"}, 1, id="ends"),
        pytest.param("one\ntwo", {"one_line": True}, 0, id="two_lines"),
        pytest.param("one", {"one_line": True}, 1, id="one_line"),
        pytest.param("plain *text*, 3 * 4", {"no_markdown": True}, 1, id="plain"),
        pytest.param("# Title", {"no_markdown": True}, 0, id="heading"),
        pytest.param("so **bold**", {"no_markdown": True}, 0, id="bold"),
        pytest.param("A-12", {"pattern": "[A-Z]-[0-9]+"}, 1, id="pattern"),
        pytest.param("see A-12", {"pattern": "[A-Z]-[0-9]+"}, 0, id="pattern_is_of_the_whole"),
        pytest.param("第3章", {"pattern": "第[0-9]+章"}, 1, id="chinese_pattern"),
    ],
)
def test_format(said, parameters, value):
    assert judge("format", said, **parameters).value == value


@pytest.mark.parametrize(("finish", "value"), [("eos", 1), ("stop", 1), ("length", 0)])
def test_an_answer_that_was_cut_is_not_finished(finish, value):
    assert judge("format", outcome("Yes", finish=finish), finished=True).value == value


def test_a_pattern_that_would_take_for_ever_is_given_up_with_the_reason():
    started = time.monotonic()
    result = judge("format", "a" * 40 + "b", pattern="(a+)+")
    assert (result.value, result.reason) == (0, "it cannot be compared with the pattern in time")
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("reward", "parameters", "reason"),
    [
        pytest.param("language", {"language": "fr"}, "one of en, zh", id="language"),
        pytest.param("language", {"language": "en", "least_share": 2}, "from 0 to 1", id="share"),
        pytest.param("length", {}, "`most` must be a whole number", id="no_end"),
        pytest.param("length", {"least": 5, "most": 4}, "below `least`", id="ends_exchanged"),
        pytest.param("length", {"most": 5, "unit": "bytes"}, "one of tokens", id="unit"),
        pytest.param("format", {}, "demands nothing", id="nothing"),
        pytest.param("format", {"pattern": "("}, "no regular expression", id="pattern"),
        pytest.param("format", {"pattern": "a" * 3000}, "more than 2000", id="long_pattern"),
        pytest.param("format", {"pattern": "[[a]"}, "no regular expression", id="pattern_with_two_meanings"),
    ],
)
def test_wrong_parameters_are_refused(reward, parameters, reason):
    with pytest.raises(RewardProblem, match=reason):
        build_reward(RewardSpec(reward, parameters))
