"""Suites are read strictly: whatever is wrong with a file is said, with the line, and nothing of it is used."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UsageProblem
from engine.evaluation.suites import (
    ChoiceItem,
    ContainsAny,
    ContainsNone,
    EvaluationMessage,
    GeneralText,
    JsonObject,
    LongestWords,
    NoLink,
    WrittenItem,
    read_suites,
    read_texts,
)

HEADER = {"suite": "colours", "role": "general", "about": "What colour things are."}
CHOICE = {"id": "grass", "ask": "What colour is grass?", "right": "Green", "wrong": ["Red", "Blue"]}
WRITTEN = {
    "id": "snow",
    "messages": [
        {"role": "system", "content": "Answer in one word."},
        {"role": "user", "content": "What colour is coal?"},
        {"role": "assistant", "content": "Black"},
        {"role": "user", "content": "雪是什么颜色的？"},
    ],
    "checks": [
        {"kind": "contains_any", "words": ["white", "白"]},
        {"kind": "contains_none", "words": ["black"]},
        {"kind": "no_link"},
        {"kind": "json_object"},
        {"kind": "longest_words", "most": 3},
    ],
    "max_tokens": 8,
    "group": "weather",
}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes lines, given as objects or as bytes, to a file of the folder, which is the result."""

    def write_lines(*lines: dict[str, Any] | bytes, to: str = "general/colours.jsonl") -> Path:
        path = tmp_path / to
        path.parent.mkdir(parents=True, exist_ok=True)
        encoded = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        path.write_bytes(b"\n".join((*encoded, b"")))
        return tmp_path

    return write_lines


def test_a_line_becomes_an_item(write: Write) -> None:
    (suite,) = read_suites(write(HEADER, CHOICE, WRITTEN))
    assert (suite.name, suite.role, len(suite.content_hash)) == ("colours", "general", 64)
    ask = EvaluationMessage("user", "What colour is grass?")
    assert suite.items == (
        ChoiceItem("grass", (ask,), "Green", ("Red", "Blue")),
        WrittenItem(
            "snow",
            (
                EvaluationMessage("system", "Answer in one word."),
                EvaluationMessage("user", "What colour is coal?"),
                EvaluationMessage("assistant", "Black"),
                EvaluationMessage("user", "雪是什么颜色的？"),
            ),
            (ContainsAny(("white", "白")), ContainsNone(("black",)), NoLink(), JsonObject(), LongestWords(3)),
            8,
            "weather",
        ),
    )


def test_suites_come_by_name_with_the_role_of_their_folder(write: Write) -> None:
    write(CHOICE, to="general/zoo.jsonl")
    write(CHOICE, to="probes/refusal.jsonl")
    write(CHOICE, to="elsewhere/unread.jsonl")
    write(b"no suite", to="general/notes.txt")
    found = read_suites(write(CHOICE, to="general/deeper/art.jsonl"))
    assert [(suite.name, suite.role) for suite in found] == [
        ("art", "general"),
        ("refusal", "probe"),
        ("zoo", "general"),
    ]


def test_a_folder_without_suites_has_none(tmp_path: Path) -> None:
    assert read_suites(tmp_path) == ()


