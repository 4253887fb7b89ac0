"""The benchmark of the catalogue at its smallest: its goals, and that its rows are ones the catalogue can work with."""

import random
from pathlib import Path

from engine.adapters.catalogue import Catalogue
from engine.store import Store
from tests.bench import report
from tests.bench.catalogue import BASE, EXPERTS, Size, fill, measure

SMALLEST = Size(60, 8)


def test_the_report_has_every_goal_and_a_time_for_everything_that_is_done():
    plain = report.to_json(measure(SMALLEST, seed=0))
    assert [goal["id"] for goal in plain["goals"]] == ["list_page_ms", "lookup_ms", "promotion_ms"]
    assert all(goal["value"] > 0 and goal["runs"] == 8 for goal in plain["goals"])
    times = {row["what"]: row for row in plain["tables"]["times"]}
    assert times["promotion"]["median_ms"] == plain["goals"][2]["value"]
    assert times["rollback"]["runs"] <= len(EXPERTS)
    assert plain["machine"]["rows"] == 60


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
