"""The rules by which a turn gets its expert, in their order."""

import math

import pytest

from engine.assets import asset_path
from engine.errors import BadText, UnknownName
from engine.harness.formats import ChatFormat, Trusted, Untrusted
from engine.routing.profile import load_profile
from engine.routing.router import choose, clip_request, is_surface, label_texts, needs_scores, parse_pin, route_parts

EXPERTS = ("L0", "L1", "L2", "L3")
CLEAR = {"L0": -3.0, "L1": -0.1, "L2": -4.0, "L3": -5.0}
TIED = {"L0": -3.0, "L1": -1.0, "L2": -1.4, "L3": -1.5}


@pytest.mark.parametrize(
    ("text", "expert", "rest"),
    [
        pytest.param("@L2 fix it", "L2", "fix it", id="pinned"),
        pytest.param("@l2 fix it", "L2", "fix it", id="lower-case"),
        pytest.param("  @L2   fix it", "L2", "fix it", id="spaces"),
        pytest.param("@L2\n    def f():", "L2", "    def f():", id="indented-code-below"),
        pytest.param("@L2 修一下", "L2", "修一下", id="chinese"),
        pytest.param("@L2修一下", "L2", "修一下", id="chinese-without-space"),
        pytest.param("@Lisa hi", None, "@Lisa hi", id="a-name"),
        pytest.param("@L2x hi", None, "@L2x hi", id="a-longer-word"),
        pytest.param("@L2.com hi", None, "@L2.com hi", id="a-host"),
        pytest.param("user@l2.com", None, "user@l2.com", id="an-address"),
        pytest.param("hi @L2 there", None, "hi @L2 there", id="not-at-the-start"),
        pytest.param("L2 hi", None, "L2 hi", id="no-at-sign"),
        pytest.param("", None, "", id="empty"),
    ],
)
def test_a_leading_label_pins_and_is_taken_off(text, expert, rest):
    assert parse_pin(text, EXPERTS) == (expert, rest)


def test_a_pin_to_no_expert_is_answered_with_those_there_are():
    with pytest.raises(UnknownName) as caught:
        parse_pin("@L9 hi", EXPERTS)
    assert "L9" in caught.value.problem
    assert "L0, L1, L2, L3" in caught.value.hint


@pytest.mark.parametrize("text", ["@L2", "@L2  ", "@l2\n\n"])
def test_a_pin_with_nothing_to_say_is_refused(text):
    with pytest.raises(BadText, match="Nothing is said to L2"):
        parse_pin(text, EXPERTS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"userAction": {"name": "book"}}', True, id="v0.8"),
        pytest.param(' {"version": "v0.9", "action": {"surfaceId": "s", "name": "book"}}', True, id="v0.9"),
        pytest.param('{"a2ui": 1}', True, id="a2ui"),
        pytest.param('```json\n{"userAction": {}}\n```\nThe user clicked.', True, id="fenced-with-words-after"),
        pytest.param('```JSON\n\n{"a2ui": 1}\n```', True, id="fence-in-capitals"),
        pytest.param('Look:\n```json\n{"userAction": {}}\n```', False, id="words-before"),
        pytest.param('{"action": {"name": "book"}}', False, id="action-without-surface"),
        pytest.param('{"action": "surfaceId"}', False, id="action-is-text"),
        pytest.param('{"data": {"userAction": {}}}', False, id="not-at-the-top"),
        pytest.param('[{"userAction": {}}]', False, id="a-list"),
        pytest.param('{"userAction": ', False, id="broken"),
        pytest.param('{"a":' * 100_000, False, id="very-deep"),
        pytest.param('```python\n{"userAction": {}}\n```', False, id="another-fence"),
        pytest.param("Explain userAction in A2UI", False, id="words-about-it"),
        pytest.param("", False, id="empty"),
    ],
)
def test_a_surface_action_is_recognised_by_its_wrapper(text, expected):
    assert is_surface(text) is expected


RULES = [
    pytest.param({"pinned": "L0", "follow_up": "L2", "surface": True}, "L0", "pinned", id="1-pinned"),
    pytest.param({"follow_up": "L2", "surface": True}, "L2", "follow_up", id="2-follow-up"),
    pytest.param({"surface": True}, "L3", "surface", id="3-surface"),
    pytest.param({"surface": True, "experts": ("L0", "L1")}, "L1", "best", id="3-surface-needs-l3"),
    pytest.param({"follow_up": "L7"}, "L1", "best", id="2-follow-up-of-an-expert-that-is-gone"),
    pytest.param({"experts": ("L1",), "scores": None}, "L1", "only_expert", id="4-only-expert"),
    pytest.param({"current": "L0"}, "L1", "best", id="5-best-despite-current"),
    pytest.param({"scores": TIED, "current": "L3"}, "L3", "current", id="6-current-among-the-tied"),
    pytest.param({"scores": TIED, "current": "L0"}, "L2", "default", id="7-current-is-not-tied"),
    pytest.param({"scores": TIED}, "L2", "default", id="7-no-current"),
    pytest.param({"scores": TIED, "default": "L0"}, "L0", "default", id="7-default-need-not-be-tied"),
    pytest.param({"scores": None}, "L2", "default", id="7-without-scores"),
    pytest.param({"scores": None, "current": "L0"}, "L0", "current", id="6-without-scores-all-are-tied"),
]


