"""The parts of reading a call: loose JSON, names that are written otherwise, what is quoted, what is held back."""

import pytest

from engine.harness.tool_calls import ToolCall, parser_for
from engine.harness.tool_calls.loose_json import read_python_calls, read_value
from engine.harness.tool_calls.naming import meant_name, same_name
from engine.harness.tool_calls.quoting import Quoting
from tests.engine.harness.tool_calls.corpus import TOOLS, parsed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('{"a": [1, 2.5, -3e2, true, null]}', {"a": [1, 2.5, -300.0, True, None]}, id="json"),
        pytest.param("{'a': (1, 'b',), b_c: None,}", {"a": [1, "b"], "b_c": None}, id="python"),
        pytest.param("{'a': \"it's\", 'b': 'say \"x\"'}", {"a": "it's", "b": 'say "x"'}, id="quotes_in_quotes"),
        pytest.param(r"{'a': 'it\'s\n\\d \d'}", {"a": "it's\n\\d \\d"}, id="escapes"),
        pytest.param(r"['\ud83d\ude00', '\u4e2d', '\u12']", ["😀", "中", "\\u12"], id="unicode_escapes"),
        pytest.param("{“a”： “b’s”，'c': ‘d’}", {"a": "b’s", "c": "d"}, id="curly"),
        pytest.param('{"a": 1} ;', {"a": 1}, id="semicolon_after"),
        pytest.param('{"a": 1, "a": 1.0,}', {"a": 1}, id="same_key_with_the_same_value"),
    ],
)
def test_loose_json_means_one_thing(text, value):
    assert read_value(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "{'a'", "{'a': 1", "[1 2]", "{'a': 'b", '"a', "'''a", "{'a' = 1}", "{1: 2}", "01", "1_000", "0x10"),
        *("nan", "Infinity", "undefined", "a.b", "f(1)", "[1] 2", "{'a': 1, 'a': 2}", "[1e999, ]", "-", "[" * 80),
        '{"a": "b" "c"}',
    ],
)
def test_what_might_mean_something_else_is_refused(text):
    with pytest.raises(ValueError, match=r"\w"):
        read_value(text)


def test_brackets_are_closed_only_where_that_is_allowed_and_texts_never():
    assert read_value('{"a": {"b": [1', may_close=True) == {"a": {"b": [1]}}
    with pytest.raises(ValueError, match="never ends"):
        read_value('{"a": "b', may_close=True)


def test_python_calls_are_read_and_never_evaluated():
    assert read_python_calls("[f(a=1, b='x'), m.g()]") == [("f", {"a": 1, "b": "x"}), ("m.g", {})]
    for text in ("f(1)", "f(a=g())", "f(a=1+1)", "f(a=b)", "f(a=1)(b=2)", "f(a=1, a=2)", "f(**{})", "f", "[f()"):
        with pytest.raises(ValueError, match=r"\w"):
            read_python_calls(text)


NAMES = ("get_weather", "get_time", "search_notes", "searchNotes2", "read", "set_time")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("get_weather", "get_weather"),
        ("Get-Weather", "get_weather"),
        ("getWeather", "get_weather"),
        ("functions.get_weather", "get_weather"),
        ("default_api:getTime", "get_time"),
        ("`get_time`", "get_time"),
        ("get_wether", "get_weather"),
        ("get_weahter", "get_weather"),
        ("search_note", "search_notes"),
        ("get_tim", None),  # too short a word for a slip
        ("let_time", None),  # get or set?
        ("reads", None),
        ("get_weathor", None),  # another letter may be another word
        ("got_wether", None),
        ("weather", None),
        ("", None),
        ("g" * 500, None),
    ],
)
def test_a_name_stands_for_one_tool_or_none(written, meant):
    assert meant_name(written, NAMES) == meant


def test_a_name_that_two_tools_have_but_for_case_is_neither():
    assert same_name("GETTIME", ("get_time", "getTime")) is None
    assert same_name("getTime", ("get_time", "getTime")) == "getTime"


@pytest.mark.parametrize(
    ("before", "is_quoted"),
    [
        ("a ", False),
        ("a `", True),
        ("a `b` ", False),
        ("a ``b` ", True),
        ("it`s\n", False),
        ("> a", True),
        ("> a\n", False),
        ("```\n", True),
        ("```py\nx\n```\n", False),
        ("````\n```\n", True),
        ("```\n~~~\n", True),
        ("~~~\nx\n~~~\n", False),
        ("```x```\n", False),
        ("```\nx\n``` y\n", True),
    ],
)
def test_what_markdown_quotes(before, is_quoted):
    quoting = Quoting()
    for character in before:
        quoting.take(character)
    assert quoting.is_quoted == is_quoted


@pytest.mark.parametrize(
    ("style", "pieces", "told"),
    [
        pytest.param("json", ["one <", "b> <tool_", "box> two"], [["one"], [" <b>"], [" <tool_box> two"]], id="tag"),
        pytest.param("json", ['{"city', '": 1}'], [['{"city'], ['": 1}']], id="object_of_another_kind"),
        pytest.param("bare", ["[", "1, 2"], [[], ["[1, 2"]], id="list_of_another_kind"),
        pytest.param("bare", ["get", " up"], [[], ["get up"]], id="word_like_a_tool"),
        pytest.param("json", ["```py", "\nx"], [[], ["```py\nx"]], id="fence_of_another_kind"),
        pytest.param("json", ["a\n\n", "b"], [["a"], ["\n\nb"]], id="space"),
    ],
)
def test_text_is_held_back_only_while_it_may_become_a_call(style, pieces, told):
    parser = parser_for(style, TOOLS)
    assert [list(parser.feed(piece)) for piece in pieces] == told


def test_a_call_is_told_as_soon_as_it_is_whole():
    parser = parser_for("json", TOOLS)
    assert list(parser.feed('<tool_call>{"name": "get_time", "arguments": {}}')) == [ToolCall("get_time", "{}")]
    assert list(parser.feed("</tool_call>")) == [] and list(parser.finish()) == []


def test_without_tools_everything_is_text():
    text = '<tool_call>{"name": "get_time"}</tool_call>'
    assert parsed("json", [text], tools=())[0] == [text]
