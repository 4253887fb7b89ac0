"""Memories in words: lines, facts, passages, the report, and what can be done to one."""

from dataclasses import replace

import pytest

from engine.errors import UsageProblem
from engine.memory.hygiene import Finding, HygieneReport
from engine.memory.values import Memory, MemoryDetails, Standing
from ui.memory_changes import check_possible, done_text, is_asked, possible_changes, question
from ui.memory_lines import MESSAGE_CHARACTERS, facts, memory_line, passages, report_lines

PLAN = Memory(
    memory_id=7,
    text="See the dentist",
    kind="plan",
    evidence="I will see the dentist.",
    turn_id="t-1",
    conversation_id="c-1",
    trust="typed",
    r0=0.7,
    validation=0.8,
    slot="",
    due_on="2026-12-24",
    state="active",
    supersedes=(3,),
    created_at="2026-11-30T12:00:00+00:00",
    used_at=None,
    validated_at=None,
)
WAITING = replace(PLAN, state="pending", trust="tainted", turn_id=None, conversation_id=None, source="imported")


def details(memory=PLAN, said="", history=()):
    return MemoryDetails(memory, 0.5, history, said, "2026-11-30T12:00:00+00:00")


def test_a_line_tells_day_kind_and_text_and_whether_it_waits():
    assert memory_line(PLAN, "en") == "2026-11-30 · plan · See the dentist (on 2026-12-24)"
    assert memory_line(WAITING, "zh") == "2026-11-30 · 计划 · 等你查看 · See the dentist（2026-12-24）"


def test_facts_leave_out_what_is_not_known():
    known = dict(facts(details(), "en"))
    assert (known["weight"], known["last recalled"], known["turn"]) == ("0.50 of 1", "never", "t-1")
    imported = dict(facts(details(WAITING), "en"))
    assert "turn" not in imported and imported["comes from"] == "a file"


def test_passages_show_the_message_only_where_it_says_more_than_the_evidence():
    assert [heading for heading, _ in passages(details(said=PLAN.evidence), "en")] == ["your words"]
    long = f"Hello. {PLAN.evidence} " + "x" * MESSAGE_CHARACTERS
    (_, (heading, text), (before, history)) = passages(details(said=long, history=(PLAN,)), "en")
    assert (heading, before) == ("in the message", "before it")
    assert text.endswith("…") and len(text) == MESSAGE_CHARACTERS + 1 and "See the dentist" in history


def test_what_others_wrote_moves_no_cursor():
    evil = replace(PLAN, text="\x1b[2Jevil", evidence="\x1b]0;x\x07evil")
    everything = [memory_line(evil, "en"), *(text for _, text in passages(details(evil), "en")), question(evil, "en")]
    assert all("evil" in text and "\x1b" not in text for text in everything)


def test_a_report_tells_each_finding_once_and_names_some_of_many():
    findings = (Finding("waiting", 20, tuple(range(20))), Finding("past", 0, ()))
    report = HygieneReport({"fact": 1, "plan": 3}, {"typed": 4}, findings, "2026-11-02T00:00:00")
    lines = list(report_lines(report, Standing(4, 20, 1, None), "en"))
    assert lines[:3] == [
        "4 known, 20 waiting, 1 replaced and kept as history",
        "by kind: plan 3, fact 1",
        "by trust: you typed it 4",
    ]
    assert lines[3].startswith("waiting: 20.") and "2026-11-02" in lines[3]
    assert lines[4].endswith("11 …") and len(lines) == 5


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_finding_and_state_has_words(language):
    findings = tuple(
        Finding(name, 1, (1,)) for name in ("waiting", "contradicting", "repeated", "past", "faded", "unused")
    )
    report = HygieneReport({}, {}, findings, None)
    assert len(list(report_lines(report, Standing(1, 1, 0, "2026-11-30"), language))) == 2 + 2 * 6
    for state in ("active", "pending", "superseded", "forgotten"):
        for change in ("approve", "edit", "forget"):
            assert done_text(change, replace(PLAN, state=state), language)


@pytest.mark.parametrize(
    ("state", "possible"),
    [
        ("active", ("edit", "forget")),
        ("pending", ("approve", "edit", "forget")),
        ("superseded", ("forget",)),
        ("forgotten", ()),
    ],
)
def test_what_can_be_done_depends_on_its_state(state, possible):
    memory = replace(PLAN, state=state)
    assert possible_changes(memory) == possible
    for change in ("approve", "edit", "forget"):
        if change in possible:
            check_possible(change, memory, "en")
        else:
            with pytest.raises(UsageProblem, match="state is"):
                check_possible(change, memory, "en")


def test_only_what_was_believed_is_asked_about_before_it_is_forgotten():
    assert is_asked("forget", PLAN) and not is_asked("forget", WAITING) and not is_asked("edit", PLAN)
