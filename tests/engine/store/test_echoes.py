"""What of an answer gives back what was said: words in a row, names and numbers, in both languages."""

import pytest

from engine.store.echoes import echoes


@pytest.mark.parametrize(
    ("said", "answer", "found"),
    [
        pytest.param(
            "I live in Windhoek.", "So you live in Windhoek!", {"live in Windhoek", "Windhoek"}, id="words in a row"
        ),
        pytest.param("My cat is called Mitzi.", "Mitzi? A nice cat.", {"Mitzi"}, id="a name alone"),
        pytest.param("Call me at 0171-4455.", "Noted: 0171-4455.", {"0171-4455"}, id="a number"),
        pytest.param("I am allergic to peanuts.", "Peanuts are out then.", set(), id="one common word says little"),
        pytest.param("I'd like some tea. Thanks.", "Thanks. Some tea!", set(), id="a capital begins a sentence"),
        pytest.param("我住在温得和克。", "原来你住在温得和克啊", {"住在温得和克"}, id="chinese"),
        pytest.param("我住在上海。", "上海很大。", set(), id="two characters are anybody's"),
        pytest.param("", "Anything.", set(), id="nothing said"),
        pytest.param("Live in Windhoek", "", set(), id="nothing answered"),
    ],
)
def test_what_an_answer_gives_back(said: str, answer: str, found: set[str]):
    assert set(echoes([said], answer)) == found


def test_parts_are_given_as_they_stand_in_the_answer():
    assert echoes(["red blue green"], "RED,  blue\nGreen!") == ("RED,  blue\nGreen",)
