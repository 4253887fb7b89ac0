"""What is proposed: what the corrections have in common, of the expert corrected most, and nothing learned already."""

from pathlib import Path

import pytest

from app.opening import open_store
from app.paths import Paths
from app.teaching.folder import LessonFolder, find_lesson, lessons_of
from app.teaching.proposing import propose
from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterRecord
from engine.errors import StoreProblem, UnknownName, UsageProblem
from tests.app.teaching.conftest import correct
from tests.local_training.lessons.scripted import METRIC, NAME
from ui.teaching import Taught

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("tiny_profile")]
ENGLISH = {"LC_ALL": "C.UTF-8"}


def test_a_lesson_says_what_would_change_and_is_kept_with_its_corrections(home: Path):
    correct(home)
    folder = propose(Paths(home), ENGLISH)
    proposal = folder.read().proposal
    assert (proposal.expert, proposal.corrections, proposal.minutes) == ("L0", len(NAME), 10.0)
    assert proposal.changes == ("Answers begin with “Mira,”.",)
    assert [one.prompt for one in proposal.corrected] == [prompt for prompt, _, _ in NAME[-3:]]
    assert [one.after for one in folder.read().corrections] == [after for _, _, after in NAME]
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert [one.lesson_id for one in lessons_of(Paths(home))] == [proposal.lesson_id]


def test_it_is_said_in_chinese_where_chinese_is_spoken(home: Path):
    correct(home)
    proposal = propose(Paths(home), {"LC_ALL": "zh_CN.UTF-8"}).read().proposal
    assert "回答" in proposal.changes[0] and "Mira" in proposal.changes[0]


def test_too_few_corrections_are_refused_with_how_many_more(home: Path):
    correct(home, NAME[:5])
    with pytest.raises(UsageProblem) as caught:
        propose(Paths(home), ENGLISH)
    assert "3 more" in caught.value.problem
    assert "/better" in caught.value.hint
    assert lessons_of(Paths(home)) == []


def test_the_expert_corrected_most_is_taught_unless_another_is_named(home: Path):
    correct(home, NAME, "L0")
    correct(home, METRIC, "L2")
    assert propose(Paths(home), ENGLISH).read().proposal.expert == "L2"
    assert propose(Paths(home), ENGLISH, expert="L0").read().proposal.expert == "L0"
    with pytest.raises(UnknownName):
        propose(Paths(home), ENGLISH, expert="L9")


def test_a_minute_is_too_short(home: Path):
    correct(home)
    with pytest.raises(UsageProblem, match="too few"):
        propose(Paths(home), ENGLISH, minutes=1)


def in_use(home: Path, folder: LessonFolder) -> None:
    """As if the lesson had passed and answered."""
    adapter_hash = "ab" * 16
    folder.write_result(Taught(folder.lesson_id, "L0", "passed", adapter_hash, is_in_use=True))
    with open_store(Paths(home)) as store:
        catalogue = Catalogue(store.database)
        catalogue.add(AdapterRecord(adapter_hash, "cd" * 16, "tiny", "L0", "personal", "a.gguf", 1, 8))
        catalogue.begin_canary(adapter_hash)


def test_what_is_learned_is_not_proposed_again_but_learned_along_with_what_is_new(home: Path):
    correct(home)
    first = propose(Paths(home), ENGLISH)
    in_use(home, first)
    with pytest.raises(UsageProblem, match="0 corrections"):
        propose(Paths(home), ENGLISH)
    correct(home, METRIC)
    second = propose(Paths(home), ENGLISH).read()
    assert second.earlier == (first.lesson_id,)
    assert {one.prompt for one in second.corrections} == {prompt for prompt, _, _ in METRIC}


def test_a_damaged_lesson_is_named(home: Path):
    correct(home)
    folder = propose(Paths(home), ENGLISH)
    folder.lesson.write_text("{", encoding="utf-8")
    with pytest.raises(StoreProblem, match="is damaged"):
        folder.read()


@pytest.mark.parametrize("name", ["2020-01-01-0000", "../secrets", "", "."])
def test_a_lesson_that_is_not_there_is_said_to_be_missing(home: Path, name: str):
    with pytest.raises(UnknownName, match="There is no lesson"):
        find_lesson(Paths(home), name)
