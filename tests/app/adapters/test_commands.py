"""`macaron adapters` as its user meets it: lists, changes and refusals, in English, Chinese and JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli.adapters import adapters
from app.opening import open_store
from app.paths import Paths
from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterRecord, Evaluation, Source
from engine.errors import AdapterMismatch, AgentError, ModelMissing, UnknownName, UsageProblem
from engine.runtime.identity import adapter_ref
from tests.app.running import macaron
from tests.engine.adapters.catalogued import named

Change = Callable[[Catalogue], Any]


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def run(*arguments: str) -> int:
    code: int = adapters.main([*arguments], prog_name="macaron adapters", standalone_mode=False)
    return code


def change(home: Path, do: Change) -> Any:
    with open_store(Paths(home)) as store:
        return do(Catalogue(store.database))


def put(home: Path, name: str, *sources: Source, **changes: Any) -> AdapterRecord:
    """An adapter with a file of its own, whose weights nobody reads."""
    folder = Paths(home).adapters
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.gguf"
    file.write_bytes(name.encode() * 100)
    record = named(name, content_hash=adapter_ref(file).content_hash, size_bytes=100 * len(name), **changes)
    return change(home, lambda catalogue: catalogue.add(record, sources))


def answering(home: Path, expert: str = "L2") -> str:
    used = change(home, lambda catalogue: catalogue.in_use("starter"))
    return ", ".join(record.note for record in used if record.expert == expert)


def read_json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


# Lists


def test_a_list_shows_the_newest_first_and_how_to_go_on(home: Path, capsys: pytest.CaptureFixture[str]):
    records = [put(home, name) for name in ("one", "two", "three")]
    assert run("list", "--limit", "2") == 0
    heads, *rows, more = capsys.readouterr().out.splitlines()
    assert heads.split()[:3] == ["adapter", "expert", "profile"]
    assert [row.split()[0] for row in rows] == [record.content_hash[:12] for record in reversed(records[1:])]
    assert more == f"More with: --after {records[1].content_hash[:12]}"
    assert run("list", "--after", records[1].content_hash[:12]) == 0
    assert [row.split()[-1] for row in capsys.readouterr().out.splitlines()[1:]] == ["one"]


def test_a_list_of_one_expert_and_state_holds_nothing_else(home: Path, capsys: pytest.CaptureFixture[str]):
    put(home, "one", expert="L1")
    two = put(home, "two")
    put(home, "three")
    run("promote", two.content_hash, "--yes", "--json")
    capsys.readouterr()
    assert run("list", "--expert", "l2", "--state", "champion", "--json") == 0
    listed = read_json(capsys)
    assert [one["note"] for one in listed["adapters"]] == ["two"]
    assert listed["next"] is None


def test_scripts_are_told_where_the_next_page_begins(home: Path, capsys: pytest.CaptureFixture[str]):
    for name in ("one", "two", "three"):
        put(home, name)
    seen, after = [], ()
    while True:
        run("list", "--limit", "1", "--json", *after)
        page = read_json(capsys)
        seen += [one["note"] for one in page["adapters"]]
        if page["next"] is None:
            break
        after = ("--after", page["next"])
    assert seen == ["three", "two", "one"]


def test_an_empty_list_says_how_to_begin_in_the_users_language(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert run("list") == 0
    assert capsys.readouterr().out.startswith("还没有适配器")


def test_show_tells_all_that_is_known_of_an_adapter(home: Path, capsys: pytest.CaptureFixture[str]):
    parent = put(home, "parent")
    child = put(home, "child", Source("t-1", "h"), parent_hash=parent.content_hash)
    change(
        home,
        lambda catalogue: catalogue.add_evaluation(
            child.content_hash, Evaluation("held-out", 200, {"win": 0.15}, "failed", ("It agrees with everything.",))
        ),
    )
    run("promote", child.content_hash[:8], "--yes")
    capsys.readouterr()
    assert run("show", child.content_hash[:8]) == 0
    said = capsys.readouterr().out
    for expected in (
        f"hash        {child.content_hash}",
        "state       in use",
        f"trained on top of: {parent.content_hash[:12]}",
        "sources (1): t-1",
        "held-out, 200 items: failed, win 0.15",
        "  It agrees with everything.",
        f"{child.content_hash[:12]} in place of the factory's (By hand.)",
    ):
        assert expected in said, expected
    run("show", parent.content_hash[:8], "--json")
    assert [one["note"] for one in read_json(capsys)["children"]] == ["child"]


def test_what_a_file_says_of_itself_cannot_reach_the_terminal(home: Path, capsys: pytest.CaptureFixture[str]):
    put(home, "one", note="\x1b[31mred\x1b[0m\u202e")
    run("list")
    assert "\x1b" not in (said := capsys.readouterr().out) and "\u202e" not in said


def test_diff_names_only_what_differs(home: Path, capsys: pytest.CaptureFixture[str]):
    one = put(home, "one", Source("t-1"), Source("t-2"), recipe_hash="1" * 64)
    two = put(home, "two", Source("t-2"), recipe_hash="2" * 64, rank=16)
    for record, value in ((one, 0.5), (two, 0.75)):
        change(
            home,
            lambda catalogue, record=record, value=value: catalogue.add_evaluation(
                record.content_hash, Evaluation("held-out", 200, {"win": value})
            ),
        )
    assert run("diff", one.content_hash, two.content_hash, "--json") == 0
    found = read_json(capsys)["differences"]
    assert found["rank"] == ["8", "16"]
    assert found["held-out: win"] == ["0.5", "0.75"]
    assert found["sources"] == ["1", "0"]
    assert not {"expert", "base", "kind", "state"} & set(found)
    assert run("diff", one.content_hash, two.content_hash) == 0
    said = capsys.readouterr().out
    assert "recipe" in said and "111111111111" in said and "expert" not in said


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("show", "beef"), UnknownName),
        (("show", "no hash"), UsageProblem),
        (("diff", "beef", "beef"), UnknownName),
        (("promote", "beef", "--yes"), UnknownName),
        (("export", "beef"), UnknownName),
        (("remove", "beef", "--yes"), UnknownName),
        (("remove", "--yes"), UsageProblem),
        (("remove", "beef", "--retired", "--yes"), UsageProblem),
        (("list", "--after", "beef"), UnknownName),
        (("rollback",), UsageProblem),
        (("rollback", "L9"), UnknownName),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_meant_is_refused_with_a_way_on(home: Path, arguments: tuple[str, ...], error: type[AgentError]):
    with pytest.raises(error) as caught:
        run(*arguments)
    assert caught.value.exit_code == 2
    assert caught.value.hint


def test_a_beginning_that_several_adapters_share_is_refused_with_longer_ones(home: Path):
    for sign in "01":
        change(home, lambda catalogue, sign=sign: catalogue.add(named("a", content_hash="abcd" + sign * 28)))
    with pytest.raises(UsageProblem, match="Several adapters begin with abcd") as caught:
        run("show", "abcd")
    assert "abcd00000000" in caught.value.hint


# Changes


def test_a_promotion_by_hand_asks_and_says_that_no_gate_was_passed(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    one = put(home, "one")
    asked: list[str] = []

    def answer(reply: bool) -> None:
        monkeypatch.setattr("app.cli.adapters.is_terminal", lambda stream: True)
        monkeypatch.setattr("app.cli.adapters.click.confirm", lambda text: asked.append(text) or reply)

    answer(False)
    assert run("promote", one.content_hash) == 0
    assert capsys.readouterr().out == "Nothing was changed.\n"
    assert answering(home) == ""
    answer(True)
    assert run("promote", one.content_hash) == 0
    assert asked[0] == asked[1]
    assert "No gate was passed" in asked[1] and f"Let {one.content_hash[:12]} answer for L2" in asked[1]
    assert "macaron adapters rollback L2" in capsys.readouterr().out
    assert answering(home) == "one"


def test_one_that_has_passed_the_gate_is_promoted_without_that_warning(home: Path, capsys: pytest.CaptureFixture[str]):
    one = put(home, "one")
    change(
        home, lambda catalogue: catalogue.add_evaluation(one.content_hash, Evaluation("gate", 800, verdict="passed"))
    )
    run("promote", one.content_hash, "--yes")
    assert "gate" not in capsys.readouterr().out
    run("promote", one.content_hash, "--yes", "--json")
    assert read_json(capsys)["gate_passed"] is True


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["nobody-there", "a-script"])
@pytest.mark.parametrize("verb", ["promote", "remove"])
def test_where_nobody_can_be_asked_yes_must_be_said(home: Path, verb: str, options: tuple[str, ...]):
    one = put(home, "one")
    with pytest.raises(UsageProblem) as caught:
        run(verb, one.content_hash, *options)
    assert "--yes" in caught.value.hint
    assert answering(home) == "" and (Paths(home).adapters / "one.gguf").exists()


def test_an_adapter_whose_file_is_gone_or_changed_is_not_promoted(home: Path):
    one, two = put(home, "one"), put(home, "two")
    (Paths(home).adapters / "one.gguf").unlink()
    (Paths(home).adapters / "two.gguf").write_bytes(b"something else")
    with pytest.raises(ModelMissing):
        run("promote", one.content_hash, "--yes")
    with pytest.raises(AdapterMismatch):
        run("promote", two.content_hash, "--yes")
    assert answering(home) == ""


def test_rollbacks_go_back_one_at_a_time_or_straight_to_the_factory(home: Path, capsys: pytest.CaptureFixture[str]):
    for name in ("one", "two", "three"):
        run("promote", put(home, name).content_hash, "--yes")
    capsys.readouterr()
    assert run("rollback", "l2", "--json") == 0
    swap = read_json(capsys)
    assert (swap["previous"]["note"], swap["now"]["note"], answering(home)) == ("three", "two", "two")
    assert run("rollback", "--factory") == 0
    assert "back from" in (said := capsys.readouterr().out) and "the factory's" in said
    assert answering(home) == ""
    with pytest.raises(UsageProblem, match="L2 of the profile starter answers as it came"):
        run("rollback", "L2")


def test_a_rollback_that_could_mean_two_experts_asks_which(home: Path):
    for name, expert in (("one", "L1"), ("two", "L2")):
        run("promote", put(home, name, expert=expert).content_hash, "--yes")
    with pytest.raises(UsageProblem, match="L1, L2"):
        run("rollback")
    assert run("rollback", "L1") == 0
    assert (answering(home, "L1"), answering(home, "L2")) == ("", "two")


def test_an_adapter_on_trial_is_taken_back_before_the_champion(home: Path):
    one, two = put(home, "one"), put(home, "two")
    run("promote", one.content_hash, "--yes")
    change(home, lambda catalogue: catalogue.begin_canary(two.content_hash))
    assert run("rollback") == 0
    assert answering(home) == "one"


def test_remove_deletes_the_file_and_the_entry(home: Path, capsys: pytest.CaptureFixture[str]):
    one = put(home, "one")
    assert run("remove", one.content_hash[:6], "--yes") == 0
    assert capsys.readouterr().out == "Removed 1 adapter: 300 B\n"
    assert list(Paths(home).adapters.iterdir()) == []
    assert change(home, lambda catalogue: catalogue.page()) == ()


def test_what_is_in_use_is_not_removed(home: Path):
    one = put(home, "one")
    run("promote", one.content_hash, "--yes")
    with pytest.raises(UsageProblem, match="in use for L2") as caught:
        run("remove", one.content_hash, "--yes")
    assert "macaron adapters rollback L2" in caught.value.hint
    assert (Paths(home).adapters / "one.gguf").exists()


def test_remove_retired_spares_what_one_may_want_to_go_back_to(home: Path, capsys: pytest.CaptureFixture[str]):
    for number in range(8):
        run("promote", put(home, f"n{number}").content_hash, "--yes")
    capsys.readouterr()
    assert run("remove", "--retired", "--yes", "--json") == 0
    assert len(read_json(capsys)["removed"]) == 2
    assert sorted(path.stem for path in Paths(home).adapters.iterdir()) == ["n2", "n3", "n4", "n5", "n6", "n7"]
    assert run("remove", "--retired", "--yes") == 0
    assert capsys.readouterr().out == "There is nothing to remove.\n"


# Handing out


def test_an_export_is_the_file_and_its_origin_beside_it(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    one = put(home, "one", Source("t-1", "secret hash"), recipe_hash="1" * 64)
    (tmp_path / "out").mkdir()
    assert run("export", one.content_hash[:6], "--output", str(tmp_path / "out")) == 0
    file = tmp_path / "out" / f"L2-{one.content_hash[:12]}.gguf"
    assert file.read_bytes() == (Paths(home).adapters / "one.gguf").read_bytes()
    text = file.with_suffix(".json").read_text(encoding="utf-8")
    manifest = json.loads(text)
    assert (manifest["content_hash"], manifest["recipe_hash"]) == (one.content_hash, "1" * 64)
    assert manifest["sources"] == ["t-1"] and "secret hash" not in text
    assert "forget" in capsys.readouterr().out


def test_an_export_overwrites_nothing_unless_it_is_told_to(home: Path, tmp_path: Path):
    one = put(home, "one")
    target = tmp_path / "one.gguf"
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageProblem, match="already exists"):
        run("export", one.content_hash, "--output", str(target))
    assert target.read_text(encoding="utf-8") == "mine"
    assert run("export", one.content_hash, "--output", str(target), "--force") == 0
    assert target.read_bytes() == b"one" * 100


def test_an_export_under_a_name_of_something_else_is_refused(home: Path, tmp_path: Path):
    one = put(home, "one")
    with pytest.raises(UsageProblem, match="no name of an adapter"):
        run("export", one.content_hash, "--output", str(tmp_path / "one.txt"))


# As a program


def test_a_script_reads_errors_and_exit_codes(home: Path):
    done = macaron("adapters", "show", "beef", "--json")
    assert done.code == 2
    assert done.json["error"]["hint"] == "See `macaron adapters list`."
