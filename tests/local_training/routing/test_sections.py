"""What the router is shown: the starter as it is, with experts added, or others under shuffled labels."""

import random
import re
from collections import Counter

import pytest

from engine.assets import asset_path
from engine.routing.profile import Profile, load_profile
from local_training.routing.phrases import read_sections
from local_training.routing.sections import PURPOSES, Showing, show

SECTIONS = read_sections()
SHOWINGS = 1500


@pytest.fixture(scope="module")
def profile() -> Profile:
    return load_profile(asset_path("profiles", "starter"))


@pytest.fixture(scope="module")
def showings(profile: Profile) -> list[Showing]:
    return [show(profile, SECTIONS, random.Random(seed)) for seed in range(SHOWINGS)]


def of_kind(showings: list[Showing], kind: str) -> list[Showing]:
    return [showing for showing in showings if showing.kind == kind]


def test_the_starters_own_experts_are_shown_in_the_very_text_that_serving_shows(
    profile: Profile, showings: list[Showing]
):
    own = of_kind(showings, "own")
    assert len(own) > SHOWINGS * 0.35
    assert {showing.route for showing in own} == {profile.texts.route}
    assert all(PURPOSES[showing.label] == showing.asked for showing in own)


def test_added_experts_stand_after_the_starters_own_which_stay_as_they_are(profile: Profile, showings: list[Showing]):
    for showing in of_kind(showings, "added"):
        assert dict(showing.experts[:4]) == PURPOSES
        labels = [label for label, _ in showing.experts]
        assert labels in (["L0", "L1", "L2", "L3", "L4"], ["L0", "L1", "L2", "L3", "L4", "L5"])
        assert all(f"{expert.expert} = {expert.description}\n" in showing.route for expert in profile.experts)


def test_added_experts_are_asked_about_as_often_as_the_starters_own(showings: list[Showing]):
    added = of_kind(showings, "added")
    asked = sum(showing.asked in SECTIONS.invented for showing in added)
    assert 0.4 < asked / len(added) < 0.6


def test_shuffled_experts_are_three_to_six_under_ascending_labels(showings: list[Showing]):
    shuffled = of_kind(showings, "shuffled")
    assert {len(showing.experts) for showing in shuffled} == {3, 4, 5, 6}
    for showing in shuffled:
        numbers = [int(label[1:]) for label, _ in showing.experts]
        assert numbers == sorted(set(numbers))
        assert len({purpose for _, purpose in showing.experts}) == len(showing.experts)


def test_under_shuffled_labels_no_label_says_who_is_meant(showings: list[Showing]):
    shuffled = of_kind(showings, "shuffled")
    for purpose in PURPOSES.values():
        labels = Counter(showing.label for showing in shuffled if showing.asked == purpose)
        assert labels.most_common(1)[0][1] < 0.45 * labels.total(), purpose


def test_every_showing_lists_each_of_its_labels_with_one_description_and_the_asked_one_among_them(
    showings: list[Showing],
):
    for showing in showings:
        described = re.findall(r"^(L\d) = \S", showing.route, re.MULTILINE)
        assert described == [label for label, _ in showing.experts]
        assert " ".join(described) in showing.route
        assert showing.label in described
        assert "{{" not in showing.route


def test_descriptions_and_route_texts_come_in_other_words_too(profile: Profile, showings: list[Showing]):
    shuffled = of_kind(showings, "shuffled")
    first_lines = {showing.route.splitlines()[0].split(":")[0] for showing in shuffled}
    assert len(first_lines) > len(SECTIONS.routes)
    chat = {
        line.partition(" = ")[2]
        for showing in shuffled
        for line in showing.route.splitlines()
        if dict(showing.experts).get(line.partition(" = ")[0]) == "chat"
    }
    assert chat == {profile.expert("L0").description, *SECTIONS.own["chat"]}
