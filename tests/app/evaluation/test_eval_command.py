"""`macaron eval` as its user meets it: tables, verdicts, exit codes and refusals, with a real engine on a tiny base."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli.adapters import adapters
from app.cli.evaluation import evaluate
from app.opening import open_store
from app.paths import Paths
from engine.adapters.catalogue import Catalogue
from engine.adapters.records import Evaluation
from engine.errors import AgentError, UnknownName, UsageProblem
from tests.app.evaluation.conftest import import_adapter
from tests.support.adapters import write_random_adapter
from tests.support.evaluating import exploded_adapter, zero_adapter

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("tiny_profile", "small_suites")]


def run(*arguments: str) -> int:
    code: int = evaluate.main([*arguments], prog_name="macaron eval", standalone_mode=False)
    return code


def read_json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def kept(home: Path, content_hash: str) -> tuple[Evaluation, ...]:
    with open_store(Paths(home)) as store:
        return Catalogue(store.database).evaluations(content_hash)


# Measuring


def test_without_an_adapter_the_expert_is_measured_as_it_answers_now(
    tiny_moe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert run() == 0
    first, heads, *rows, last = capsys.readouterr().out.splitlines()
    assert first == "L0 of tiny as it answers now (the factory's)"
    assert heads.split() == ["suite", "items", "right", "loss", "a", "token"]
    assert [row.split()[:2] for row in rows] == [["capitals", "3"], ["short", "4"]]
    assert last.startswith("Measured in")
    mine = import_adapter(write_random_adapter(tiny_moe, tmp_path / "a.gguf", rank=2), capsys, "L0")
    adapters.main(["promote", mine, "--yes"], standalone_mode=False)
    capsys.readouterr()
    run("--json")
    assert read_json(capsys)["adapter"] == mine


def test_scripts_get_every_figure_and_which_items_failed(capsys: pytest.CaptureFixture[str]):
    assert run("--json", "--suite", "short", "--expert", "l1") == 0
    found = read_json(capsys)
    assert (found["profile"], found["expert"], found["adapter"], found["against"]) == ("tiny", "L1", "", None)
    (suite,) = found["suites"]
    assert suite == {"suite": "short", "role": "probe", "items": 4, "accuracy": 0.75, "failed": ["no-object"]}


def test_an_adapter_is_measured_with_its_own_expert_and_against_the_factory(
    home: Path, tiny_moe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    mine = import_adapter(zero_adapter(tiny_moe, tmp_path / "zero.gguf"), capsys)
    assert run(mine[:8], "--against", "factory") == 0
    first, second, _, *rows, _ = capsys.readouterr().out.splitlines()
    assert first == f"L2 of tiny with {mine[:12]}"
    assert second == "Compared with the factory's"
    assert all("+0.0 points" in row and "0 better, 0 worse" in row for row in rows)
    run(mine[:8], "--against", "champion", "--json")
    changes = [suite["change"] for suite in read_json(capsys)["suites"]]
    assert [(change["wins"], change["losses"], change["points"]) for change in changes] == [(0, 0, 0.0)] * 2
    assert kept(home, mine) == (), "measuring alone leaves nothing in the catalogue"


def test_the_champion_is_named_where_there_is_one_to_compare_with(
    tiny_moe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    champion = import_adapter(write_random_adapter(tiny_moe, tmp_path / "a.gguf", rank=2), capsys)
    mine = import_adapter(write_random_adapter(tiny_moe, tmp_path / "b.gguf", rank=2, seed=1), capsys)
    adapters.main(["promote", champion, "--yes"], standalone_mode=False)
    capsys.readouterr()
    assert run(mine, "--against", "champion", "--suite", "capitals") == 0
    assert f"Compared with the champion {champion[:12]}" in capsys.readouterr().out


def test_chinese_is_spoken_where_it_is_asked_for(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert run("--suite", "capitals") == 0
    assert "评测集" in capsys.readouterr().out


# The gate


def test_the_gate_says_why_and_keeps_it(home: Path, tiny_moe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    mine = import_adapter(exploded_adapter(tiny_moe, tmp_path / "bad.gguf"), capsys)
    assert run(mine[:8], "--gate", "--rules", "teach") == 1
    said = capsys.readouterr().out
    assert said.splitlines()[:2] == [
        f"{mine[:12]} for L2 of tiny, by the rules of teach",
        "The candidate is rejected.",
    ]
    assert "What could not be told" in said and f"macaron adapters show {mine[:12]}" in said
    gate, *suites = kept(home, mine)
    assert (gate.suite, gate.verdict, gate.reasons[0]) == ("gate", "failed", "The candidate is rejected.")
    assert {one.suite for one in suites} <= {"capitals", "short"}


def test_scripts_get_the_verdict_with_all_that_was_found(
    tiny_moe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    mine = import_adapter(zero_adapter(tiny_moe, tmp_path / "zero.gguf"), capsys)
    assert run(mine, "--gate", "--json") == 1
    found = read_json(capsys)
    assert (found["decision"], found["rules"], found["adapter"]) == ("not_enough_evidence", "night", mine)
    assert {finding["check"] for finding in found["findings"]} >= {"integrity", "target", "general", "drift", "parity"}
    assert found["drift"]["kl_from_factory_nats"] == 0.0
    assert found["reasons"] and all(isinstance(reason, str) for reason in found["reasons"])


def test_suites_of_a_folder_count_as_what_the_adapter_was_trained_for(
    tiny_moe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    mine = import_adapter(zero_adapter(tiny_moe, tmp_path / "zero.gguf"), capsys)
    folder = tmp_path / "mine" / "general"
    folder.mkdir(parents=True)
    items = [{"id": f"i{number}", "ask": f"Say {number}.", "right": "A", "wrong": ["B"]} for number in range(8)]
    (folder / "lesson.jsonl").write_text("\n".join(map(json.dumps, items)) + "\n", encoding="utf-8")
    assert run(mine, "--gate", "--rules", "teach", "--target", str(folder.parent), "--json") == 1
    found = read_json(capsys)
    assert [suite["suite"] for suite in found["suites"] if suite["role"] == "target"] == ["lesson"]
    assert "target.no_win" in {finding["code"] for finding in found["findings"]}


def test_what_the_gate_said_is_told_before_an_adapter_is_promoted_all_the_same(
    tiny_moe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    mine = import_adapter(exploded_adapter(tiny_moe, tmp_path / "bad.gguf"), capsys)
    asked: list[str] = []
    monkeypatch.setattr("app.cli.adapters.is_terminal", lambda stream: True)
    monkeypatch.setattr("app.cli.adapters.click.confirm", lambda text: bool(asked.append(text)))
    adapters.main(["promote", mine], standalone_mode=False)
    run(mine, "--gate")
    adapters.main(["promote", mine], standalone_mode=False)
    assert f"it was never tested. Test it with: macaron eval {mine[:12]} --gate" in asked[0]
    assert "The gate did not pass it: The candidate is rejected." in asked[1]
    assert asked[1].endswith(f"Let {mine[:12]} answer for L2 from now on?")


# Refusals


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (("beef",), UnknownName, "beef"),
        (("--expert", "L9"), UnknownName, "L9"),
        (("--suite", "no such"), UnknownName, "no such"),
        (("--gate",), UsageProblem, "none was named"),
        (("beef", "--gate", "--suite", "short"), UsageProblem, "every suite"),
        (("beef", "--gate", "--against", "factory"), UsageProblem, "every suite"),
        (("beef", "--rules", "teach"), UsageProblem, "gate's"),
        (("--profile", "no such profile"), UnknownName, "no such profile"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_meant_is_refused_before_anything_is_loaded(
    arguments: tuple[str, ...], error: type[AgentError], said: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("app.evaluation.opening.engine_child", lambda paths: pytest.fail("the engine was started"))
    with pytest.raises(error, match=said) as caught:
        run(*arguments)
    assert caught.value.exit_code == 2 and caught.value.hint


def test_an_adapter_of_another_expert_or_profile_is_refused(
    tiny_moe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    mine = import_adapter(zero_adapter(tiny_moe, tmp_path / "zero.gguf"), capsys)
    with pytest.raises(UsageProblem, match="is for L2, not for L1"):
        run(mine, "--expert", "L1")
    with pytest.raises(UsageProblem, match="is for the profile tiny, not for starter"):
        run(mine, "--profile", "starter")


def test_a_folder_without_suites_is_no_target(tmp_path: Path, tiny_moe: Path, capsys: pytest.CaptureFixture[str]):
    mine = import_adapter(zero_adapter(tiny_moe, tmp_path / "zero.gguf"), capsys)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageProblem, match="holds no suites"):
        run(mine, "--gate", "--target", str(tmp_path / "empty"))
