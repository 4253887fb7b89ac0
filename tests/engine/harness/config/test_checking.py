"""harness.toml by hand: every mistake is told with file, line and key, and with what to do."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import UsageProblem
from engine.harness.config.checking import read_toml
from engine.harness.config.complaints import Complaint
from engine.harness.config.harnessed import put_together
from engine.harness.config.model import HomeTable
from tests.engine.harness.config.sources import home


def complaints(text: str) -> tuple[Complaint, ...]:
    found = read_toml(text, HomeTable, "harness.toml")
    assert isinstance(found, tuple), f"nothing was found wrong with {text!r}"
    return found


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        pytest.param("\na = \n", "harness.toml, line 2: It is not valid TOML", "Correct", id="no_toml"),
        pytest.param("a = 1\na = 2\n", "harness.toml, line 2: It is not valid TOML", "Correct", id="key_twice"),
        pytest.param(
            "[budgets]\n\nturn_second = 1\n",
            "harness.toml, line 3, `budgets.turn_second`: There is no such key.",
            "Did you mean `turn_seconds`?",
            id="misspelt",
        ),
        pytest.param(
            "\nextra = 1\n", "line 2, `extra`: There is no such key.", "Known keys there: version", id="unknown"
        ),
        pytest.param(
            '[budgets]\nturn_seconds = "60"\n',
            "line 2, `budgets.turn_seconds`: Input should be a valid number.",
            "Correct",
            id="number_in_quotes",
        ),
        pytest.param("[budgets]\nturn_seconds = nan\n", "line 2, `budgets.turn_seconds`", "Correct", id="nan"),
        pytest.param("[tools]\npython = 1\n", "line 2, `tools.python`", "Correct", id="no_switch"),
        pytest.param("version = 2\n", "line 1, `version`", "Correct", id="format_of_the_future"),
        pytest.param(
            '[system]\nL2 = "a"\nl3 = "b"\n', "line 3, `system.l3`: The name is not", "another name", id="expert"
        ),
        pytest.param(
            '[[hooks]]\nwhen = "before_tool"\n',
            "line 1, `hooks.0.command`: It is missing.",
            "Add `command`",
            id="missing",
        ),
        pytest.param(
            '[[hooks]]\nwhen = "before_turn"\ncommand = ["a"]\ntools = ["b"]\n',
            "line 1, `hooks.0`: It is run before a turn, so it takes no `tools`.",
            "Correct",
            id="tools_around_turns",
        ),
        pytest.param(
            '[system]\nall = "a\\u0007b"\n', "line 2, `system.all`: It holds the control", "Correct", id="control"
        ),
        pytest.param(
            "a = " + "1" * 5_000, "harness.toml, line 1: It is not valid TOML", "Correct", id="endless_number"
        ),
        pytest.param("a = " + "[" * 5_000, "harness.toml", "", id="endless_nesting"),
        pytest.param("[budgets]\nturn_seconds = 1979-05-27\n", "line 2, `budgets.turn_seconds`", "Correct", id="date"),
    ],
)
def test_a_mistake_names_file_line_and_key_and_says_what_to_do(text, said, hint):
    found = complaints(text)[0]
    assert said in found.text
    assert hint in found.hint


def test_several_mistakes_are_told_at_once():
    found = complaints('[budgets]\nturn_seconds = "1"\n[sandbox]\nproceses = 5\n')
    assert [(complaint.line, complaint.key) for complaint in found] == [
        (2, "budgets.turn_seconds"),
        (4, "sandbox.proceses"),
    ]


def test_the_error_about_the_home_says_problem_and_hint():
    with pytest.raises(UsageProblem) as raised:
        put_together(home(table="[budgets]\nturn_second = 1\n"))
    assert raised.value.problem == "harness.toml, line 2, `budgets.turn_second`: There is no such key."
    assert raised.value.hint == "Did you mean `turn_seconds`?"


def test_what_a_file_holds_is_never_repeated_in_a_complaint():
    secret = "hunter2-and-more"
    for text in (
        f'[mcpServers.a]\ncommand = "x"\nenv = {{ PASSWORD = "{secret}" }}\n',
        f'[mcpServers.a]\ncommand = "x"\nheaders = {{ Authorization = "{secret}" }}\n',
        f'[mcpServers.a]\nurl = "https://me:{secret}@example.org"\n',
        f'[budgets]\nturn_seconds = "{secret}"\n',
    ):
        assert secret not in " ".join(complaint.text + complaint.hint for complaint in complaints(text))


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="[]{}=\"'.#\n abé版0", max_size=80))
def test_any_text_is_read_or_complained_of(text):
    found = read_toml(text, HomeTable, "harness.toml")
    assert isinstance(found, HomeTable) or all(complaint.hint for complaint in found)
