"""One configuration from the home and from trusted folders: what adds up, what wins, what a folder may not say."""

import pytest

from engine.errors import UsageProblem
from engine.harness.config.complaints import Complaint
from engine.harness.config.harnessed import Harnessed, put_together
from engine.harness.config.model import Budgets, HarnessConfig, Instructions
from engine.harness.config.source import Source
from tests.engine.harness.config.sources import folder, home, skill

HOME_TABLE = """
[system]
L2 = "Write tests."
all = "Be short."

[[hooks]]
when = "before_tool"
command = ["hooks/check.sh", "--strict"]
tools = ["python", "files_*"]

[tools]
web_fetch = true
"mcp_*" = false
"mcp_calendar_*" = true

[[permissions]]
tool = "files_write"
pattern = "notes/*"
decision = "allow"

[mcpServers.calendar]
command = "npx"
args = ["-y", "calendar"]

[budgets]
turn_seconds = 60
"""
HOME = home(table=HOME_TABLE, agents="Answer in German.\r\n", **{"hooks/check.sh": "#!/bin/sh\n"}, **skill("mail"))


def complaint_about_folder(table: str) -> Complaint:
    found = put_together(home(), [folder(table=table, agents="Read me.")])
    assert [complaint.file for complaint in found.complaints] == ["/projects/proj/harness.toml"]
    assert found.config.instructions == (Instructions(origin="proj", text="Read me."),)
    return found.complaints[0]


def test_an_empty_home_runs_under_the_defaults():
    found = put_together(home())
    assert found == Harnessed(HarnessConfig(), found.version)
    assert found.config.budgets == Budgets()
    assert found.config.is_on("python")


def test_everything_the_home_says_is_in_force():
    config = put_together(HOME).config
    assert [(one.reader, one.text) for one in config.instructions] == [
        ("all", "Be short."),
        ("L2", "Write tests."),
        ("all", "Answer in German."),
    ]
    (hook,) = config.hooks
    assert hook.command == ("/home/me/macaron/hooks/check.sh", "--strict")
    assert config.budgets.turn_seconds == 60
    assert config.skill("mail") is not None and config.skill("other") is None
    assert config.mcp_servers["calendar"].args == ("-y", "calendar")
    assert [rule.decision for rule in config.permissions] == ["allow"]


def test_hooks_are_run_at_their_moment_and_for_their_tools():
    config = put_together(HOME).config
    assert len(config.hooks_at("before_tool", "files_read")) == 1
    assert config.hooks_at("before_tool", "web_fetch") == ()
    assert config.hooks_at("after_tool", "python") == ()


@pytest.mark.parametrize(
    ("tool", "default", "is_on"),
    [
        pytest.param("web_fetch", False, True, id="switched_on"),
        pytest.param("mcp_github", True, False, id="by_pattern"),
        pytest.param("mcp_calendar_list", False, True, id="longer_pattern"),
        pytest.param("notes", True, True, id="default_on"),
        pytest.param("notes", False, False, id="default_off"),
    ],
)
def test_a_tool_is_on_as_its_name_or_the_longest_pattern_says(tool, default, is_on):
    assert put_together(HOME).config.is_on(tool, default=default) is is_on


def test_a_trusted_folder_adds_instructions_skills_hooks_and_servers():
    table = """
    [system]
    L1 = "Mind the build."
    [[hooks]]
    when = "after_turn"
    command = ["python3", "hooks/after.py"]
    [mcpServers.local]
    command = "./skills/docs/server"
    [mcpServers.calendar]
    command = "other"
    """
    source = folder(
        table=table,
        agents="Use tabs.",
        **{"hooks/after.py": "print()", "skills/docs/server": "#!/bin/sh"},
        **skill("docs"),
    )
    found = put_together(HOME, [source])
    config = found.config
    assert [(one.origin, one.reader, one.text) for one in config.instructions[3:]] == [
        ("proj", "L1", "Mind the build."),
        ("proj", "all", "Use tabs."),
    ]
    assert config.hooks[1].command == ("python3", "/copies/0/hooks/after.py")
    assert (config.hooks[0].place, config.hooks[1].place) == ("", "/projects/proj")
    assert config.mcp_servers["local"].command == "/copies/0/skills/docs/server"
    assert config.mcp_servers["local"].place == "/projects/proj"
    assert [one.name for one in config.skills] == ["docs", "mail"]
    # The home has a server of that name.
    assert config.mcp_servers["calendar"].command == "npx"
    assert [complaint.key for complaint in found.complaints] == ["mcpServers.calendar"]


