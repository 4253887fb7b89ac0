"""What a face says of a verdict."""

from dataclasses import replace

import pytest

from engine.adapters.gate import judge
from engine.adapters.gate_texts import SENTENCES
from tests.engine.adapters.gate.cases import CANDIDATE, GOOD, answering, share
from ui.strings import TEXTS
from ui.verdicts import finding_line, verdict_lines

LOST = judge(replace(GOOD, candidate=answering(CANDIDATE, "facts", share(780, 1200))))


def test_the_english_of_a_face_is_that_of_the_engine():
    assert [finding_line(finding, "en") for finding in LOST.findings] == [finding.text for finding in LOST.findings]


def test_every_sentence_of_the_gate_can_be_said_in_chinese():
    assert {f"verdict.{code}" for code in SENTENCES} <= TEXTS.keys()
    line = next(finding_line(finding, "zh") for finding in LOST.reasons)
    assert line == "与现任适配器相比，1200 道通用题 -5.0 个百分点（60 道变错，0 道变对）；最多允许损失 2.5。"


def test_a_rejection_names_every_reason():
    first, *reasons = verdict_lines(LOST, "en")
    assert first == "The candidate is rejected."
    assert reasons == [finding.text for finding in LOST.reasons]
    assert len(reasons) == 2


def test_a_promotion_says_what_was_won_and_kept():
    first, *kept = verdict_lines(judge(GOOD), "zh")
    assert first.startswith("候选适配器可以晋升")
    assert kept[0].startswith("它学会了训练目标")
    assert len(kept) == 4


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_open_verdict_says_what_is_missing(language):
    lines = verdict_lines(judge(replace(GOOD, parity=None)), language)
    assert lines == [
        TEXTS["verdict.not_enough_evidence"]._asdict()[language],
        TEXTS["verdict.parity.missing"]._asdict()[language],
    ]
