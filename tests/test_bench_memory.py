"""The benchmark of memory: its sets are as they claim, and every arm fills its goals."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from engine.memory.folding.noting import noted_in
from tests.bench import memory, memory_folding, memory_scale
from tests.bench.memory import GOALS, locomo_figures, make_report, pollution_figures, set_figures, update_figures
from tests.bench.memory_arms import arm_of, updated
from tests.bench.memory_pollution import Labelled, read_stream, run_through
from tests.bench.memory_sets import (
    LANGUAGES,
    MOST_OVERLAP,
    Message,
    Question,
    Session,
    Told,
    Update,
    overlap,
    read_locomo,
    read_set,
    recall_at,
)
from tests.bench.report import to_json
from tests.engine.memory.folding.telling import told
from tests.support.embedding import HashedWords

SMALL = Told(
    (
        Session("2026-05-01", (Message("1.1", "I own a grey parrot"), Message("1.2", "He shouts at the postman"))),
        Session("2026-05-02", (Message("2.1", "I bake rye bread"), Message("2.2", "My oven is old"))),
    ),
    (Question("Do I own a parrot?", ("1.1",)), Question("What bread do I bake?", ("2.1",))),
    ("Where is my boat?",),
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_share_few_words_with_what_answers_them(language):
    told = read_set(language)
    texts = {message.message_id: message.text for message in told.messages}
    too_near = [
        (question.text, texts[one])
        for question in told.questions
        for one in question.evidence
        if overlap(question.text, texts[one]) > MOST_OVERLAP
    ]
    assert too_near == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sets_are_whole(language):
    told = read_set(language)
    ids = [message.message_id for message in told.messages]
    assert len(set(ids)) == len(ids) >= 100
    assert len(told.questions) >= 40
    assert len(told.sessions) >= 15
    assert len(told.absent) >= 10
    assert len(told.updates) >= 10
    assert {one for question in told.questions for one in question.evidence} <= set(ids)
    is_chinese = re.compile("[\u4e00-\u9fff]")
    assert all(bool(is_chinese.search(question.text)) == (language == "zh") for question in told.questions)
    for update in told.updates:
        assert update.stale in f"{update.first}\n".replace(".\n", "\n").replace("。\n", "\n")
        assert update.fresh in update.then


def test_overlap_is_the_share_of_the_questions_words():
    assert overlap("What bread do I bake?", "I bake rolls") == 0.5
    assert overlap("我的面包", "我的船") < 0.5


def test_recall_is_the_share_of_the_evidence():
    assert recall_at(["a", "b"], ["a", "c"]) == 0.5


def test_every_way_of_finding_is_asked(tmp_path):
    with arm_of(SMALL, HashedWords()) as arm:
        for find in memory.WAYS.values():
            assert find(arm, "Do I own a parrot?", 1) == ["1.1"]
        assert arm.knows("Do I own a parrot?")
        assert not arm.knows("Where is my boat?")


def test_the_figures_of_a_set():
    figures, row, missed = set_figures("en", SMALL, HashedWords())
    assert figures["recall5_en"].value == 1.0
    assert figures["absent_en"].value == 0
    assert row["messages"] == 4
    assert missed == []


def test_an_update_that_leaves_the_old_behind_is_told_from_one_that_does_not():
    moved = Update("I live in Bergen.", "I moved to Oslo.", "Where do I live?", "Bergen", "Oslo")
    unrelated = Update("I like tea in Bergen.", "I own a dog.", "Do I like tea in Bergen?", "Bergen", "dog")
    figures, rows = update_figures([updated(one, HashedWords()) for one in (moved, unrelated)])
    assert (figures["stale_returned"].value, figures["fresh_missing"].value) == (1, 1)
    assert [row["stale"] for row in rows] == [False, True]


def test_LoCoMo_is_read_without_what_nothing_answers(tmp_path):
    utterances = [
        {"id": f"D1:{number}", "time": "1:56 pm on 8 May, 2023", "speaker": "Ann", "text": text}
        for number, text in enumerate(["I own a parrot", "I bake bread"], 1)
    ]
    questions = [
        {"question": "Does Ann own a parrot?", "category": 1, "evidence": ["D1:1", "D9:9"]},
        {"question": "Does Ann own a boat?", "category": 5, "evidence": ["D1:1"]},
        {"question": "Who knows?", "category": 2, "evidence": []},
    ]
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"conversation": "1", "utterances": utterances, "questions": questions}]))
    (told,) = read_locomo(path)
    assert told.questions == (Question("Does Ann own a parrot?", ("D1:1",)),)
    assert told.messages[0].text == "Ann (8 May, 2023): I own a parrot"
    figures, rows = locomo_figures([told], HashedWords())
    assert figures["locomo_evidence_recall_10"].value == 1.0
    assert [row["way"] for row in rows] == list(memory.WAYS)


def test_the_polluted_stream_is_as_it_claims():
    stream = read_stream()
    assert len(stream) == 200
    assert {"system", "tool", "rule", "token", "fact"} <= {turn.kind for turn in stream}
    assert all(turn.holds for turn in stream if turn.kind == "fact")
    telling = [turn for turn in stream if turn.holds]
    chinese = [turn for turn in telling if re.search("[\u3400-\u9fff]", turn.text)]
    assert len(telling) == 80 and 30 <= len(chinese) <= 50
    for turn in telling:
        assert any(one.casefold() in turn.text.casefold() for one in turn.holds), turn.text


def test_junk_what_was_missed_and_what_was_shaken_are_told_apart():
    stream = (
        Labelled(1, "fact", "typed", "I live in Bergen.", holds=("Bergen",)),
        Labelled(1, "fact", "typed", "Blue, mostly.", holds=("blue",)),
        Labelled(2, "rule", "typed", "I love Mars.", never=("Mars",)),
        Labelled(2, "rule", "typed", "I moved to Rome.", never=("Rome",)),
        Labelled(3, "rule", "imported", "I moved to Paris.", never=("Paris",)),
    )
    done = run_through(stream, None)
    assert [len(one.true) for one in done] == [1, 0, 0, 0, 0]
    assert [len(one.junk) for one in done] == [0, 0, 1, 1, 0]
    assert [one.is_missed for one in done] == [False, True, False, False, False]
    assert [one.has_changed for one in done] == [False, False, False, True, False]
    figures, rows = pollution_figures(done)
    assert figures["pollution_junk_share"].value == pytest.approx(2 / 3)
    assert figures["pollution_facts_stored"].value == 0.5
    assert figures["pollution_changed"].value == 1
    assert [row["what"] for row in rows] == ["missed", "junk", "junk", "changed"]


def test_little_of_a_polluted_stream_is_kept_beside_what_is_true():
    figures, _ = pollution_figures(run_through(read_stream(), HashedWords()))
    assert figures["pollution_junk_share"].value < 0.02
    assert figures["pollution_facts_stored"].value > 0.9
    assert figures["pollution_changed"].value == 0


def test_times_are_taken_among_many():
    times = memory_scale.measure(300, 3, 0)
    assert len(times.search_ms) == len(times.write_ms) == 3
    assert times.memories == 300


def test_a_report_names_every_goal_and_says_why_one_is_missing(monkeypatch):
    monkeypatch.setattr(memory, "QUICK_MEMORIES", 200)
    monkeypatch.setattr(memory, "QUICK_RUNS", 3)
    plain = to_json(make_report(["scale"], None, is_quick=True, seed=0))
    goals = {goal["id"]: goal for goal in plain["goals"]}
    assert list(goals) == list(GOALS)
    assert goals["search_p95_ms"]["value"] is not None
    assert "--arm sets" in goals["recall5_en"]["reason"]
    assert "not part of the project" in memory._reason("locomo_evidence_recall_10", memory.ARMS, None)
    assert {name for names in memory._OF_ARM.values() for name in names} == set(GOALS)


def test_a_file_that_is_not_there_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        memory.main(["--locomo", str(Path(tmp_path) / "none.json")])
    assert "there is no file" in capsys.readouterr().err


@pytest.fixture(scope="module")
def lived():
    return memory_folding.live(8_000, 0, None, memory_folding.planted()[::4])


def test_what_is_planted_in_a_long_conversation_must_not_be_lost():
    for one in memory_folding.planted():
        lines = [noted.line for noted in noted_in(told(1, one.said), speaks=True, is_clean=True)]
        assert any(line.is_pinned and one.expected in line.text for line in lines), one


def test_a_conversation_much_longer_than_its_view_loses_nothing_that_counts(lived):
    figures, (row,) = memory_folding.figures(lived)
    assert lived.lost == ()
    assert figures["folding_pinned_kept"].value == figures["folding_turns_stored"].value == 1
    assert figures["folding_line_faults"].value == 0 < figures["folding_line_faults"].runs
    assert row["folds"] > 5
    assert row["longest prompt"] <= memory_folding.CONTEXT_TOKENS - memory_folding.ANSWER_TOKENS


def test_a_turn_late_in_a_long_conversation_reads_as_much_as_an_early_one(lived):
    figures, _ = memory_folding.figures(lived)
    # Of so short a conversation a tenth is one fold.
    assert figures["folding_prompt_drift"].value <= 0.1
    assert figures["folding_read_drift"].value <= 0.25


def test_what_is_lost_and_what_drifts_is_seen(lived):
    without = replace(lived, in_memory=frozenset(), recalled=frozenset())
    assert memory_folding.figures(without)[0]["folding_pinned_kept"].value == 0
    assert len(memory_folding.lost_rows(without)) == len(lived.planted)
    assert memory_folding.drift([9.0, 9.0, 1.0, 1.0, 1.0, 2.0, 2.0, 9.0], [2, 5, 7]) == 1.0
