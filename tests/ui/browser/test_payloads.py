"""What a browser sends is checked before it is believed."""

import pytest

from engine.errors import UsageProblem
from engine.values import Attachment
from ui.browser import payloads
from ui.browser.payloads import MAX_FILE_BYTES, MAX_FILES, MAX_MESSAGE_CHARACTERS, Message, message_of


def test_a_message_with_all_that_goes_with_it() -> None:
    sent = {
        "text": "Look.",
        "conversation": "c1",
        "edits": None,
        "pasted": ["a\nb"],
        "files": [{"name": "notes.txt", "text": "茶"}],
    }
    assert message_of(sent) == Message("Look.", "c1", None, ("a\nb",), (Attachment("notes.txt", "茶"),))


@pytest.mark.parametrize("sent", [{"text": ""}, {"text": " \n"}, {"text": "", "files": []}])
def test_an_empty_message_is_refused(sent: object) -> None:
    with pytest.raises(UsageProblem, match="empty"):
        message_of(sent)


@pytest.mark.parametrize(
    "sent",
    [
        None,
        [],
        "text",
        {},
        {"text": 5},
        {"text": "x", "conversation": ["c1"]},
        {"text": "x", "conversation": "c" * 300},
        {"text": "x", "files": "files"},
        {"text": "x", "files": [None]},
        {"text": "x", "files": [{"name": "a"}]},
        {"text": "x", "files": [{"name": "a", "text": "b"}] * (MAX_FILES + 1)},
        {"text": "x" * (MAX_MESSAGE_CHARACTERS + 1)},
    ],
)
def test_anything_else_is_refused_with_what_to_do(sent: object) -> None:
    with pytest.raises(UsageProblem) as refused:
        message_of(sent)
    assert refused.value.hint


@pytest.mark.parametrize(
    "text", ["x" * (MAX_FILE_BYTES + 1), "茶" * (MAX_FILE_BYTES // 2), "a\x00b"], ids=["long", "wide", "binary"]
)
def test_a_file_that_is_too_large_or_no_text_is_refused(text: str) -> None:
    with pytest.raises(UsageProblem):
        message_of({"text": "x", "files": [{"name": "a.txt", "text": text}]})


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\notes.txt", "notes.txt"),
        ("a\nb", "a b"),
        ("", "file"),
        ("x" * 4000, "x" * 120),
    ],
)
def test_B1_a_file_is_known_by_the_end_of_its_name(name: str, kept: str) -> None:
    assert message_of({"text": "x", "files": [{"name": name, "text": "t"}]}).files[0].name == kept


def test_small_values_are_checked_too() -> None:
    assert payloads.rating_of({"rating": -1}) == -1
    assert payloads.format_of({"format": "json"}) == "json"
    assert payloads.shown_of({"shown": 80}) == 80
    assert payloads.conversation_of({}) is None
    for call, value in (
        (payloads.rating_of, {"rating": 2}),
        (payloads.rating_of, {"rating": "1"}),
        (payloads.format_of, {"format": "exe"}),
        (payloads.shown_of, {"shown": 10**9}),
        (payloads.shown_of, {"shown": "80"}),
        (payloads.turn_of, {}),
        (payloads.title_of, {"title": "x" * 501}),
    ):
        with pytest.raises(UsageProblem):
            call(value)
