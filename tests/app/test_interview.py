"""`macaron memory interview`, for people, for scripts, and with a host."""

from pathlib import Path

from app.host.starting import ensure_host
from app.interview.opening import open_interview
from app.opening import open_store
from app.paths import Paths
from engine.store.memories import MemoryStore
from tests.app.running import macaron
from tests.support.hosting import end_host


def kept_in(home: Path) -> list[str]:
    with open_store(Paths(home)) as store:
        return [memory.text for memory in reversed(MemoryStore(store.database, store.mender).page())]


def test_answers_come_from_standard_input_one_a_line(home: Path):
    done = macaron("memory", "interview", given=b"Lars\n\nBergen, metric\n")
    assert done.code == 0 and "2 things" in done.out
    assert kept_in(home) == ["What to call me: Lars", "Where I am, my units and time zone: Bergen, metric"]


def test_a_script_gives_answers_by_topic(home: Path):
    done = macaron("memory", "interview", "--answer", "name=小林", "--answer", "avoid=emoji", "--json")
    assert [memory["trust"] for memory in done.json["memories"]] == ["confirmed", "confirmed"]
    assert macaron("memory", "interview", "--answer", "shoes=44").code != 0
    assert len(kept_in(home)) == 2


def test_where_a_host_runs_it_keeps_them_and_how_the_interview_stands(home: Path):
    paths = Paths(home)
    ensure_host(paths)
    with open_interview(paths) as shelf:
        assert shelf.interview_state() == "new"
        shelf.settle_interview("offered")
        (memory,) = shelf.answer_interview({"name": "Lars"}, "en")
        assert (memory.text, memory.source) == ("What to call me: Lars", "interview")
        assert shelf.interview_state() == "done"
    end_host(home)
    with open_interview(paths) as shelf:
        assert shelf.interview_state() == "done"
    assert kept_in(home) == ["What to call me: Lars"]
