"""The benchmark of the router: requests apart from what is learned, counting, and the opponent of bare words."""

import json
import re
from collections import Counter, defaultdict
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pytest

from engine.routing.profile import load_profile
from local_training.routing.phrases import LANGUAGES, read_bank, read_sections
from tests.bench import report
from tests.bench.bag_of_words import TextClassifier, TfIdf, fitted, runs, slope
from tests.bench.router_requests import FIFTH, HELD_OUT, Asked, every, read_requests
from tests.bench.router_sides import PROFILE, TRAINING, Answer, FirstToken, starter_and_fifth
from tests.support.requirements import require_module

HAN = re.compile(r"[\u4e00-\u9fff]")
MOST_ALIKE = 0.75
"""Share of equal characters, in order, from which two requests count as one."""
MOST_SHARED_RUNS = 0.6
"""Share of runs of three characters that two requests have in common."""


@pytest.fixture(scope="module")
def held_out() -> tuple[Asked, ...]:
    return read_requests(HELD_OUT)


@pytest.fixture(scope="module")
def fifth() -> tuple[Asked, ...]:
    return read_requests(FIFTH)


@pytest.fixture(scope="module")
def learned() -> list[str]:
    """Every request that is trained on, and every phrase that any could be made from."""
    lines = [json.loads(line) for line in TRAINING.read_text(encoding="utf-8").splitlines()]
    requests = {line["prompt"][-1]["content"].removesuffix("\nmodel_id=") for line in lines}
    banks = [read_bank(language) for language in LANGUAGES]
    phrases = {phrase for bank in banks for some in bank.requests.values() for phrase in some}
    for expert in read_sections().invented.values():
        phrases.update(phrase for some in expert.requests.values() for phrase in some)
    return sorted(requests | {re.sub(r"\{[a-z_]+\}", "", phrase) for phrase in phrases})


def plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def triples(text: str) -> frozenset[str]:
    return frozenset(text[at : at + 3] for at in range(max(1, len(text) - 2)))


def is_alike(one: str, other: str) -> bool:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    # The first two are upper bounds that cost little.
    bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
    return all(bound() >= MOST_ALIKE for bound in bounds)


def near_copies(requests: list[str], learned: list[str]) -> list[tuple[str, str]]:
    """Requests that are nearly one of those learned, itself aside, each with the one it is nearest to."""
    known = [(text, letters, triples(letters)) for text in learned if (letters := plain(text))]
    sizes = np.array([len(its_triples) for _, _, its_triples in known])
    listed: dict[str, list[int]] = defaultdict(list)
    for place, (_, _, its_triples) in enumerate(known):
        for triple in its_triples:
            listed[triple].append(place)
    owners = {triple: np.array(places) for triple, places in listed.items()}
    found = []
    for request in requests:
        mine = plain(request)
        own = triples(mine)
        common = [owners[triple] for triple in own if triple in owners] or [np.array([], dtype=int)]
        parts = 2 * np.bincount(np.concatenate(common), minlength=len(known)) / (len(own) + sizes)
        for place in np.argsort(-parts)[:5]:
            text, letters, _ = known[place]
            if text is not request and (parts[place] >= MOST_SHARED_RUNS or is_alike(mine, letters)):
                found.append((request, text))
                break
    return found


def answer(expert: str, routed: str, best: str | None = None, language: str = "english") -> Answer:
    return Answer(Asked(f"{language}-{expert}", language, expert, "?"), routed, best or routed, 2.0)


# The requests


def test_there_are_enough_requests_with_every_expert_and_language_alike(held_out: tuple[Asked, ...]):
    assert len(held_out) >= 420
    cells = Counter((asked.language, asked.expert) for asked in held_out)
    assert set(cells) == {(language, expert) for language in LANGUAGES for expert in ("L0", "L1", "L2", "L3")}
    assert len(set(cells.values())) == 1


def test_the_fifth_expert_has_60_requests_half_of_them_in_either_language(fifth: tuple[Asked, ...]):
    assert Counter((asked.language, asked.expert) for asked in fifth) == {("english", "L4"): 30, ("chinese", "L4"): 30}


def test_no_request_and_no_id_stands_twice(held_out: tuple[Asked, ...], fifth: tuple[Asked, ...]):
    requests = (*held_out, *fifth)
    assert len({plain(asked.text) for asked in requests}) == len(requests)
    assert len({asked.request_id for asked in requests}) == len(requests)


def test_no_request_is_nearly_another_in_its_language(held_out: tuple[Asked, ...]):
    for language in LANGUAGES:
        texts = [asked.text for asked in held_out if asked.language == language]
        assert near_copies(texts, texts) == []


