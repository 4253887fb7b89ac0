"""The tool by which a model reads a skill."""

import pytest

from engine.errors import UsageProblem
from engine.harness.config.harnessed import Harnessed, put_together
from engine.harness.config.skill_toolbox import SkillToolbox
from engine.harness.tool_calls import ToolCall
from engine.harness.tools.values import Invocation, Toolbox
from engine.runtime.protocol import NEVER
from tests.engine.harness.config.sources import home, skill

FOUND = put_together(home(**skill("pdf", body="First look."), **skill("mail"), **{"skills/pdf/run.py": "1"}))


def toolbox(found: Harnessed = FOUND, files_at: str = "") -> Toolbox:
    return SkillToolbox(lambda: found, len, files_at=files_at)


def reading(arguments: str) -> Invocation:
    return Invocation(ToolCall("read_skill", arguments), "c1", "t1", NEVER)


def test_the_tool_offers_the_skills_there_are():
    (spec,) = toolbox().specs()
    assert spec.tool.name == "read_skill"
    assert spec.tool.parameters["properties"]["name"]["enum"] == ["mail", "pdf"]
    assert not spec.changes


def test_without_skills_there_is_no_tool():
    assert toolbox(put_together(home())).specs() == ()


def test_reading_gives_the_text_and_where_the_files_are():
    call = reading('{"name": "pdf"}')
    assert toolbox().preview(call).detail == "First look."
    assert toolbox().run(call).text == "# Skill pdf\n\nFirst look."
    assert toolbox(files_at="/skills").run(call).text == (
        "# Skill pdf\n\nIts files lie in /skills/pdf: run.py\n\nFirst look."
    )


def test_what_is_read_counts_as_the_text_of_others():
    assert toolbox().run(reading('{"name": "pdf"}')).is_tainted


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param('{"name": "../AGENTS"}', "There are: mail, pdf.", id="unknown"),
        pytest.param('{"name": ["pdf"]}', "There are: mail, pdf.", id="list"),
        pytest.param("[]", "There are: mail, pdf.", id="no_object"),
        pytest.param("{name: pdf}", "cannot be read", id="no_json"),
    ],
)
def test_a_wrong_call_is_answered_so_that_a_model_can_correct_it(arguments, said):
    result = toolbox().run(reading(arguments))
    assert result.is_error
    assert said in result.text
    with pytest.raises(UsageProblem):
        toolbox().preview(reading(arguments))
