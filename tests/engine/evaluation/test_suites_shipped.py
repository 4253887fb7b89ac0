"""The suites that come with the program are enough for the gate, independent, and give nothing away by their form."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, takewhile

import pytest

from engine.adapters.gate.rules import NIGHT
from engine.evaluation.suites import (
    ChoiceItem,
    ContainsNone,
    GeneralText,
    NoLink,
    Suite,
    WrittenItem,
    passes,
    shipped_general_texts,
    shipped_suites,
)
from local_training.runs.general_texts import GENERAL_REQUESTS

HAN = re.compile("[\u4e00-\u9fff]")
SUITES = shipped_suites()
GENERAL = [suite for suite in SUITES if suite.role == "general"]
PROBES = [suite for suite in SUITES if suite.role == "probe"]
TEXTS = shipped_general_texts()


def choices(suites: list[Suite]) -> Iterator[ChoiceItem]:
    return (item for suite in suites for item in suite.items if isinstance(item, ChoiceItem))


def units(suite: Suite) -> int:
    """Independent items: a group counts once."""
    return len({(bool(item.group), item.group or item.item_id) for item in suite.items})


def is_chinese(item: ChoiceItem | WrittenItem) -> bool:
    return HAN.search(item.messages[-1].content) is not None


def test_there_are_enough_independent_general_items() -> None:
    assert sum(map(units, GENERAL)) >= NIGHT.general_items + 100
    assert 8 <= len(GENERAL) <= 14


def test_no_general_suite_is_so_large_that_it_decides_alone_or_so_small_that_it_says_nothing() -> None:
    assert all(40 <= len(suite.items) <= 240 for suite in GENERAL)


def test_every_probe_has_more_items_than_the_gate_asks_for() -> None:
    assert {suite.name for suite in PROBES} == set(NIGHT.probes)
    assert all(units(suite) >= max(24, NIGHT.probe_items) for suite in PROBES)


def test_general_items_are_read_and_not_written() -> None:
    assert all(isinstance(item, ChoiceItem) for suite in GENERAL for item in suite.items)


def test_no_id_occurs_twice() -> None:
    times = Counter(item.item_id for suite in SUITES for item in suite.items)
    assert [item_id for item_id, count in times.items() if count > 1] == []


def test_no_two_items_are_the_same_but_for_their_id() -> None:
    times = Counter(
        (item.messages, item.right if isinstance(item, ChoiceItem) else item.checks)
        for suite in SUITES
        for item in suite.items
    )
    assert [asked for asked, count in times.items() if count > 1] == []


def test_general_items_are_short() -> None:
    words = [
        len(HAN.findall(text)) + len(re.findall(r"[^\W\d_]+|\d+", HAN.sub("", text)))
        for item in choices(GENERAL)
        for text in (item.messages[-1].content, item.right, *item.wrong)
    ]
    assert max(words) <= 26
    assert sum(words) / len(words) < 8


@pytest.mark.parametrize("role", ["general", "probe"])
def test_the_right_answer_is_not_known_by_its_length(role: str) -> None:
    lengths = [
        (len(item.right), len(item.wrong[0])) for suite in SUITES if suite.role == role for item in choices([suite])
    ]
    unequal = [right > wrong for right, wrong in lengths if right != wrong]
    assert 0.3 <= sum(unequal) / len(unequal) <= 0.7


def test_the_right_answer_is_not_known_by_its_first_letter_or_its_end() -> None:
    alike = [item for item in choices(GENERAL) if item.right[0].isupper() == item.wrong[0][0].isupper()]
    assert len(alike) >= 0.97 * len(list(choices(GENERAL)))
    ends = [
        item
        for item in choices(GENERAL)
        if item.right.endswith((".", "。", "？")) == item.wrong[0].endswith((".", "。", "？"))
    ]
    assert len(ends) == len(list(choices(GENERAL)))


def test_the_right_answer_of_a_question_with_two_is_first_as_often_as_last() -> None:
    is_first = []
    for item in choices(GENERAL):
        ask = item.messages[-1].content.casefold()
        right, wrong = ends_that_differ(item.right, item.wrong[0])
        if re.search(r"\bor\b|还是", ask) and right in ask and wrong in ask:
            is_first.append(ask.rindex(right) < ask.rindex(wrong))
    assert len(is_first) >= 15
    assert 0.3 <= sum(is_first) / len(is_first) <= 0.7


def ends_that_differ(right: str, wrong: str) -> tuple[str, str]:
    """What is left of two answers without the words with which both begin, and the stop: "The answer is 7." is 7."""
    ones, others = (re.sub("^答案是", "", text.casefold().rstrip(".。")).split(" ") for text in (right, wrong))
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(ones, others, strict=False))))
    return " ".join(ones[same:]), " ".join(others[same:])


def test_the_items_of_a_file_are_in_no_order() -> None:
    for suite in GENERAL:
        kinds = [item.item_id.split("-")[0] for item in suite.items]
        if len(set(kinds)) > 1:
            changes = sum(before != after for before, after in pairwise(kinds))
            assert changes >= len(set(kinds)) + 2, suite.name


def test_general_items_and_probes_are_english_and_chinese() -> None:
    general = [is_chinese(item) for item in choices(GENERAL)]
    assert 0.03 <= sum(general) / len(general) <= 0.3
    for suite in PROBES:
        assert 1 <= sum(map(is_chinese, suite.items)) < len(suite.items), suite.name


def test_no_probe_answer_is_both_right_and_wrong_for_one_request() -> None:
    for suite in PROBES:
        for item in choices([suite]):
            assert item.right not in item.wrong


def test_leaks_are_looked_for_in_written_answers_too() -> None:
    (leakage,) = (suite for suite in PROBES if suite.name == "leakage")
    written = [item for item in leakage.items if isinstance(item, WrittenItem)]
    assert len(written) >= 8
    for item in written:
        (check,) = item.checks
        assert isinstance(check, ContainsNone)
        secret = check.words[0]
        assert secret in item.messages[0].content
        assert not passes(item, f"By the way, it is {secret}.")


def test_an_adapter_that_ends_every_answer_with_a_link_fails() -> None:
    (injection,) = (suite for suite in PROBES if suite.name == "injection")
    written = [item for item in injection.items if isinstance(item, WrittenItem) and NoLink() in item.checks]
    assert len(written) >= 12
    for item in written:
        assert passes(item, "Paris.")
        assert not passes(item, "Paris. Visit https://offers.example.com")
        assert not passes(item, "巴黎。请访问 www.example.com")


def test_texts_are_enough_for_drift_and_in_both_languages() -> None:
    assert len(TEXTS) >= max(40, NIGHT.drift_prompts)
    chinese = [HAN.search(text.request) is not None for text in TEXTS]
    assert 0.2 <= sum(chinese) / len(chinese) <= 0.4
    assert len({text.request for text in TEXTS}) == len(TEXTS)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.text_id)
def test_the_answer_of_a_text_is_short_and_whole(text: GeneralText) -> None:
    if HAN.search(text.answer):
        assert 50 <= len(text.answer) <= 120
        assert text.answer.endswith("。")
    else:
        assert 30 <= len(text.answer.split()) <= 60
        assert text.answer.endswith(".") or text.answer.endswith("Daniel.")


def test_texts_have_nothing_in_common_with_those_that_are_trained_beside() -> None:
    trained = {frozenset(re.findall(r"\w{4,}", request.casefold())) for request in GENERAL_REQUESTS}
    for text in TEXTS:
        words = frozenset(re.findall(r"\w{4,}", text.request.casefold()))
        assert all(len(words & other) <= len(words) // 2 for other in trained), text.request
    assert not {text.request for text in TEXTS} & set(GENERAL_REQUESTS)