def test_requests_are_in_the_language_they_say_but_for_quotations(held_out: tuple[Asked, ...]):
    assert all(HAN.search(asked.text) for asked in held_out if asked.language == "chinese")
    mixed = [asked for asked in held_out if asked.language == "english" and HAN.search(asked.text)]
    assert len(mixed) <= 2


def test_requests_are_of_everyday_variety(held_out: tuple[Asked, ...]):
    for language, short, long in (("english", 40, 300), ("chinese", 12, 110)):
        lengths = [len(asked.text) for asked in held_out if asked.language == language]
        assert sum(length <= short for length in lengths) >= 10
        assert sum(length >= long for length in lengths) >= 6
    assert sum(asked.text[0].islower() for asked in held_out) >= 30
    assert sum("\n" in asked.text for asked in held_out) >= 2
    mixed = [asked for asked in held_out if asked.language == "chinese" and re.search("[A-Za-z]{3}", asked.text)]
    assert len(mixed) >= 20


def test_no_request_is_nearly_one_that_is_learned(
    held_out: tuple[Asked, ...], fifth: tuple[Asked, ...], learned: list[str]
):
    assert near_copies([asked.text for asked in (*held_out, *fifth)], learned) == []


def test_a_learned_request_with_a_slip_or_another_end_would_be_found(learned: list[str]):
    assert near_copies(["Plaese check the trafic to Ghent!"], ["check the traffic to Ghent"])
    assert near_copies(["去昆明的路上堵不堵呀"], ["去昆明路上堵不堵"])


def test_the_fifth_expert_is_added_to_the_starter_as_a_user_would(tmp_path: Path):
    profile = starter_and_fifth(tmp_path / "five")
    assert profile.expert_ids == ("L0", "L1", "L2", "L3", "L4")
    own = load_profile(PROFILE).experts
    assert [replace(expert, adapter=None) for expert in profile.experts[:4]] == [
        replace(expert, adapter=None) for expert in own
    ]
    assert [expert.adapter is None for expert in profile.experts] == [*(one.adapter is None for one in own), True]
    assert "L4 = Mathematics" in profile.texts.route
    assert profile.texts.route not in TRAINING.read_text(encoding="utf-8")


def test_few_requests_still_hold_every_expert_and_language(held_out: tuple[Asked, ...]):
    few = every(held_out, 28)
    assert len({(asked.language, asked.expert) for asked in few}) == 8
    assert len(few) == 16


# Counting


def test_an_answer_is_right_by_where_the_turn_goes_not_by_the_likeliest_label():
    answers = [answer("L1", "L0", best="L1"), answer("L2", "L2"), answer("L3", "L3"), answer("L0", "L0")]
    row = bench().accuracy_row("router", "english", answers)
    assert (row["right"], row["accuracy"], row["likeliest label"]) == (3, 0.75, 1.0)


def test_accuracy_counts_one_language_at_a_time():
    answers = [answer("L1", "L1"), answer("L1", "L0"), answer("L1", "L1", language="chinese")]
    assert bench().share_right(answers, "english").value == 0.5
    assert bench().share_right(answers, "chinese").value == 1.0


def test_the_confusion_matrix_has_a_row_for_who_was_meant():
    rows = bench().confusion([answer("L0", "L0"), answer("L0", "L3"), answer("L3", "L3")], ("L0", "L3"))
    assert rows == [{"meant": "L0", "to L0": 1, "to L3": 1}, {"meant": "L3", "to L0": 0, "to L3": 1}]


def test_only_wrong_answers_are_listed_as_mistakes():
    (row,) = bench().mistakes([answer("L0", "L0"), answer("L2", "L0", best="L2")])
    assert (row["meant"], row["routed"], row["likeliest"]) == ("L2", "L0", "L2")


def test_the_route_share_is_of_route_and_answer_together():
    assert FirstToken(0.1, 0.3).route_share == 0.25


def test_a_run_that_did_not_finish_fails_its_goals_and_says_why():
    training = bench().Trained(None, "stopped by the user", 3, 0.01, 2.0)
    rows = {"bare base": [answer("L0", "L0"), answer("L0", "L1", language="chinese")]}
    found = report.to_json(bench().make_report(rows, {}, [FirstToken(0.1, 0.9)], training))
    goals = {goal["id"]: goal for goal in found["goals"]}
    assert not goals["accuracy_en"]["met"]
    assert "stopped by the user" in goals["unseen_fifth_expert"]["reason"]
    assert goals["route_share"]["met"]


