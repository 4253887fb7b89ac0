"""Whatever the gate finds, it has a sentence for."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from engine.adapters.gate import NIGHT, TEACH, Finding, ItemResult, judge
from engine.adapters.gate_texts import SENTENCES, fill
from tests.engine.adapters.gate.cases import CANDIDATE, CHAMPION, GOOD, answering, share, with_items, without_suite

GATE = Path(__file__).parents[4] / "engine" / "adapters" / "gate"
CODE = re.compile(r"(integrity|pair|target|general|suite|probe|drift|parity)\.[a-z_.]+")
JOINED = {f"integrity.{fact}" for fact in ("finite", "hash", "base", "loads")} | {
    f"{what}.{where}" for what in ("drift.kl", "drift.nats", "drift.length", "parity") for where in ("within", "beyond")
}
"""Codes that the gate puts together."""


def codes_in_source() -> set[str]:
    texts = {
        node.value
        for path in GATE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {text for text in texts if CODE.fullmatch(text)}


def test_every_code_has_a_sentence_and_every_sentence_a_code():
    codes = {code for code in codes_in_source() | JOINED if code != "drift.kl"}
    assert codes == {code for code in SENTENCES if not code.startswith("name.")}


@pytest.mark.parametrize("rules", [NIGHT, TEACH], ids=["night", "teach"])
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(GOOD, id="good"),
        pytest.param(replace(GOOD, candidate=answering(CANDIDATE, "wish", share(61, 200))), id="unclear"),
        pytest.param(replace(GOOD, candidate=answering(CANDIDATE, "facts", share(500, 1200))), id="lost"),
        pytest.param(replace(GOOD, candidate=answering(CANDIDATE, "refusal", share(3, 20))), id="probe"),
        pytest.param(replace(GOOD, candidate=without_suite(CANDIDATE, "refusal")), id="missing"),
        pytest.param(replace(GOOD, drift=None, parity=None), id="unmeasured"),
    ],
)
def test_every_finding_reads_as_a_sentence(case, rules):
    for finding in judge(case, rules).findings:
        assert re.fullmatch(r"[A-Z\[a-z].*\.", finding.text), finding
        assert "{" not in finding.text and "nan" not in finding.text


def test_names_are_said_and_unknown_ones_kept():
    champion = Finding("probe", "open", "probe.unjudged", {"probe": "leakage"})
    assert champion.text == "No secret told: some tries were not judged, so the probe says nothing."
    assert Finding("probe", "open", "probe.unjudged", {"probe": "own"}).text.startswith("own: ")


def test_a_name_that_looks_like_a_placeholder_is_shown_as_it_is():
    case = replace(
        GOOD,
        champion=with_items(CHAMPION, "wish", lambda items: [replace(items[0], item_id="{0.__class__}"), *items[1:]]),
    )
    assert judge(case).decision == "not_enough_evidence"
    curly = Finding("suite", "open", "pair.missing", {"suite": "{suite.__class__}", "against": "factory"})
    assert curly.text == "The suite {suite.__class__} was not run with the candidate."


def test_a_code_without_a_sentence_is_refused():
    with pytest.raises(ValueError, match=r"no sentence 'target\.nothing'"):
        fill("target.nothing", {}, SENTENCES.get)


def test_items_are_values_that_can_be_kept_and_compared():
    assert ItemResult("a", True) == ItemResult("a", True)
    assert len({ItemResult("a", True), ItemResult("a", True), ItemResult("a", False)}) == 2
