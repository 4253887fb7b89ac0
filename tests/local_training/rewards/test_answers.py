"""Rewards that compare an answer with the right one."""

import pytest

from local_training.rewards import RewardProblem, build_reward
from local_training.tasks import RewardSpec
from tests.local_training.rewards.judging import judge


@pytest.mark.parametrize(
    ("said", "parameters", "value"),
    [
        pytest.param("Paris", {"expected": "Paris"}, 1, id="same"),
        pytest.param("  paris. ", {"expected": "Paris"}, 1, id="case_space_and_full_stop"),
        pytest.param("**Paris**", {"expected": "Paris"}, 1, id="markdown"),
        pytest.param("Ｐａｒｉｓ", {"expected": "Paris"}, 1, id="fullwidth"),
        pytest.param("巴黎。", {"expected": ["Paris", "巴黎"]}, 1, id="one_of_several"),
        pytest.param("It is Paris.", {"expected": "Paris"}, 0, id="more_than_that"),
        pytest.param("paris", {"expected": "Paris", "ignore_case": False}, 0, id="case_matters"),
        pytest.param("Let me think.\n\nParis\n", {"expected": "Paris", "where": "last_line"}, 1, id="last_line"),
        pytest.param("Paris\nor Rome", {"expected": "Paris", "where": "last_line"}, 0, id="not_last_line"),
        pytest.param("I think Paris, surely.", {"expected": "Paris", "where": "anywhere"}, 1, id="anywhere"),
        pytest.param("Parisian food", {"expected": "Paris", "where": "anywhere"}, 0, id="only_whole_words"),
        pytest.param("首都是巴黎市。", {"expected": "巴黎", "where": "anywhere"}, 1, id="chinese_has_no_word_ends"),
        pytest.param("", {"expected": "Paris", "where": "anywhere"}, 0, id="empty"),
    ],
)
def test_exact(said, parameters, value):
    assert judge("exact", said, **parameters).value == value


@pytest.mark.parametrize(
    ("said", "parameters", "value"),
    [
        pytest.param("So 3 times 4 is 12.", {"expected": 12}, 1, id="last_number"),
        pytest.param("12, since 3 times 4 is that", {"expected": 12}, 0, id="not_last_number"),
        pytest.param("12, since 3 times 4", {"expected": 12, "position": "first"}, 1, id="first_number"),
        pytest.param("12 or 13", {"expected": 12, "position": "only"}, 0, id="a_guess_at_two"),
        pytest.param("一千二百", {"expected": 1200}, 1, id="chinese"),
        pytest.param("1,200", {"expected": 1200}, 1, id="thousands"),
        pytest.param("3.14", {"expected": 3.14159, "tolerance": 0.01}, 1, id="tolerance"),
        pytest.param("103", {"expected": 100, "relative_tolerance": 0.02}, 0, id="relative_tolerance"),
        pytest.param("5 km", {"expected": 5, "units": ["km", "公里"]}, 1, id="unit"),
        pytest.param("五公里", {"expected": 5, "units": ["km", "公里"]}, 1, id="chinese_unit"),
        pytest.param("5 kmh", {"expected": 5, "units": ["km"]}, 0, id="another_unit_that_begins_alike"),
        pytest.param("5", {"expected": 5, "units": ["km"]}, 0, id="no_unit"),
        pytest.param("$5", {"expected": 5, "units": ["$"]}, 1, id="unit_in_front"),
        pytest.param("50%", {"expected": 50, "units": ["%"]}, 1, id="percent"),
        pytest.param("no idea", {"expected": 0}, 0, id="no_number"),
        pytest.param("9" * 5000, {"expected": 9}, 0, id="a_number_beyond_all_bounds"),
    ],
)
def test_numeric(said, parameters, value):
    assert judge("numeric", said, **parameters).value == value


@pytest.mark.parametrize(
    ("said", "parameters", "value"),
    [
        pytest.param("blue, Red and green", {"expected": ["red", "green", "blue"]}, 1, id="any_order"),
        pytest.param("- red\n- green\n- blue", {"expected": ["red", "green", "blue"]}, 1, id="list"),
        pytest.param("1. red\n2. green", {"expected": ["red", "green"]}, 1, id="numbered"),
        pytest.param("红、绿和蓝。", {"expected": ["红", "绿", "蓝"]}, 1, id="chinese"),
        pytest.param("red, green", {"expected": ["red", "green", "blue"]}, 0, id="one_is_missing"),
        pytest.param("red, green, blue, pink", {"expected": ["red", "green", "blue"]}, 0, id="one_too_many"),
        pytest.param("red, pink", {"expected": ["red", "green"], "partial": True}, 0.5, id="partial"),
        pytest.param("", {"expected": ["red"], "partial": True}, 0, id="empty"),
    ],
)
def test_set(said, parameters, value):
    assert judge("set", said, **parameters).value == pytest.approx(value)


def test_a_result_says_whose_it_is_what_it_could_have_been_and_why():
    result = judge("numeric", "It is 13.", expected=12)
    assert (result.name, result.low, result.high) == ("numeric", 0.0, 1.0)
    assert result.reason == "it says 13, not 12"


@pytest.mark.parametrize(
    ("reward", "parameters", "reason"),
    [
        pytest.param("exact", {"expected": []}, "at least 1", id="nothing_expected"),
        pytest.param("exact", {"expected": "..."}, "punctuation", id="punctuation_expected"),
        pytest.param("exact", {"expected": "x", "where": "middle"}, "one of whole", id="unknown_place"),
        pytest.param("exact", {"expected": "x", "ignore_case": "no"}, "true or false", id="flag_is_a_text"),
        pytest.param("numeric", {"expected": "12"}, "must be a number", id="number_is_a_text"),
        pytest.param("numeric", {"expected": float("inf")}, "must be a number", id="infinite"),
        pytest.param("numeric", {"expected": float("nan")}, "must be a number", id="nan"),
        pytest.param("numeric", {"expected": 1, "tolerance": -1}, "must be a number from 0", id="negative_tolerance"),
        pytest.param("set", {"expected": ["Red", "red"]}, "twice", id="item_twice"),
    ],
)
def test_wrong_parameters_are_refused_with_the_name_of_the_reward(reward, parameters, reason):
    with pytest.raises(RewardProblem, match=reason) as caught:
        build_reward(RewardSpec(reward, parameters))
    assert f"reward `{reward}`" in caught.value.problem
