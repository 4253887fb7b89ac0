"""The benchmark of the gate at its smallest, and that its simulated adapters are what they are said to be."""

import numpy as np
import pytest

from engine.adapters.gate import NIGHT, TEACH
from tests.bench import gate, report
from tests.bench.gate import NOISE, Items, Size, factory_margins, has_kept, measure, moved, points_lost, verdicts

SMALLEST = Size(cases=3, chains=1, table_cases=1)


def many(accuracy: float, generator: np.random.Generator) -> Items:
    """So many questions that chance does not show; without the results they can have."""
    return Items(("",) * 200_000, factory_margins(200_000, accuracy, generator), accuracy, ())


def test_the_report_has_every_goal_and_its_tables():
    plain = report.to_json(measure(0, SMALLEST))
    assert [goal["id"] for goal in plain["goals"]] == list(gate.GOALS)
    assert all(goal["value"] is not None for goal in plain["goals"])
    ratchet, target, general, presets = plain["tables"].values()
    assert [row["compared_with"] for row in ratchet] == [
        "champion and factory",
        "champion only",
        "champion and factory",
    ]
    assert [row["target_items"] for row in target] == [30, 60, 200]
    assert len(general) == 12
    assert [row["general_items"] for row in presets] == [NIGHT.general_items, TEACH.general_items]


@pytest.mark.parametrize("points", [0.0, -3.0, 15.0])
def test_an_adapter_is_as_much_better_as_it_is_said_to_be(points):
    generator = np.random.default_rng(0)
    items = many(0.5, generator)
    gained = np.mean(moved(items, points, NOISE, generator) > 0) - np.mean(items.factory > 0)
    assert 100 * gained == pytest.approx(points, abs=0.25)


def test_one_item_in_twenty_flips_against_the_factory_and_one_in_fourteen_between_two_adapters():
    generator = np.random.default_rng(0)
    items = many(gate.GENERAL_ACCURACY, generator)
    first, second = (moved(items, 0.0, NOISE, generator) > 0 for _ in range(2))
    assert np.mean(first != (items.factory > 0)) == pytest.approx(0.05, abs=0.003)
    assert np.mean(first != second) == pytest.approx(0.07, abs=0.003)


def test_the_same_seed_gives_the_same_verdicts():
    assert verdicts(3, 2, 5.0, TEACH) == verdicts(3, 2, 5.0, TEACH)


def test_most_equal_candidates_keep_what_there_was_and_are_not_promoted():
    equal = verdicts(0, 20, 0.0, NIGHT)
    assert sum(has_kept(verdict) for verdict in equal) >= 15
    assert sum(verdict.decision == "promote" for verdict in equal) <= 4


def test_most_candidates_that_are_15_points_better_are_promoted():
    assert sum(verdict.decision == "promote" for verdict in verdicts(1, 20, 15.0, NIGHT)) >= 14


def test_ten_nights_of_a_point_each_are_stopped_by_the_factory_and_not_by_the_champion():
    with_factory = [points_lost((0, n), NIGHT, knows_factory=True) for n in range(3)]
    without = [points_lost((0, n), NIGHT, knows_factory=False) for n in range(3)]
    assert all(lost < 3 for lost in with_factory)
    assert sum(without) > sum(with_factory)
    assert max(without) >= 3