def test_a_report_of_all_routers_meets_its_goals_where_they_are_met():
    right = [answer("L0", "L0"), answer("L1", "L1", language="chinese")]
    every_router = dict.fromkeys(("router", "bare base", "TF-IDF and logistic regression"), right)
    unseen = {"router": [answer("L4", "L4")], "bare base": [answer("L4", "L0")]}
    found = report.to_json(bench().make_report(every_router, unseen, [FirstToken(0.1, 0.9)], None))
    met = {goal["id"]: goal["met"] for goal in found["goals"]}
    assert met == {
        "accuracy_en": True,
        "accuracy_zh": True,
        "unseen_fifth_expert": True,
        "route_share": True,
        "kl_general_nats": False,
    }
    assert [row["requests"] for row in found["tables"]["accuracy"]] == [
        *("english", "chinese", "fifth expert") * 2,
        *("english", "chinese"),
    ]


def test_a_quick_run_changes_the_recipe_to_two_small_steps_and_a_full_one_only_its_seed_and_threads():
    from local_training.runs.recipe import parse_recipe
    from tests.bench.router_training import RECIPE, recipe_text

    quick = parse_recipe(recipe_text(0, True, 1).encode(), "quick")
    assert (quick.steps, quick.batch.examples, quick.limits.threads) == (2, 2, 1)
    shipped = parse_recipe(RECIPE.read_bytes(), "shipped")
    full = parse_recipe(recipe_text(7, False, 0).encode(), "full")
    assert full.model_dump(exclude={"seed", "data"}) == shipped.model_dump(exclude={"seed", "data"})
    assert full.seed == 7
    assert Path(full.data).samefile(TRAINING)


def bench():
    """The benchmark itself, which loads nothing heavy until it measures."""
    require_module("psutil")
    from tests.bench import router

    return router


# The opponent


def test_runs_are_of_one_to_four_characters_and_know_the_ends_of_a_text():
    assert runs("Ab") == [" ", "a", "b", " ", " a", "ab", "b ", " ab", "ab ", " ab "]


def test_rare_runs_weigh_more_and_rows_have_length_one():
    features = TfIdf(["aa", "ab", "ac", "aa", "ac"] * 5)
    row_F = features.rows(["ab"])[0]
    places = features._places
    assert row_F[places["b"]] > row_F[places["a"]] > 0
    assert np.linalg.norm(row_F) == pytest.approx(1.0, abs=1e-6)
    assert not features.rows(["zz"])[0][places["a"]]


def test_the_fit_ends_where_the_slope_is_nothing():
    random = np.random.default_rng(0)
    rows_BF = random.normal(size=(40, 6)).astype(np.float32)
    rows_BF /= np.linalg.norm(rows_BF, axis=1, keepdims=True)
    goals_BL = np.eye(3, dtype=np.float32)[random.integers(0, 3, 40)]
    weights_FL = fitted(rows_BF, goals_BL)
    with_bias_BF = np.concatenate([rows_BF, np.ones((40, 1), dtype=np.float32)], axis=1)
    assert np.abs(slope(with_bias_BF, goals_BL, weights_FL)).max() < 1e-5
    assert np.abs(slope(with_bias_BF, goals_BL, 0 * weights_FL)).max() > 1e-2


def test_the_slope_is_that_of_the_penalised_loss():
    random = np.random.default_rng(1)
    rows_BF = random.normal(size=(8, 3)).astype(np.float64)
    goals_BL = np.eye(2)[random.integers(0, 2, 8)]
    weights_FL = random.normal(size=(3, 2))

    def loss(weights_FL):
        logits_BL = rows_BF @ weights_FL
        logprobs_BL = logits_BL - np.log(np.exp(logits_BL).sum(axis=1, keepdims=True))
        return (-(goals_BL * logprobs_BL).sum() + (weights_FL**2).sum() / 2) / len(rows_BF)

    nudge_FL = np.zeros_like(weights_FL)
    nudge_FL[1, 0] = 1e-5
    expected = (loss(weights_FL + nudge_FL) - loss(weights_FL - nudge_FL)) / 2e-5
    assert slope(rows_BF, goals_BL, weights_FL)[1, 0] == pytest.approx(expected, rel=1e-4)


def test_the_opponent_learns_what_words_can_tell_in_both_languages():
    texts = ["draw a chart", "draw a form", "draw a map", "fix my code", "fix the bug", "fix this script"] * 2
    texts += ["画个图表", "画个表单", "画张地图", "修代码", "修这个错", "修脚本"] * 2
    labels = (["L3"] * 3 + ["L2"] * 3) * 4
    assert TextClassifier(texts, labels).predict(["draw a clock", "fix the test", "画个时钟", "修一下"]) == [
        "L3",
        "L2",
        "L3",
        "L2",
    ]