def test_windows_line_ends_and_a_missing_last_one_are_no_fault(write: Write) -> None:
    folder = write(json.dumps(HEADER).encode() + b"\r", json.dumps(CHOICE).encode() + b"\r")
    path = folder / "general" / "colours.jsonl"
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    (suite,) = read_suites(folder)
    assert len(suite.items) == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "it is empty"),
        (b"   ", "it is empty"),
        (b'{"id": ', "it is no JSON"),
        (b'["grass"]', "it is no JSON object"),
        (b'{"id": "a", "id": "b"}', "it gives `id` twice"),
        (b'{"id": NaN}', "NaN"),
        pytest.param(b'{"id": ' + b"9" * 5000 + b"}", "a number of more than 300 digits", id="digits"),
        pytest.param(b"[" * 60_000, "nested more than 64 deep", id="nested"),
        (b'{"id": "\xff"}', "not valid UTF-8 at byte 9"),
        (b'{"id": "' + b"a" * 70_000 + b'"}', "longer than 64 KiB"),
        ({**CHOICE, "colour": "red"}, "unknown field `colour`"),
        ({**CHOICE, "\ud800": 1}, "half of a character"),
        ({**CHOICE, "id": ""}, "`id` must be a text"),
        ({**CHOICE, "id": 7}, "`id` must be a text"),
        ({**CHOICE, "id": " grass"}, "without space around it"),
        ({**CHOICE, "id": "a\nb"}, "one line"),
        ({**CHOICE, "id": "a" * 121}, "more than 120 characters"),
        ({**CHOICE, "group": ""}, "`group` must be a text"),
        ({**CHOICE, "right": ""}, "`right` must be a text that is not empty"),
        ({**CHOICE, "right": "  \n"}, "`right` must be a text that is not empty"),
        ({**CHOICE, "right": "Green\0"}, "U+0000"),
        ({**CHOICE, "wrong": ["Red\x1b[31m"]}, "U+001B"),
        ({**CHOICE, "ask": "What\x07?"}, "U+0007"),
        ({**CHOICE, "ask": "\ud83d"}, "half of a character"),
        ({**CHOICE, "ask": "a" * 8001}, "more than 8,000 characters"),
        ({**CHOICE, "right": "Red"}, "among the wrong ones"),
        ({**CHOICE, "right": "Red "}, "among the wrong ones"),
        ({**CHOICE, "wrong": []}, "a list that is not empty"),
        ({**CHOICE, "wrong": "Red"}, "must be a list"),
        ({**CHOICE, "wrong": ["Red", "Red"]}, "a wrong answer occurs twice"),
        ({**CHOICE, "wrong": [str(number) for number in range(65)]}, "lists more than 64"),
        ({"id": "grass", "ask": "What?"}, "either `right` or `checks`"),
        ({**CHOICE, "checks": [{"kind": "no_link"}]}, "either `right` or `checks`"),
        ({"id": "grass", "right": "Green", "wrong": ["Red"]}, "either `ask` or `messages`"),
        ({**CHOICE, "messages": WRITTEN["messages"]}, "either `ask` or `messages`"),
        ({**WRITTEN, "messages": [{"role": "assistant", "content": "Hello"}]}, "by turns"),
        ({**WRITTEN, "messages": [{"role": "system", "content": "Be kind."}]}, "by turns"),
        (
            {**WRITTEN, "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
            "by turns",
        ),
        ({**WRITTEN, "messages": [{"role": "tool", "content": "a"}]}, "no role 'tool'"),
        ({**WRITTEN, "messages": [{"role": "user", "text": "a"}]}, "unknown field `text`"),
        ({**WRITTEN, "messages": ["Hello"]}, "no JSON object"),
        ({**WRITTEN, "max_tokens": 0}, "from 1 to 512"),
        ({**WRITTEN, "max_tokens": True}, "from 1 to 512"),
        ({**WRITTEN, "max_tokens": 4096}, "from 1 to 512"),
        ({**WRITTEN, "checks": []}, "a list that is not empty"),
        ({**WRITTEN, "checks": ["no_link"]}, "a check has no kind of"),
        ({**WRITTEN, "checks": [{"kind": ["no_link"]}]}, "a check has no kind of"),
        ({**WRITTEN, "checks": [{"kind": "is_nice"}]}, "a check has no kind of"),
        ({**WRITTEN, "checks": [{"kind": "no_link", "words": ["a"]}]}, "unknown field `words`"),
        ({**WRITTEN, "checks": [{"kind": "contains_any"}]}, "`words` must be a list"),
        ({**WRITTEN, "checks": [{"kind": "contains_none", "words": ["!?"]}]}, "no letter and no digit"),
        ({**WRITTEN, "checks": [{"kind": "longest_words", "most": 0}]}, "from 1 to 10000"),
        ({**WRITTEN, "right": "White"}, "either `right` or `checks`"),
        ({"id": "late header", **HEADER}, "either `right` or `checks`"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(write: Write, line: dict[str, Any] | bytes, reason: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        read_suites(write(CHOICE, line))
    assert caught.value.problem.startswith("general/colours.jsonl, line 2: ")
    assert reason in caught.value.problem
    assert caught.value.hint


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({**HEADER, "suite": "fruit"}, "another suite than the file, 'fruit'"),
        ({**HEADER, "role": "probe"}, "another role than the folder, which is for 'general'"),
        ({**HEADER, "items": 3}, "the header has the unknown field `items`"),
        ({**HEADER, "about": "\x00"}, "U+0000"),
    ],
)
def test_a_header_agrees_with_the_file(write: Write, header: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        read_suites(write(header, CHOICE))
    assert caught.value.problem == f"general/colours.jsonl, line 1: {caught.value.problem.split(': ', 1)[1]}"
    assert reason in caught.value.problem


def test_an_id_that_occurs_twice_is_said_with_both_lines(write: Write) -> None:
    with pytest.raises(UsageProblem) as caught:
        read_suites(write(HEADER, CHOICE, {**WRITTEN, "id": "grass"}))
    assert caught.value.problem == "general/colours.jsonl, line 3: the id `grass` is already that of line 2."


def test_two_suites_of_one_name_are_refused(write: Write) -> None:
    write(CHOICE, to="general/colours.jsonl")
    with pytest.raises(UsageProblem, match=r"probes/colours\.jsonl is a second suite of the name 'colours'"):
        read_suites(write(CHOICE, to="probes/colours.jsonl"))


def test_a_suite_without_items_is_refused(write: Write) -> None:
    with pytest.raises(UsageProblem, match=r"general/colours\.jsonl holds no item"):
        read_suites(write(HEADER))


def test_a_file_that_is_too_large_is_refused(write: Write) -> None:
    with pytest.raises(UsageProblem, match="larger than 8 MiB"):
        read_suites(write(b" " * (8 << 20)))


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "general" / "colours.jsonl").mkdir(parents=True)
    with pytest.raises(UsageProblem, match=r"general/colours\.jsonl cannot be read"):
        read_suites(tmp_path)


@pytest.mark.parametrize(
    "other",
    [
        {**CHOICE, "right": "Lime"},
        {**CHOICE, "wrong": ["Red"]},
        {**CHOICE, "wrong": ["Blue", "Red"]},
        {**CHOICE, "ask": "What colour is the grass?"},
        {**CHOICE, "group": "plants"},
        {**CHOICE, "id": "grasses"},
    ],
)
def test_another_content_has_another_hash(write: Write, other: dict[str, Any]) -> None:
    (before,) = read_suites(write(CHOICE))
    (after,) = read_suites(write(other))
    assert after.content_hash != before.content_hash


def test_a_check_of_another_kind_has_another_hash(write: Write) -> None:
    hashes = set()
    for kind in ("contains_any", "contains_none"):
        (suite,) = read_suites(write({**WRITTEN, "checks": [{"kind": kind, "words": ["white"]}]}))
        hashes.add(suite.content_hash)
    assert len(hashes) == 2


def test_order_spelling_and_header_leave_the_hash_as_it_is(write: Write) -> None:
    (before,) = read_suites(write(CHOICE, WRITTEN))
    escaped = json.dumps(CHOICE, ensure_ascii=True, indent=None).replace("G", "\\u0047").encode()
    (after,) = read_suites(write(HEADER, WRITTEN, escaped))
    assert after.content_hash == before.content_hash


def test_texts_are_read_in_their_order(write: Write) -> None:
    lines = [
        {"id": "tea", "request": "怎样泡茶？", "answer": "水不要太烫。"},
        {"id": "a", "request": "b", "answer": "c"},
    ]
    folder = write(*lines, to="texts.jsonl")
    assert read_texts(folder / "texts.jsonl") == (
        GeneralText("tea", "怎样泡茶？", "水不要太烫。"),
        GeneralText("a", "b", "c"),
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"id": "a", "request": "b", "answer": "c"}, "the id `a` occurs twice"),
        ({"id": "b", "request": "b", "answer": ""}, "`answer` must be a text"),
        ({"id": "b", "request": "b"}, "`answer` must be a text"),
        ({"id": "b", "request": "b\0", "answer": "c"}, "U+0000"),
        ({"id": "b", "request": "b", "answer": "c", "language": "en"}, "unknown field `language`"),
    ],
)
def test_what_is_wrong_with_a_text_is_said(write: Write, line: dict[str, Any], reason: str) -> None:
    folder = write({"id": "a", "request": "b", "answer": "c"}, line, to="texts.jsonl")
    with pytest.raises(UsageProblem) as caught:
        read_texts(folder / "texts.jsonl")
    assert caught.value.problem.startswith("texts.jsonl, line 2: ")
    assert reason in caught.value.problem
