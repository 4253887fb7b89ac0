"""What a submitted line means, and what is offered while it is typed."""

import pytest

from ui.strings import TEXTS
from ui.terminal.chat import OF_THE_APP, ChatScreen
from ui.terminal.commands import COMMANDS, Command, ForModel, Typed, Unknown, beginning_with, parse

BY_NAME = {command.name: command for command in COMMANDS}


@pytest.mark.parametrize("name", BY_NAME)
def test_every_command_is_recognised(name: str) -> None:
    assert parse(name) == Typed(BY_NAME[name], "")


def test_a_command_may_have_another_name() -> None:
    assert parse("/retry") == Typed(BY_NAME["/regenerate"], "")


def test_what_stands_behind_a_command_is_its_argument() -> None:
    assert parse("/history two words ") == Typed(BY_NAME["/history"], "two words")


def test_a_command_may_be_written_in_capitals() -> None:
    assert parse("/Expert L2") == Typed(BY_NAME["/expert"], "L2")


@pytest.mark.parametrize(
    ("text", "name", "nearest"),
    [
        ("/nosuch", "/nosuch", ""),
        ("/etc/passwd is odd", "/etc/passwd", ""),
        ("/newer", "/newer", "/new"),
        ("/histroy coffee", "/histroy", "/history"),
        ("/EXPROT", "/EXPROT", "/export"),
        ("/", "/", ""),
        ("/x\ny", "/x", ""),
    ],
)
def test_a_slash_and_an_unknown_word_is_not_sent_and_the_nearest_command_is_named(
    text: str, name: str, nearest: str
) -> None:
    assert parse(text) == Unknown(name, nearest)


def test_two_slashes_send_a_text_that_begins_with_one() -> None:
    assert parse("//etc/passwd") == ForModel("/etc/passwd")


def test_a_slash_inside_a_text_is_text() -> None:
    assert parse("either/or") == ForModel("either/or")


def test_the_indentation_of_the_first_line_is_kept() -> None:
    assert parse("\n    if x:\n        y\n") == ForModel("    if x:\n        y")


def test_blanks_alone_are_an_empty_message() -> None:
    assert parse(" \n ") == ForModel("")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("/", list(BY_NAME)),
        ("/ex", ["/expert", "/export"]),
        ("/EXPO", ["/export"]),
        ("/retry", ["/regenerate"]),
        ("/new", []),
        ("/new ", []),
        ("/expert L", []),
        ("//", []),
        ("ex", []),
        ("", []),
        ("/zz", []),
    ],
)
def test_the_beginning_of_a_command_offers_those_that_begin_so(text: str, names: list[str]) -> None:
    assert [command.name for command in beginning_with(text)] == names


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_is_explained(command: Command) -> None:
    assert command.help_key in TEXTS


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.action not in OF_THE_APP], ids=lambda c: c.name)
def test_every_command_is_an_action_of_the_chat(command: Command) -> None:
    assert hasattr(ChatScreen, f"action_{command.action}")
