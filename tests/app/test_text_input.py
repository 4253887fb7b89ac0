"""Text from outside is UTF-8 or it is refused; where it is no text at all, that is said too."""

import io
import os

import pytest

from app.text_input import argument_text, expert_label, question
from engine.errors import BadText


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def given(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding="ascii")


def test_an_argument_is_what_its_bytes_say_in_utf_8():
    assert argument_text("咖啡 and tea") == "咖啡 and tea"
    # What Python makes of the same bytes where the locale knows only ASCII.
    assert argument_text("咖啡".encode().decode("ascii", "surrogateescape")) == "咖啡"


@pytest.mark.parametrize("argument", [os.fsdecode(b"caf\xe9"), "\ud83d"], ids=["Latin-1 bytes", "half a pair"])
def test_an_argument_that_is_not_utf_8_is_refused(argument: str):
    with pytest.raises(BadText, match="not valid UTF-8") as caught:
        argument_text(argument)
    assert caught.value.hint and caught.value.exit_code == 2


def test_an_expert_may_be_written_in_small_letters():
    assert expert_label("l2") == "L2"


def test_the_argument_is_the_question_and_standard_input_is_left_alone():
    standard_input = given(b"other")
    assert question("hello", standard_input) == "hello"
    assert standard_input.read() == "other"


@pytest.mark.parametrize("argument", [None, "-"])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("法国的首都是哪里？\n".encode(), "法国的首都是哪里？", id="one line"),
        pytest.param(b"\xef\xbb\xbfhello\r\n", "hello", id="byte order mark and Windows line end"),
        pytest.param(b"  a\n\nb", "  a\n\nb", id="the rest stays"),
        pytest.param(b"", "", id="nothing"),
    ],
)
def test_standard_input_is_read_whole_without_the_line_end_that_ends_it(
    argument: str | None, content: bytes, expected: str
):
    assert question(argument, given(content)) == expected


def test_standard_input_that_is_not_utf_8_is_refused_with_the_place():
    with pytest.raises(BadText, match=r"at byte 3"):
        question("-", given(b"ab\xff"))


@pytest.mark.parametrize("standard_input", [None, Terminal(io.BytesIO())], ids=["closed", "a terminal"])
def test_without_text_and_without_input_it_is_said_how_to_ask(standard_input: io.TextIOWrapper | None):
    with pytest.raises(BadText, match="No question") as caught:
        question(None, standard_input)
    assert "macaron ask" in caught.value.hint
