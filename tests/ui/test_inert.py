"""Text from a model or a user cannot command the terminal that shows it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.inert import DisplayStream, cell_width, display_line, display_text

ATTACKS = {
    "colour": ("a\x1b[31mred\x1b[0mb", "aredb"),
    "colour with subparameters": ("\x1b[38:2::1:2:3mx", "x"),
    "screen cleared": ("a\x1b[2Jb", "ab"),
    "cursor moved": ("a\x1b[10;10Hb\x1b[Ac", "abc"),
    "private mode": ("\x1b[?1049hx\x1b[?25l", "x"),
    "title set": ("\x1b]0;owned\x07x", "x"),
    "title set with string terminator": ("\x1b]2;owned\x1b\\x", "x"),
    "clipboard written": ("\x1b]52;c;cm0gLXJmIC8=\x07x", "x"),
    "hyperlink with misleading text": ("\x1b]8;;https://evil.example\x1b\\bank\x1b]8;;\x1b\\", "bank"),
    "device control string": ("\x1bP1$r0m\x1b\\x", "x"),
    "application command": ("\x1b_Gi=1;AAAA\x1b\\x", "x"),
    "reset": ("\x1bcx", "x"),
    "character set switched": ("\x1b(0x\x0e", "x"),
    "8-bit control sequence": ("a\x9b31mb", "ab"),
    "8-bit control string": ("a\x9d0;t\x9cb", "ab"),
    "escape before a sequence": ("\x1b\x1b[31mx", "x"),
    "sequence rebuilt from its remains": ("\x1b[3\x1b[31m1mx", "31mx"),
    "sequence never finished": ("a\x1b[31", "a31"),
    "control string never finished": ("a\x1b]0;the rest is text", "a0;the rest is text"),
    "control string cut by a line end": ("\x1b]0;t\nnext\x07", "0;t\nnext"),
    "backspaces over text": ("rm -rf\b\b\b\b\b\bls", "rm -rfls"),
    "bell and null": ("\x07a\x00b\x7f", "ab"),
    "line overwritten": ("safe\rgone", "safe\ngone"),
    "vertical tab and form feed": ("a\x0bb\x0cc", "abc"),
    "line and paragraph separators": ("a\u2028b\u2029c", "a\nb\nc"),
    "direction override": ("user\u202egnp.exe", "usergnp.exe"),
    "direction isolates": ("a\u2066b\u2067c\u2068d\u2069e", "abcde"),
    "half a surrogate pair": ("a\ud800b", "a\ufffdb"),
    "byte order mark": ("\ufeffa", "a"),
}
ORDINARY = {
    "newlines and tabs": "def f():\n\treturn 1\n",
    "Chinese": "你好，世界。",
    "Arabic": "مرحبا",
    "joined emoji": "👩‍💻",
    "accents": "e\u0301",
    "Textual markup": "[bold]not bold[/bold] [@click=app.quit]x[/]",
}
NASTY = st.text(
    st.sampled_from("ab1;[]()?m\x1b\x9b\x9d\x9c\x90\x07\\\r\n\t\x00\x7f\u202e\u2066\ud800\u2028P_^X 你"), max_size=40
)


@pytest.mark.parametrize(("text", "left"), ATTACKS.values(), ids=ATTACKS.keys())
def test_what_would_command_the_terminal_is_removed(text: str, left: str) -> None:
    assert display_text(text) == left


@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY.keys())
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert display_text(text) == text


def test_windows_line_ends_become_one_newline() -> None:
    assert display_text("a\r\nb\r\n") == "a\nb\n"


@given(NASTY | st.text(max_size=40))
def test_nothing_that_remains_can_be_a_command(text: str) -> None:
    remains = display_text(text)
    assert not [c for c in remains if (ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0]
    assert not set(remains) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
    assert display_text(remains) == remains
    remains.encode("utf-8")


@given(st.lists(NASTY, max_size=6))
def test_a_text_in_pieces_reads_like_the_whole(pieces: list[str]) -> None:
    stream = DisplayStream()
    shown = "".join(stream.feed(piece) for piece in pieces) + stream.flush()
    assert shown == display_text("".join(pieces))


def test_text_without_sequences_is_never_held_back() -> None:
    assert DisplayStream().feed("plain text 你好") == "plain text 你好"


def test_a_control_string_without_end_does_not_swallow_what_follows() -> None:
    stream = DisplayStream()
    shown = stream.feed("\x1b]0;" + "x" * 5000)
    assert len(shown) >= 5000


def test_a_line_has_no_line_ends_and_no_runs_of_blanks() -> None:
    assert display_line("one\n\n  two\tthree ") == "one two three"


def test_a_line_is_cut_by_cells_not_by_characters() -> None:
    assert display_line("一二三四五", 7) == "一二三…"
    assert cell_width("一二三…") == 7


def test_a_line_that_fits_is_not_cut() -> None:
    assert display_line("一二三", 6) == "一二三"
