"""What is printed: head and tail kept, the rest counted, and nothing in it that a terminal would obey."""

import pytest

from engine.harness.repl.output import HeadAndTail, clean, cut


def test_what_fits_is_kept_whole():
    kept = HeadAndTail(10)
    kept.feed(b"12345")
    kept.feed(b"67890")
    assert kept.text() == "1234567890"


@pytest.mark.parametrize("piece", [1, 3, 7, 1000])
def test_of_more_the_head_and_the_tail_are_kept_however_it_comes(piece):
    kept, data = HeadAndTail(10), b"abcde" + b"." * 500 + b"vwxyz"
    for start in range(0, len(data), piece):
        kept.feed(data[start : start + piece])
    assert kept.text() == "abcde\n[... 500 bytes left out here ...]\nvwxyz"
    assert kept.total_bytes == 510


def test_a_character_that_the_cut_goes_through_is_left_out():
    kept = HeadAndTail(8)
    kept.feed("咖啡咖啡咖啡".encode())
    assert kept.text() == "咖\n[... 10 bytes left out here ...]\n啡"


def test_bytes_that_are_no_text_do_no_harm():
    kept = HeadAndTail(10)
    kept.feed(b"a\xff\xfeb")
    assert kept.text() == "a��b"


def test_a_long_text_is_cut_and_says_so():
    assert cut("a" * 6 + "z" * 6, 4) == "aa\n[... 8 characters left out here ...]\nzz"
    assert cut("short", 5) == "short"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        pytest.param("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m", id="colour"),
        pytest.param("\x1b]52;c;aGk=\x07", "\\x1b]52;c;aGk=\\x07", id="clipboard"),
        pytest.param("\x9b2J", "\\x9b2J", id="eight bits"),
        pytest.param("good\rbad", "good\\x0dbad", id="overwritten line"),
        pytest.param("a\r\nb\tc\n", "a\nb\tc\n", id="line ends and tabs"),
        pytest.param("a\x00b\x08\x7f", "a\\x00b\\x08\\x7f", id="zero, backspace, delete"),
        pytest.param("咖啡 ☕", "咖啡 ☕", id="plain"),
    ],
)
def test_E4_control_characters_are_written_out(text, cleaned):
    assert clean(text) == cleaned
