"""Words are found in whatever case and with whatever spaces, and the mark takes their place."""

import json

import pytest

from engine.forgetting import MARK
from engine.store.spans import Spans, long_enough


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        pytest.param("I live at Rosenweg 7.", f"I live at {MARK}.", id="as it is"),
        pytest.param("ROSENWEG 7, rosenweg\n  7", f"{MARK}, {MARK}", id="other case and spaces"),
        pytest.param("Rosenweg seven", "Rosenweg seven", id="other words"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_words_are_replaced(text, redacted):
    spans = Spans(["Rosenweg  7"])
    assert spans.redacted(text) == redacted
    assert spans.are_in(text) == (text != redacted)


def test_chinese_words_are_replaced():
    assert Spans(["玫瑰路七号"]).redacted("我住在玫瑰路七号。") == f"我住在{MARK}。"


def test_the_longer_of_two_that_overlap_leaves_no_rest():
    assert Spans(["rose", "Rosenweg 7"]).redacted("Rosenweg 7, a rose") == f"{MARK}, a {MARK}"


def test_what_is_forgotten_already_is_not_forgotten_again():
    spans = Spans(["forgotten", MARK])
    assert spans.texts == ("forgotten",)
    assert spans.redacted(MARK) == MARK and not spans.are_in(MARK)
    assert spans.redacted(f"Forgotten {MARK}") == f"{MARK} {MARK}"


def test_words_within_json_are_found_behind_its_escapes():
    spans = Spans(['the "Rose" 玫瑰', "4711"])
    written = json.dumps({"text": 'Say the "Rose" 玫瑰!', "number": 4711, "others": [1, None, True, "x"]})
    assert not spans.are_in(written.replace("4711", ""))
    assert json.loads(spans.redacted_json(written)) == {
        "text": f"Say {MARK}!",
        "number": MARK,
        "others": [1, None, True, "x"],
    }
    assert spans.redacted_json('{"a":  1}') == '{"a":  1}', "what does not change keeps its form"
    assert spans.redacted_json("{4711") == f"{{{MARK}"


def test_no_words_change_nothing():
    spans = Spans(["", "  "])
    assert not spans and spans.redacted("anything") == "anything"


def test_only_what_says_something_is_looked_for_where_it_may_have_been_repeated():
    assert long_enough(["Hi.", "I live at Rosenweg 7.", "好的。", "我住在玫瑰路七号"]) == [
        "I live at Rosenweg 7.",
        "我住在玫瑰路七号",
    ]
