"""A better answer is known by how a message begins, in English and Chinese, and by nothing else."""

import pytest

from engine.signals.recognising import better_answer


@pytest.mark.parametrize(
    ("message", "better"),
    [
        ("better: Paris.", "Paris."),
        ("Better: Paris.", "Paris."),
        ("BETTER : Paris.", "Paris."),
        ("better answer: Paris.", "Paris."),
        ("Better：巴黎。", "巴黎。"),
        ("更好：巴黎。", "巴黎。"),
        ("更好的回答：巴黎。", "巴黎。"),
        ("更好的答案: 巴黎。", "巴黎。"),
        ("应该是：巴黎。", "巴黎。"),
        ("  better: two blanks before it", "two blanks before it"),
        ("\n\nbetter: a line before it\n", "a line before it"),
        ("better:\nFirst line.\n\nSecond line.", "First line.\n\nSecond line."),
        ("better:\n```python\nprint(1)\n```", "```python\nprint(1)\n```"),
        ("better: see better: and 更好：too", "see better: and 更好：too"),
        ("better: shorter", "shorter"),
    ],
)
def test_what_follows_the_words_and_a_colon_is_the_better_answer_word_for_word(message: str, better: str) -> None:
    assert better_answer(message) == better


@pytest.mark.parametrize(
    "message",
    [
        "Which is better: tea or coffee?",
        "I think it is better: try again.",
        "这样更好：先喝茶。",
        "我觉得应该是：巴黎。",
        "Betterment: a word.",
        "better",
        "better:",
        "better: \n\n",
        "更好：",
        "better than that: Paris",
        "Paris\nbetter: London",
    ],
)
def test_in_the_middle_of_a_sentence_or_with_nothing_behind_it_the_words_mean_nothing(message: str) -> None:
    assert better_answer(message) is None


@pytest.mark.parametrize(
    "message",
    [
        "```\nbetter: 5\n```",
        "    better: 5",
        "\tbetter: 5",
        "`better: 5`",
        "> better: 5",
        "- better: 5",
        "better://host/path",
        '"better: 5"',
    ],
)
def test_code_a_quotation_and_an_address_are_none(message: str) -> None:
    assert better_answer(message) is None
