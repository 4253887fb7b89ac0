"""Results go to standard output, the rest to standard error, and nothing of it commands the terminal."""

import io
import json
import os
import sys

import pytest

from app.output import OutputFailed, ProgressLine, print_error, print_json, print_note, print_text, write_utf8


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_an_error_is_two_lines_for_people_on_standard_error(capsys: pytest.CaptureFixture[str]):
    print_error("The disk is full.", "Free some space.", as_json=False)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "error: The disk is full.\nhint: Free some space.\n"


def test_an_error_is_one_object_for_scripts_on_standard_output(capsys: pytest.CaptureFixture[str]):
    print_error("磁盘已满。", "", as_json=True)
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out == '{"error": {"problem": "磁盘已满。", "hint": ""}}\n'


def test_errors_and_notes_that_quote_others_are_inert(capsys: pytest.CaptureFixture[str]):
    print_error("No \x1b[31mexpert\x07", "Try \x9b2J", as_json=False)
    print_note("The model \x1b]0;owned\x07 is new")
    assert capsys.readouterr().err == "error: No expert\nhint: Try \nnote: The model  is new\n"


def test_json_keeps_every_character_and_writes_none_that_a_terminal_obeys(capsys: pytest.CaptureFixture[str]):
    value = {"text": "\x1b[2J \x9b31m \x7f \u202e 咖啡"}
    print_json(value)
    line = capsys.readouterr().out
    assert json.loads(line) == value
    assert "咖啡" in line
    assert not set(line) & set("\x1b\x9b\x7f\u202e")


def test_what_no_encoding_can_write_becomes_a_question_mark(monkeypatch: pytest.MonkeyPatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    write_utf8()
    print_text("咖啡 \ud83d")
    assert raw.getvalue() == "咖啡 ?\n".encode()


def test_a_reader_that_went_away_is_passed_on(monkeypatch: pytest.MonkeyPatch):
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w", encoding="utf-8") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        with pytest.raises(BrokenPipeError):
            print_text("hello")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch):
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(OutputFailed, match="No space left on device") as caught:
            print_json({"text": "hello"})
    assert "macaron history" in caught.value.hint


def test_progress_is_silent_where_nobody_watches(capsys: pytest.CaptureFixture[str]):
    line = ProgressLine()
    line.show("loading")
    line.clear()
    assert capsys.readouterr().err == ""


def test_progress_overwrites_itself_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    line = ProgressLine()
    line.show("loading")
    line.show("L0")
    line.clear()
    line.clear()
    assert terminal.getvalue() == "\rloading" + "\rL0     " + "\r  \r"


def test_standard_streams_that_are_closed_are_not_written_to(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    write_utf8()
    ProgressLine().show("loading")
    print_text("hello")
    print_error("It failed.", "Try again.", as_json=False)
