"""What is said of forgetting: every place and every copy by its name, and what follows for whom."""

from dataclasses import replace
from typing import get_args

import pytest

from engine.forgetting import Forgotten, Place, PlaceKind, Remaining, RemainingKind, Retired
from ui.forgetting import forgotten_lines, preview_lines
from ui.strings import LANGUAGES

RETIRED = Retired("a" * 32, "starter", "L0", True, 9)
EVERYTHING = Forgotten(
    tuple(Place(kind, 1200) for kind in get_args(PlaceKind)),
    (RETIRED, Retired("b" * 32, "starter", "L1", False)),
    (Place("notes", 1),),
    tuple(Remaining(kind, "/x", "2026-11-30T12:00:00+00:00", "rm /x") for kind in get_args(RemainingKind)),
    is_done=True,
    is_scrubbed=True,
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_place_and_every_copy_has_a_name(language: str):
    lines = list(forgotten_lines(EVERYTHING, language))
    assert sum("1,200" in line for line in lines) == len(get_args(PlaceKind))
    assert sum("rm /x" in line for line in lines) == len(get_args(RemainingKind))


def test_an_expert_can_be_taught_anew_from_enough_that_is_left():
    told = "\n".join(forgotten_lines(EVERYTHING, "en"))
    assert "9 corrections are left for L0; to teach it anew from these: macaron teach --expert L0" in told
    few = replace(EVERYTHING, adapters=(replace(RETIRED, corrections=7),))
    assert "7 corrections are left for L0; with 8" in "\n".join(forgotten_lines(few, "en"))


def test_a_log_that_could_not_be_emptied_is_not_passed_over():
    assert not any("log still holds it" in line for line in forgotten_lines(EVERYTHING, "en"))
    assert any("log still holds it" in line for line in forgotten_lines(replace(EVERYTHING, is_scrubbed=False), "en"))


def test_nothing_is_said_to_go_where_nothing_is_there():
    assert list(preview_lines(Forgotten(), "en")) == ["Nothing of it is here any more."]
    assert next(forgotten_lines(Forgotten(is_done=True, is_scrubbed=True), "en")) == "Nothing of it is here any more."


def test_a_preview_says_what_would_go_and_what_stays():
    told = list(preview_lines(EVERYTHING, "en"))
    assert told[0].startswith("This will go")
    assert "  notes: 1" in told and any("--everywhere" in line for line in told)
