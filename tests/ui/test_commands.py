"""What a submitted line means."""

import pytest

from ui.strings import TEXTS
from ui.terminal.chat import ChatScreen
from ui.terminal.commands import COMMANDS, ForModel, Typed, Unknown, parse

BY_NAME = {command.name: command for command in COMMANDS}


@pytest.mark.parametrize("name", BY_NAME)
def test_every_command_is_recognised(name: str) -> None:
    assert parse(name) == Typed(BY_NAME[name], "")


def test_what_stands_behind_a_command_is_its_argument() -> None:
    assert parse("/history two words ") == Typed(BY_NAME["/history"], "two words")


def test_a_command_may_be_written_in_capitals() -> None:
    assert parse("/Expert L2") == Typed(BY_NAME["/expert"], "L2")


@pytest.mark.parametrize("text", ["/nosuch", "/etc/passwd is odd", "/newer", "/"])
def test_a_slash_and_an_unknown_word_is_not_sent(text: str) -> None:
    assert parse(text) == Unknown(text.split(" ")[0])


def test_two_slashes_send_a_text_that_begins_with_one() -> None:
    assert parse("//etc/passwd") == ForModel("/etc/passwd")


def test_a_slash_inside_a_text_is_text() -> None:
    assert parse("either/or") == ForModel("either/or")


def test_the_indentation_of_the_first_line_is_kept() -> None:
    assert parse("\n    if x:\n        y\n") == ForModel("    if x:\n        y")


def test_blanks_alone_are_an_empty_message() -> None:
    assert parse(" \n ") == ForModel("")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_is_explained(command: object) -> None:
    assert command.help_key in TEXTS  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.action not in ("help", "quit")], ids=lambda c: c.name)
def test_every_command_is_an_action_of_the_chat(command: object) -> None:
    assert hasattr(ChatScreen, f"action_{command.action}")  # type: ignore[attr-defined]
