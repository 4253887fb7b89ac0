"""`macaron tools` where no host runs: what is kept is shown as it is; what was asked is done, or refused in words."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli.tools import tools
from app.harness.home_tools import HomeTools
from app.opening import open_store
from app.paths import Paths, make_home
from engine.errors import UnknownName, UsageProblem
from engine.harness.permissions import Rule
from engine.harness.sandbox import working_sandbox

pytestmark = pytest.mark.skipif(working_sandbox() is None, reason="no working bubblewrap here")
SOURCE = 'def double(n: int) -> int:\n    """Twice a number."""\n    return 2 * n\n'
EXAMPLE = "assert double(2) == 4"
Printed = Callable[..., Any]


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """Run the verb and read what it printed; with --json the value."""

    def _printed(*arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert (tools.main([*arguments], prog_name="macaron tools", standalone_mode=False) or 0) == code
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in arguments else out

    return _printed


@pytest.fixture
def saved(home: Path, tmp_path: Path, printed: Printed) -> Printed:
    """A home with one saved tool."""
    file = tmp_path / "double.json"
    content = {"format": "macaron-tool", "version": 1, "name": "double", "source": SOURCE, "example": EXAMPLE}
    file.write_text(json.dumps(content), encoding="utf-8")
    printed("import", str(file))
    return printed


def test_what_is_imported_waits_until_a_person_has_read_it(saved: Printed) -> None:
    shown = saved("show", "double")
    assert "waits for you" in shown and "return 2 * n" in shown and "calls: no other tool" in shown
    with pytest.raises(UsageProblem, match="by a person"):
        saved("promote", "double")
    with pytest.raises(UsageProblem, match="has changed meanwhile"):
        saved("promote", "double", "--hash", "0" * 64)
    facts = saved("show", "double", "--json")
    assert (facts["promoted"], facts["author"]) == (False, "user")
    assert saved("promote", "double", "--hash", facts["hash"], "--json")["promoted"] is True
    (line,) = (line for line in saved("list").splitlines() if line.startswith("double "))
    assert line.split() == ["double", "you", "the", "sandbox", "offered", "Twice", "a", "number."]


def test_a_tool_is_run_with_its_arguments_as_json(saved: Printed) -> None:
    assert saved("run", "double", '{"n": 21}') == "42\n"
    assert saved("run", "double", '{"n": 21}', "--json") == {"text": "42", "failed": False}
    assert "TypeError" in saved("run", "double", "{}", code=1)
    for wrong in ("[1]", "{", '"x"'):
        with pytest.raises(UsageProblem, match="arguments"):
            saved("run", "double", wrong)


def test_a_new_version_waits_again_and_one_whose_example_fails_is_not_taken(
    saved: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved("promote", "double", "--hash", saved("show", "double", "--json")["hash"])
    file = tmp_path / "new.py"
    file.write_text(f"{SOURCE}\n# Example, which must pass:\nassert double(3) == 7\n")
    with pytest.raises(UsageProblem, match="does not pass"):
        saved("edit", "double", "--file", str(file))
    assert saved("show", "double", "--json")["promoted"] is True
    monkeypatch.setenv("EDITOR", "sed -i s/2.\\*.n/n+n/")
    assert "Saved version 2" in saved("edit", "double")
    facts = saved("show", "double", "--json")
    assert (facts["version"], facts["promoted"], len(facts["versions"])) == (2, False, 2)
    assert "return n+n" in facts["source"]


def test_an_editor_that_fails_or_is_missing_changes_nothing(saved: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    with pytest.raises(UsageProblem, match="no editor"):
        saved("edit", "double")
    monkeypatch.setenv("EDITOR", "false")
    with pytest.raises(UsageProblem, match="ended with 1"):
        saved("edit", "double")
    assert saved("show", "double", "--json")["version"] == 1


def test_an_export_can_be_imported_elsewhere_and_overwrites_nothing(saved: Printed, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    saved("export", "double", str(file))
    assert json.loads(file.read_text())["source"] == SOURCE
    assert file.stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    with pytest.raises(UsageProblem, match="there already"):
        saved("export", "double", str(file))
    saved("remove", "double")
    with pytest.raises(UnknownName):
        saved("show", "double")
    saved("import", str(file))
    assert saved("show", "double", "--json")["version"] == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "x"}', '{"format": "other", "name": "x"}', "\xff"])
def test_what_is_no_exported_tool_is_refused(home: Path, printed: Printed, tmp_path: Path, text: str) -> None:
    file = tmp_path / "wrong.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageProblem):
        printed("import", str(file))


@pytest.mark.parametrize("name", ["python", "print", "class", "read_note", "../x", "a b"])
def test_no_tool_takes_the_name_of_another_or_of_python(
    home: Path, printed: Printed, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "named.json"
    content = {"format": "macaron-tool", "name": name, "source": SOURCE.replace("double", "f"), "example": "f(1)"}
    file.write_text(json.dumps(content))
    with pytest.raises(UsageProblem):
        printed("import", str(file))
    assert [one["name"] for one in printed("list", "--json")["saved"]] == []


def test_what_was_permitted_for_good_is_listed_and_forgotten(home: Path, printed: Printed) -> None:
    paths = Paths(home)
    make_home(paths)
    with open_store(paths) as store:
        HomeTools(paths, store.database).permits.remember(Rule("write_file", "papers/a.txt", True))
    (one,) = printed("permissions", "--json")["permissions"]
    assert (one["tool"], one["pattern"], one["allows"]) == ("write_file", "papers/a.txt", True)
    assert printed("permissions", "--forget", str(one["number"]), "--json") == {"permissions": []}
    with pytest.raises(UnknownName):
        printed("permissions", "--forget", "1")
