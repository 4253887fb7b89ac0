"""Text from token bytes: whole characters only, and nothing of a stop text is ever shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.runtime.text import TextAssembler


def test_a_character_is_shown_when_its_last_byte_has_come() -> None:
    assembler = TextAssembler()
    assert [assembler.add(bytes([byte])) for byte in "咖".encode()] == ["", "", "咖"]


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    assembler = TextAssembler()
    assert assembler.add(b"a\xff") + assembler.add(b"\xe5\x92") + assembler.finish() == "a\ufffd\ufffd"


def test_a_possible_beginning_of_a_stop_text_is_held_back_and_released() -> None:
    assembler = TextAssembler(("</end>",))
    assert assembler.add(b"x </en") == "x "
    assert assembler.add(b"try>") == "</entry>"
    assert not assembler.stopped


def test_the_earliest_stop_text_wins() -> None:
    assembler = TextAssembler(("B", "A"))
    assert assembler.add(b"xxAyyB") == "xx"
    assert assembler.stopped
    assert assembler.finish() == ""


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=4), max_size=3), st.integers(1, 5))
def test_in_whatever_pieces_it_comes_the_text_is_that_before_the_first_stop(
    text: str, stop: list[str], size: int
) -> None:
    data = text.encode()
    assembler = TextAssembler(tuple(stop))
    shown = ""
    for start in range(0, len(data), size):
        shown += assembler.add(data[start : start + size])
        if assembler.stopped:
            break
    shown += assembler.finish()

    ends = [text.find(one) for one in stop if one in text]
    if not ends:
        assert shown == text
    else:
        assert assembler.stopped
        assert text.startswith(shown)
        assert not any(one in shown for one in stop)


@pytest.mark.parametrize("stop", [(), ("",)])
def test_no_stop_text_holds_nothing_back(stop: tuple[str, ...]) -> None:
    assert TextAssembler(stop).add(b"now") == "now"
