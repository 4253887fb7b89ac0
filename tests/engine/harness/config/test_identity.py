"""The version id: another one exactly when a model would read something else."""

import pytest

from engine.harness.config.harnessed import put_together
from engine.harness.config.source import Source
from tests.engine.harness.config.sources import folder, home, skill

TABLE = '[system]\nall = "Be short."\nL2 = "Write tests."\n[tools]\na = true\nb = false\n'
FILES = {"table": TABLE, "agents": "Answer in German.\n", **skill("mail"), **skill("pdf"), "skills/pdf/a.py": "1"}
VERSION = put_together(home(**FILES)).version


def version(**changed: str | None) -> str:
    files = {path: text for path, text in {**FILES, **changed}.items() if text is not None}
    return put_together(home(**files)).version


def test_a_version_is_sixteen_hexadecimal_digits_and_the_same_every_time():
    assert len(VERSION) == 16 and int(VERSION, 16) >= 0
    assert version() == VERSION


def test_the_order_of_files_and_of_keys_does_not_matter():
    backwards = dict(reversed(FILES.items()))
    assert put_together(home(**backwards)).version == VERSION
    table = '[tools]\nb = false\na = true\n[system]\nL2 = "Write tests."\nall = "Be short."\n'
    assert version(table=table) == VERSION


def test_the_order_of_folders_does_not_matter():
    one, two = folder("/projects/one", agents="1"), folder("/projects/two", agents="2")
    assert put_together(home(), [one, two]) == put_together(home(), [two, one])


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"skills/mail/SKILL.md": skill("mail", body="Otherwise.")["skills/mail/SKILL.md"]}, id="body"),
        pytest.param(
            {"skills/mail/SKILL.md": skill("mail", description="Other.")["skills/mail/SKILL.md"]}, id="header"
        ),
        pytest.param({"skills/mail/SKILL.md": None}, id="skill_removed"),
        pytest.param({"skills/pdf/a.py": "2"}, id="file_beside_a_skill"),
        pytest.param({"agents": "Answer in French.\n"}, id="instructions"),
        pytest.param({"table": TABLE.replace("short", "brief")}, id="addition"),
        pytest.param({"table": TABLE.replace("L2", "L1")}, id="reader"),
        pytest.param({"table": TABLE.replace("b = false", "b = true")}, id="switch"),
        pytest.param({"table": f"{TABLE}[budgets]\nskill_tokens = 7\n"}, id="budget_of_the_head"),
        pytest.param({"table": f"{TABLE}[memory]\nrecall_items = 7\n"}, id="memory"),
    ],
)
def test_what_a_model_reads_changes_the_version(changed):
    assert version(**changed) != VERSION


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"agents": "\ufeffAnswer in German.\r\n\r\n"}, id="line_breaks"),
        pytest.param({"table": f"# a comment\n{TABLE}"}, id="comment"),
        pytest.param({"table": f"{TABLE}[budgets]\nturn_seconds = 7\n"}, id="time"),
        pytest.param({"table": f"{TABLE}[sandbox]\nprocesses = 5\n"}, id="sandbox"),
        pytest.param({"table": f'{TABLE}[[hooks]]\nwhen = "after_turn"\ncommand = ["a"]\n'}, id="hook"),
        pytest.param({"table": f'{TABLE}[mcpServers.a]\ncommand = "a"\n'}, id="server"),
        pytest.param({"table": f'{TABLE}[[permissions]]\ntool = "a"\ndecision = "deny"\n'}, id="permission"),
        pytest.param({"skills/none/note.txt": "x"}, id="no_skill"),
    ],
)
def test_what_no_model_reads_costs_no_new_epoch(changed):
    assert version(**changed) == VERSION


def test_where_the_home_lies_does_not_matter():
    moved = Source("/elsewhere", home(**FILES).files, is_home=True, run_from="/elsewhere")
    assert put_together(moved).version == VERSION


def test_the_hash_of_a_folder_covers_every_path_and_every_byte():
    files = {"agents": "ab", "hooks/x": "c"}
    kept = folder(**files).content_hash
    assert len(kept) == 64
    assert folder("/somewhere/else", **dict(reversed(files.items()))).content_hash == kept
    for other in ({"agents": "ab", "hooks/x": "C"}, {"agents": "ab", "hooks/y": "c"}, {"agents": "abc", "hooks/x": ""}):
        assert folder(**other).content_hash != kept
    assert folder(**files, **{"skills/z": ""}).content_hash != kept