@pytest.mark.parametrize(("change", "expert", "reason"), RULES)
def test_the_first_rule_that_applies_decides(change, expert, reason):
    values = {"scores": CLEAR, "experts": EXPERTS, "default": "L2", "margin_nats": 1.0} | change
    route = choose(**values)
    assert (route.expert, route.reason) == (expert, reason)


@pytest.mark.parametrize(
    ("scores", "margin_nats", "reason"),
    [
        pytest.param({"L0": -1.0, "L1": -2.0}, 1.0, "best", id="lead-equals-margin"),
        pytest.param({"L0": -1.0, "L1": -1.5}, 1.0, "default", id="lead-below-margin"),
        pytest.param({"L0": -1.0, "L1": -1.0}, 0.0, "best", id="no-margin-asked"),
        pytest.param({"L0": -1.0, "L1": -math.inf}, 1.0, "best", id="impossible-second"),
        pytest.param({"L0": -1.0, "L9": -0.9}, 1.0, "best", id="labels-of-no-expert-do-not-count"),
    ],
)
def test_the_best_label_needs_the_margin_over_the_second(scores, margin_nats, reason):
    route = choose(scores=scores, experts=EXPERTS, default="L0", margin_nats=margin_nats)
    assert (route.expert, route.reason) == ("L0", reason)


def test_a_route_keeps_the_scores_it_was_chosen_by():
    asked = choose(scores=CLEAR, experts=EXPERTS, default="L0", margin_nats=1.0)
    pinned = choose(scores=None, experts=EXPERTS, default="L0", margin_nats=1.0, pinned="L2")
    assert (asked.scores, pinned.scores) == (CLEAR, {})


def test_pinning_an_unknown_expert_is_refused():
    with pytest.raises(UnknownName):
        choose(scores=CLEAR, experts=EXPERTS, default="L0", margin_nats=1.0, pinned="L9")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({}, True, id="plain"),
        pytest.param({"pinned": "L1"}, False, id="pinned"),
        pytest.param({"follow_up": "L1"}, False, id="follow-up"),
        pytest.param({"follow_up": "L7"}, True, id="follow-up-of-an-expert-that-is-gone"),
        pytest.param({"surface": True}, False, id="surface"),
        pytest.param({"surface": True, "experts": ("L0", "L1")}, True, id="surface-without-l3"),
        pytest.param({"experts": ("L0",)}, False, id="only-expert"),
    ],
)
def test_the_router_is_asked_only_where_no_rule_decides(change, expected):
    assert needs_scores(**{"experts": EXPERTS} | change) is expected


@pytest.mark.parametrize(
    ("count", "kept"),
    [
        pytest.param(5, (0, 1, 2, 3, 4), id="short"),
        pytest.param(6, (0, 1, 2, 3, 4, 5), id="just-fits"),
        pytest.param(10, (0, 1, 2, 7, 8, 9), id="long"),
    ],
)
def test_a_long_request_keeps_its_head_and_its_tail(count, kept):
    assert clip_request(tuple(range(count)), 6) == kept


def test_an_odd_budget_favours_the_head():
    assert clip_request(tuple(range(9)), 3) == (0, 1, 8)


def test_labels_are_the_experts_in_order():
    assert label_texts(("L0", "L10")) == ("L0", "L10")


def test_the_starter_reads_the_route_text_once_as_system_text():
    profile = load_profile(asset_path("profiles", "starter"))
    assert route_parts(profile, ChatFormat("chatml"), " 法国的首都？\n") == (
        Trusted("<|im_start|>system\n"),
        Untrusted(profile.texts.route),
        Trusted("<|im_end|>\n"),
        Trusted("<|im_start|>user\n"),
        Untrusted("法国的首都？\nmodel_id="),
        Trusted("<|im_end|>\n"),
        Trusted("<|im_start|>assistant\n"),
    )


def test_tall_reads_the_route_text_after_the_request_and_begins_the_answer():
    profile = load_profile(asset_path("profiles", "tall"))
    assert route_parts(profile, ChatFormat("qwen35"), "Hi") == (
        Trusted("<|im_start|>user\n"),
        Untrusted(f"Hi\n\n{profile.texts.route}"),
        Trusted("<|im_end|>\n"),
        Trusted("<|im_start|>assistant\n<think>\n\n</think>\n\n"),
        Trusted("model_id="),
    )


def test_a_router_prompt_begins_with_what_the_family_wants_first():
    profile = load_profile(asset_path("profiles", "tall"))
    assert route_parts(profile, ChatFormat("llama3"), "Hi")[0] == Trusted("<|begin_of_text|>")
