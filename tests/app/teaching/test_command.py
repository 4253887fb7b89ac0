"""`macaron teach` as its user meets it: what it says and asks, what scripts read, its exit codes and refusals."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli.teaching import teach
from app.opening import open_store
from app.paths import Paths
from app.teaching.folder import LessonFolder, lessons_of
from app.teaching.proposing import propose
from app.teaching.running import run_teach
from app.teaching.using import use_lesson
from app.training.trainer import TrainerProgram
from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterRecord
from engine.errors import UsageProblem
from engine.runtime.identity import adapter_ref
from tests.app.teaching.conftest import correct
from tests.local_training.lessons.scripted import NAME
from ui.teaching import Taught, TeachDecision

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("tiny_profile", "small_lessons")]
ENGLISH = {"LC_ALL": "C.UTF-8"}
Trainers = Callable[..., TrainerProgram]


def run(*arguments: str) -> int:
    code: int = teach.main([*arguments], prog_name="macaron teach", standalone_mode=False)
    return code


def read_json(capsys: pytest.CaptureFixture[str]) -> list[Any]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def taught_home(home: Path, decision: TeachDecision = "passed") -> LessonFolder:
    """A lesson was taught there, with this result, and its adapter is in the catalogue."""
    correct(home)
    folder = propose(Paths(home), ENGLISH)
    file = Paths(home).adapters / "a.gguf"
    file.parent.mkdir()
    file.write_bytes(b"weights")
    content_hash = adapter_ref(file).content_hash
    folder.write_result(Taught(folder.lesson_id, "L0", decision, content_hash, 40, 3, 37, 0.8, 0.97, 1e-6))
    with open_store(Paths(home)) as store:
        Catalogue(store.database).add(AdapterRecord(content_hash, "cd" * 16, "tiny", "L0", "personal", file.name, 7, 8))
    return folder


def answering(home: Path) -> list[str]:
    with open_store(Paths(home)) as store:
        return [record.state for record in Catalogue(store.database).in_use("tiny")]


def test_what_would_be_learned_is_said_without_learning_it(home: Path, capsys: pytest.CaptureFixture[str]):
    correct(home)
    assert run("--propose") == 0
    said = capsys.readouterr().out
    assert "From 8 corrections of L0" in said and "Answers begin with “Mira,”." in said
    assert "You wanted: Mira, try an old comedy." in said
    (folder,) = lessons_of(Paths(home))
    assert f"macaron teach --lesson {folder.lesson_id}" in said
    assert folder.read_result() is None


def test_scripts_get_the_proposal_as_json(home: Path, capsys: pytest.CaptureFixture[str]):
    correct(home)
    assert run("--propose", "--json", "--minutes", "4") == 0
    (proposal,) = read_json(capsys)
    assert (proposal["kind"], proposal["expert"], proposal["minutes"]) == ("proposal", "L0", 4.0)
    assert proposal["corrected"][0].keys() == {"prompt", "before", "after"}


def test_nothing_is_learned_where_nobody_can_agree(home: Path):
    correct(home)
    with pytest.raises(UsageProblem, match="Nobody is there to be asked"):
        run()
    assert lessons_of(Paths(home)) == []


def teach_it(home: Path, trainer: TrainerProgram, ask: Callable[[str], bool] | None, *, as_json: bool = False) -> int:
    return run_teach(
        Paths(home),
        ENGLISH,
        lesson=None,
        profile=None,
        expert=None,
        minutes=10,
        ask=ask,
        use=True,
        only_propose=False,
        threads=None,
        as_json=as_json,
        trainer=trainer,
    )


def test_who_says_no_learns_nothing(home: Path, trainer: Trainers, capsys: pytest.CaptureFixture[str]):
    correct(home)
    asked: list[str] = []

    def refuse(question: str) -> bool:
        asked.append(question)
        return False

    assert teach_it(home, trainer(), refuse) == 0
    assert asked == ["Learn this?"]
    assert capsys.readouterr().out.endswith("Nothing was learned.\n")
    assert [folder.read_result() for folder in lessons_of(Paths(home))] == [None]


def test_a_lesson_tells_its_figures_both_answers_and_the_gates_reasons(
    home: Path, trainer: Trainers, capsys: pytest.CaptureFixture[str]
):
    correct(home)
    assert teach_it(home, trainer(), None) == 0
    said = capsys.readouterr().out
    assert "prompts it never saw, 0 → 0 answers are as you want them" in said
    assert "before ✗" in said and "after  ✗" in said
    assert "The gate turned it away" in said and "It took " in said


def test_scripts_get_a_line_for_each_step_and_the_result_last(
    home: Path, trainer: Trainers, capsys: pytest.CaptureFixture[str]
):
    correct(home)
    assert teach_it(home, trainer(), None, as_json=True) == 0
    first, *progress, last = read_json(capsys)
    assert (first["kind"], last["kind"], last["decision"]) == ("proposal", "taught", "rejected")
    assert {one["kind"] for one in progress} == {"progress"}


@pytest.mark.parametrize(("scenario", "code", "said"), [("failed", 1, "It failed, and nothing changes:")])
def test_what_failed_has_an_exit_code_of_its_own(
    home: Path, trainer: Trainers, capsys: pytest.CaptureFixture[str], scenario: str, code: int, said: str
):
    correct(home)
    assert teach_it(home, trainer(scenario), None) == code
    assert said in capsys.readouterr().out


def test_a_lesson_that_passed_can_be_used_and_taken_back(home: Path, capsys: pytest.CaptureFixture[str]):
    folder = taught_home(home)
    use_lesson(Paths(home), folder.lesson_id)
    assert answering(home) == ["canary"]
    assert run("--undo") == 0
    assert capsys.readouterr().out == "L0 answers as before the lesson.\n"
    assert answering(home) == []
    assert run("--undo", "--lesson", folder.lesson_id, "--json") == 0
    assert read_json(capsys) == [{"lesson_id": folder.lesson_id, "changed": False, "now": None}]
    with pytest.raises(UsageProblem, match="No lesson answers now"):
        run("--undo")


def test_one_that_did_not_pass_cannot(home: Path):
    folder = taught_home(home, "rejected")
    with pytest.raises(UsageProblem, match="did not let the lesson"):
        use_lesson(Paths(home), folder.lesson_id)
    assert answering(home) == []


def test_all_lessons_are_listed_with_their_state(home: Path, capsys: pytest.CaptureFixture[str]):
    home.mkdir(exist_ok=True)
    assert run("--list") == 0
    assert "No lesson was taught yet" in capsys.readouterr().out
    folder = taught_home(home)
    run("--list")
    row = capsys.readouterr().out.splitlines()[1]
    assert row.startswith(folder.lesson_id) and "passed" in row and "3 → 37 / 40" in row
    use_lesson(Paths(home), folder.lesson_id)
    run("--list", "--json")
    ((found,),) = [one["lessons"] for one in read_json(capsys)]
    assert (found["lesson_id"], found["state"], found["result"]["right_after"]) == (folder.lesson_id, "in_use", 37)


def test_only_one_thing_is_done_at_a_time():
    with pytest.raises(UsageProblem, match="exclude each other"):
        run("--list", "--undo")


def test_chinese_is_spoken_where_it_is_asked_for(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    correct(home, NAME)
    assert run("--propose") == 0
    assert "从对 L0 的 8 条更正中可以学到" in capsys.readouterr().out
