"""Notices reach the desktop's own program with their text as it is: nothing takes it for a command or for mark-up."""

import json
import os
import sys
from pathlib import Path

import pytest

from app.jobs.desktop import Command, Desktop, command_for, teller
from engine.errors import AgentError
from engine.jobs.values import JobNotice
from tests.app.jobs.noting import NotingProgram

HOSTILE = (
    '$(touch owned) `touch owned`; touch owned & "; do shell script "touch owned" --',
    "'; Start-Process calc; '",
    '" & (do shell script "touch owned") & "',
    "-e 'touch owned'\n--icon=/etc/passwd\n${IFS}touch${IFS}owned",
    '<a href="https://evil.example">x</a> &amp; <img src="https://evil.example/x.png">',
)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the path; the working folder is an empty one."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    return tmp_path / "programs"


def left_behind() -> list[str]:
    return os.listdir()


@pytest.mark.parametrize("text", ["Tea is ready.", "茶泡好了 🍵", *HOSTILE])
def test_linux_gets_the_text_as_an_argument_with_its_mark_up_made_harmless(programs: Path, text: str) -> None:
    stand_in = NotingProgram(programs, "notify-send")
    Desktop("linux").tell(JobNotice(1, "Tea", text))
    (arguments,) = stand_in.arguments
    assert arguments[:3] == ["--app-name=Macaron", "--", "Tea"]
    assert arguments[3].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == text
    assert "<" not in arguments[3]
    assert len(arguments) == 4 and left_behind() == []


@pytest.mark.parametrize("text", ["Tea is ready.", "茶泡好了 🍵", *HOSTILE])
def test_macos_gets_the_text_as_an_argument_behind_a_script_that_never_changes(programs: Path, text: str) -> None:
    stand_in = NotingProgram(programs, "osascript")
    Desktop("darwin").tell(JobNotice(1, "-e evil", text))
    (arguments,) = stand_in.arguments
    script, (dashes, *given) = arguments[:6], arguments[6:]
    assert script == list(command_for("darwin", JobNotice(2, "other", "other")).arguments[1:7])
    assert (dashes, given) == ("--", ["-e evil", text])
    assert left_behind() == []


@pytest.mark.parametrize("text", ["Tea is ready.", "茶泡好了 🍵", *HOSTILE])
def test_windows_gets_the_text_on_standard_input_in_ascii(programs: Path, text: str) -> None:
    stand_in = NotingProgram(programs, "powershell.exe")
    Desktop("win32").tell(JobNotice(1, "Tea", text))
    assert stand_in.arguments == [list(command_for("win32", JobNotice(2, "other", "other")).arguments[1:])]
    assert stand_in.standard_input.isascii()
    assert json.loads(stand_in.standard_input) == {"title": "Tea", "text": text}
    assert left_behind() == []


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_control_characters_and_endless_texts_reach_no_desktop(platform: str) -> None:
    command = command_for(
        platform, JobNotice(1, "a\x00b\nc\x1b[2J" + "x" * 300, "d\x00\x1b]0;e\x07\u202ef" + "y" * 9000)
    )
    whole = "".join(command.arguments) + command.standard_input
    assert not {"\x00", "\x1b", "\x07", "\u202e"} & set(whole)
    assert "y" * 500 in whole and "y" * 700 not in whole and "x" * 90 not in whole


def test_a_notice_without_a_title_has_the_name_of_the_program() -> None:
    assert command_for("linux", JobNotice(1, " ", "Tea.")) == Command(
        ("notify-send", "--app-name=Macaron", "--", "Macaron", "Tea.")
    )


def test_where_the_program_is_missing_or_fails_it_is_said(programs: Path) -> None:
    with pytest.raises(AgentError, match="there is no program notify-send") as missing:
        Desktop("linux").tell(JobNotice(1, "Tea", "Tea."))
    assert "libnotify" in missing.value.hint
    NotingProgram(programs, "notify-send", code=1)
    with pytest.raises(AgentError, match="notify-send ended with 1"):
        Desktop("linux").tell(JobNotice(1, "Tea", "Tea."))


def test_a_program_that_never_ends_is_not_waited_for(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.jobs.desktop._PATIENCE_S", 0.5)
    programs.mkdir()
    program = programs / "notify-send"
    program.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    program.chmod(0o755)
    with pytest.raises(AgentError, match="took more than"):
        Desktop("linux").tell(JobNotice(1, "Tea", "Tea."))


def test_the_desktop_is_told_where_no_face_shows_it() -> None:
    notice, on_desktop = JobNotice(1, "Tea", "Tea."), []
    teller(lambda notice: True, on_desktop.append)(notice)
    assert on_desktop == []
    teller(lambda notice: False, on_desktop.append)(notice)
    assert on_desktop == [notice]
