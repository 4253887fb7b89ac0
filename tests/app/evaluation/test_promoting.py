"""What `macaron adapters promote` says of the gate, and trials instead of promotions. Runs no engine."""

import json
from pathlib import Path

import pytest

from app.cli.adapters import adapters
from app.opening import open_store
from app.paths import Paths
from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterDetails, AdapterRecord, Evaluation
from engine.errors import UsageProblem
from engine.runtime.identity import adapter_ref
from tests.engine.adapters.catalogued import named
from ui.verdicts import gate_warning

FAILED = Evaluation("gate", 800, verdict="failed", reasons=("The candidate is rejected.", "It lost.", "A", "B"))
PASSED = Evaluation("gate", 800, verdict="passed", reasons=("The candidate may be promoted.",))
SUITE = Evaluation("capitals", 60, {"accuracy": 0.5})


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def put(home: Path, name: str = "one") -> AdapterRecord:
    folder = Paths(home).adapters
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.gguf"
    file.write_bytes(name.encode())
    with open_store(Paths(home)) as store:
        return Catalogue(store.database).add(named(name, content_hash=adapter_ref(file).content_hash))


def details(*evaluations: Evaluation) -> AdapterDetails:
    return AdapterDetails(named("a"), (), (), (), evaluations, ())


def test_the_warning_is_that_of_the_newest_verdict():
    assert gate_warning(details(PASSED, FAILED), "en") == ""
    assert gate_warning(details(SUITE, FAILED, PASSED), "en") == (
        "The gate did not pass it: The candidate is rejected. It lost. A"
    )
    assert gate_warning(details(SUITE), "en").startswith("No gate was passed: it was never tested.")
    assert gate_warning(details(), "zh").startswith("未通过任何关卡")


def test_a_reason_cannot_reach_the_terminal_with_control_characters():
    warning = gate_warning(details(Evaluation("gate", 1, verdict="failed", reasons=("\x1b[31mred",))), "en")
    assert "\x1b" not in warning and "red" in warning


def test_a_trial_is_asked_for_and_begins(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    one = put(home)
    asked: list[str] = []
    monkeypatch.setattr("app.cli.adapters.is_terminal", lambda stream: True)
    monkeypatch.setattr("app.cli.adapters.click.confirm", lambda text: asked.append(text) or True)
    assert adapters.main(["promote", one.content_hash, "--canary"], standalone_mode=False) == 0
    assert f"Let {one.content_hash[:12]} answer the next 20 turns of L2 on trial?" in asked[0]
    said = capsys.readouterr().out
    assert said.startswith(
        f"{one.content_hash[:12]} answers the next 20 turns of L2 on trial, in place of the factory's"
    )
    assert "macaron adapters rollback L2" in said
    with open_store(Paths(home)) as store:
        (record,) = Catalogue(store.database).in_use("starter")
    assert record.state == "canary"
    adapters.main(["promote", one.content_hash, "--canary"], standalone_mode=False)
    assert len(asked) == 1, "what is on trial already is not asked for again"


def test_a_trial_that_is_said_no_to_does_not_begin(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    one = put(home)
    monkeypatch.setattr("app.cli.adapters.is_terminal", lambda stream: True)
    monkeypatch.setattr("app.cli.adapters.click.confirm", lambda text: False)
    assert adapters.main(["promote", one.content_hash, "--canary"], standalone_mode=False) == 0
    assert capsys.readouterr().out == "Nothing was changed.\n"


def test_the_champion_cannot_be_put_on_trial(home: Path):
    one = put(home)
    adapters.main(["promote", one.content_hash, "--yes"], standalone_mode=False)
    with pytest.raises(UsageProblem):
        adapters.main(["promote", one.content_hash, "--canary", "--yes"], standalone_mode=False)


def test_scripts_learn_whether_the_gate_passed_it(home: Path, capsys: pytest.CaptureFixture[str]):
    one = put(home)
    with open_store(Paths(home)) as store:
        Catalogue(store.database).add_evaluation(one.content_hash, FAILED)
    adapters.main(["promote", one.content_hash, "--canary", "--yes", "--json"], standalone_mode=False)
    found = json.loads(capsys.readouterr().out)
    assert (found["gate_passed"], found["now"]["state"]) == (False, "canary")
