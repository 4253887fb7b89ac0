"""Language, sentences and length of texts in English and Chinese."""

import pytest

from local_training.lessons.wording import (
    clean,
    first_sentences,
    is_echo,
    is_repetitive,
    language_of,
    length_units,
    plain,
    sentences,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The soup is hot.", "en"),
        ("汤很热。", "zh"),
        ("我在用 Python 写程序。", "zh"),
        ("The word 茶 means tea in Chinese.", "en"),
        ("12 + 30 = 42", "en"),
        ("…!?", None),
        ("", None),
    ],
)
def test_the_language_of_a_text_is_told_by_its_script(text, language):
    assert language_of(text) == language


def test_length_counts_words_and_chinese_characters():
    assert length_units("Don't boil it at 3.5 bar.") == 6
    assert length_units("用Python写程序") == 5


def test_sentences_end_at_their_marks_and_at_line_ends_but_not_inside_numbers_or_abbreviations():
    assert sentences("Use 3.5 g, e.g. of salt. Stir well!\nServe it") == [
        "Use 3.5 g, e.g. of salt.",
        "Stir well!",
        "Serve it",
    ]
    assert sentences("先烧水。再放盐！好吃吗？") == ["先烧水。", "再放盐！", "好吃吗？"]


def test_list_markers_and_emphasis_are_no_part_of_the_words():
    assert plain("## Steps\n1. **Boil** water\n- add `salt`") == "Steps Boil water add salt"


def test_the_first_sentences_are_whole_and_within_the_limit():
    text = "Boil the water. Add some salt. Then wait for a long time until all is done."
    assert first_sentences(text, 7) == "Boil the water. Add some salt."
    assert first_sentences("先把水烧开。再放一点盐。然后等十分钟左右。", 12) == "先把水烧开。再放一点盐。"


@pytest.mark.parametrize(
    "text", ["A sentence that has no end", "Here are some tips:", "", "Six words are far too many."]
)
def test_without_a_finished_sentence_that_fits_there_is_none(text):
    assert first_sentences(text, 4) is None


@pytest.mark.parametrize(
    "text",
    ["It is good, it is good, it is good, it is good, it is good.", "你可以看到，你可以看到，你可以看到，你可以看到。"],
)
def test_one_phrase_over_and_over_is_repetitive(text):
    assert is_repetitive(text)


@pytest.mark.parametrize(
    "text",
    [
        "Keep it in a paper bag at room temperature, or in the freezer for longer.",
        "先把水烧开，再放菜和盐，小火慢煮，最后尝一尝味道。",
        '{"name": "Rosa Blum", "age": 41, "city": "Kiel"}',
        "No, no, no!",
        "",
    ],
)
def test_an_ordinary_answer_is_not_repetitive(text):
    assert not is_repetitive(text)


def test_an_echo_begins_with_the_question_whatever_its_marks():
    assert is_echo("什么是黑洞？", "什么是黑洞? - 黑洞")
    assert is_echo("What is dew?", "what is DEW: water")
    assert not is_echo("什么是黑洞？", "黑洞是天体。")
    assert not is_echo("Hm?", "Hm? What is it?")


def test_control_format_and_half_characters_are_removed_but_lines_stay():
    assert clean(" a\x00b\u202ec\ud800\nd\t") == "abc\nd"
