"""The benchmark of the catalogue at its smallest: its goals, and that its rows are ones the catalogue can work with.

With it, that an engine through which adapters pass by the dozen keeps no more of them than it has room for.
"""

import random
from pathlib import Path

import pytest

from engine.adapters.catalogue import Catalogue
from engine.store import Store
from tests.bench import report
from tests.bench.catalogue import BASE, EXPERTS, Size, fill, measure
from tests.bench.hot_loading import ROOM, SETTLED_AFTER, hot_load

SMALLEST = Size(60, 8, 40)


@pytest.mark.model
def test_the_report_has_every_goal_and_a_time_for_everything_that_is_done(tiny_moe: Path):
    plain = report.to_json(measure(SMALLEST, 0, tiny_moe))
    goals = {goal["id"]: goal for goal in plain["goals"]}
    assert list(goals) == [
        "list_page_ms",
        "lookup_ms",
        "promotion_ms",
        "adapters_200_rss_growth_mb",
        "hot_load_ms",
    ]
    assert all(goals[name]["value"] > 0 and goals[name]["runs"] == 8 for name in list(goals)[:3])
    assert goals["hot_load_ms"]["runs"] == SMALLEST.files - SETTLED_AFTER
    times = {row["what"]: row for row in plain["tables"]["times"]}
    assert times["promotion"]["median_ms"] == plain["goals"][2]["value"]
    assert times["rollback"]["runs"] <= len(EXPERTS)
    assert plain["machine"]["rows"] == 60
    (loading,) = plain["tables"]["hot loading"]
    assert (loading["files"], loading["room_for"], loading["changed_on_return"]) == (40, ROOM, 0)


@pytest.mark.model
def test_forty_adapters_pass_through_the_engine_without_any_staying_behind_or_changing(tiny_moe: Path):
    loading = hot_load(tiny_moe, 40, seed=1, rank=32, kinds=None)
    assert loading.changed == 0
    assert loading.growth_mb < loading.leaked_mb / 2, loading


def test_its_rows_are_whole_adapters_with_lineage_sources_and_evaluations(tmp_path: Path):
    hashes = fill(tmp_path / "macaron.db", 60, random.Random(1))
    with Store.open(tmp_path / "macaron.db") as store:
        assert store.integrity() == "ok"
        catalogue = Catalogue(store.database)
        last = catalogue.details(hashes[-1])
        assert (last.record.state, last.record.number) == ("retired", 60)
        assert [one.content_hash for one in last.ancestors[:2]] == [hashes[-5], hashes[-9]]
        assert len(last.sources) == 3 and last.evaluations[0].items == 800
        assert len(catalogue.page(expert="L1", limit=100)) == 15
        catalogue.promote(hashes[0])
        assert catalogue.answering("starter", BASE)["L1"].champion.content_hash == hashes[0]