def test_a_folder_may_only_narrow():
    table = '[tools]\nweb_fetch = false\n"mcp_cal*" = false\n[[permissions]]\ntool = "python"\ndecision = "ask"\n'
    config = put_together(HOME, [folder(table=table)]).config
    assert not config.is_on("web_fetch")
    assert not config.is_on("mcp_calendar_list")
    assert [(rule.tool, rule.decision) for rule in config.permissions] == [("files_write", "allow"), ("python", "ask")]


@pytest.mark.parametrize(
    ("table", "line", "key"),
    [
        pytest.param("[tools]\npython = true\n", 2, "tools.python", id="switching_on"),
        pytest.param(
            '[[permissions]]\ntool = "*"\ndecision = "allow"\n', 3, "permissions.0.decision", id="sparing_the_question"
        ),
        pytest.param("[sandbox]\nprocesses = 5\n", 1, "sandbox", id="sandbox"),
        pytest.param("[budgets]\nturn_seconds = 1\n", 1, "budgets", id="budgets"),
        pytest.param("[memory]\nis_on = true\n", 1, "memory", id="memory"),
        pytest.param('[[hooks]]\nwhen = "after_turn"\ncommand = ["./run.sh"]\n', 3, "hooks.0.command", id="beside"),
        pytest.param('[[hooks]]\nwhen = "after_turn"\ncommand = ["../run.sh"]\n', 3, "hooks.0.command", id="outside"),
        pytest.param('[[hooks]]\nwhen = "after_turn"\ncommand = ["hooks/../../x"]\n', 3, "hooks.0.command", id="dots"),
        pytest.param(
            '[[hooks]]\nwhen = "after_turn"\ncommand = ["sh", "hooks/no.sh"]\n', 3, "hooks.0.command", id="none"
        ),
        pytest.param('[mcpServers.a]\ncommand = "/projects/proj/run"\n', 2, "mcpServers.a.command", id="absolute"),
    ],
)
def test_what_a_folder_may_not_say_is_complained_of_and_its_table_left_out(table, line, key):
    complaint = complaint_about_folder(table)
    assert (complaint.line, complaint.key) == (line, key)
    assert complaint.hint


def test_a_broken_table_of_the_home_stops_everything_because_its_limits_are_unknown():
    with pytest.raises(UsageProblem, match="turn_seconds"):
        put_together(home(table="[budgets]\nturn_seconds = 0\n"))


def test_an_unreadable_table_of_the_home_stops_everything_too():
    unread = Complaint("harness.toml", "It is too large.", "Make it smaller.")
    with pytest.raises(UsageProblem, match="too large"):
        put_together(Source("/home/me/macaron", {}, is_home=True, complaints=(unread,)))


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        pytest.param(b"one\ntwo\xff\n", 2, "UTF-8", id="no_utf8"),
        pytest.param(b"one\n\x1b[31mtwo", 2, "U+001B", id="escape"),
        pytest.param(b"x" * 100_001, None, "100001 characters", id="long"),
    ],
)
def test_bad_instructions_are_left_out_and_complained_of(data, line, said):
    found = put_together(home(agents=data, **skill("mail")))
    assert found.config.instructions == ()
    assert [one.name for one in found.config.skills] == ["mail"]
    ((complaint,), file) = found.complaints, "AGENTS.md"
    assert (complaint.file, complaint.line) == (file, line)
    assert said in complaint.problem


def test_a_configuration_survives_being_written_as_json():
    config = put_together(HOME, [folder(agents="Use tabs.", table="[tools]\npython = false\n", **skill("docs"))]).config
    assert HarnessConfig.model_validate_json(config.model_dump_json(by_alias=True)) == config


def test_a_configuration_cannot_be_changed():
    config = put_together(HOME).config
    with pytest.raises(ValueError, match="frozen"):
        config.budgets = Budgets()  # type: ignore[misc]


def test_the_name_of_a_folder_is_one_printable_line_for_a_model():
    source = folder("/projects/a\nb\x1b[2J\udcff" + "c" * 300, agents="x")
    (one,) = put_together(home(), [source]).config.instructions
    assert one.origin.startswith("a b [2J c") and len(one.origin) == 100
