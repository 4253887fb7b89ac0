"""The catalogue on a real store: what is entered, found, promoted, taken back, kept and forgotten."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.adapters.catalogue import KEPT_CHAMPIONS, Catalogue
from engine.adapters.records import AdapterRecord, Evaluation, Source
from engine.errors import AgentError, UnknownName, UsageProblem
from engine.store import Store
from engine.store.salvage import salvage
from tests.engine.adapters.catalogued import BASE, add_all, answered_turn, named

ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "macaron.db") as opened:
        yield opened
        assert opened.integrity() == "ok"


@pytest.fixture
def catalogue(store: Store) -> Catalogue:
    return Catalogue(store.database)


def champion(catalogue: Catalogue, expert: str = "L2", base: str = BASE) -> str:
    """The note of the one that answers for an expert, or "" for the factory alone."""
    used = catalogue.answering("starter", base).get(expert)
    return used.answering.note if used and used.answering else ""


def states(catalogue: Catalogue) -> dict[str, str]:
    return {record.note: record.state for record in catalogue.page()}


# What there is


def test_an_adapter_comes_in_as_a_candidate_with_all_that_was_said_of_it(catalogue: Catalogue):
    given = named("a", parent_hash="c" * 32, recipe_hash="r", data_hash="d", kind="imported")
    stored = catalogue.add(given, [Source("t-1", "h1"), Source("t-2")])
    assert replace(stored, created_at="", number=0) == given
    assert (stored.state, stored.number, stored.created_at[:2]) == ("candidate", 1, "20")
    assert catalogue.details(stored.content_hash).sources == (Source("t-1", "h1"), Source("t-2"))


def test_what_comes_with_a_profile_is_of_the_factory_and_never_promoted_retired_or_removed(catalogue: Catalogue):
    stored = catalogue.add(named("f", kind="factory"))
    assert stored.state == "factory"
    for change in (catalogue.promote, catalogue.begin_canary, catalogue.retire):
        with pytest.raises(UsageProblem, match="came with the profile starter"):
            change(stored.content_hash)
    with pytest.raises(UsageProblem, match="came with the profile starter"):
        catalogue.remove(stored.content_hash, lambda record: None)
    assert catalogue.get(stored.content_hash) == stored


def test_the_same_weights_are_entered_once(catalogue: Catalogue):
    first = catalogue.add(named("a"), [Source("t-1")])
    assert catalogue.add(named("a", note="again"), [Source("t-2")]) == first
    assert catalogue.page() == (first,)


@pytest.mark.parametrize("change", [{"expert": "L1"}, {"profile": "tall"}, {"base_hash": "c" * 32}], ids=str)
def test_the_same_weights_for_something_else_are_refused_with_what_they_are_for(catalogue: Catalogue, change):
    catalogue.add(named("a"))
    with pytest.raises(UsageProblem, match="here already, for L2 of the profile starter") as caught:
        catalogue.add(named("a", **change))
    assert "macaron adapters remove" in caught.value.hint


@pytest.mark.parametrize(
    "change",
    [
        {"content_hash": "x"},
        {"base_hash": ""},
        {"parent_hash": "L0"},
        {"file": "../a.gguf"},
        {"file": ""},
        {"file": "a\\b"},
    ],
    ids=str,
)
def test_hashes_and_names_that_are_none_are_refused(catalogue: Catalogue, change):
    with pytest.raises(UsageProblem):
        catalogue.add(named("a", **change))
    assert catalogue.page() == ()


def test_an_adapter_is_found_by_the_beginning_of_its_hash(catalogue: Catalogue):
    one, other = (catalogue.add(named("a", content_hash=f"abcd{sign}" + sign * 27)) for sign in "0f")
    assert catalogue.get("ABCD0") == one
    assert catalogue.get("abcdf") == other
    with pytest.raises(UsageProblem, match="Several adapters begin with abcd") as caught:
        catalogue.get("abcd")
    assert "abcd00000000, abcdffffffff" in caught.value.hint


@pytest.mark.parametrize(
    ("prefix", "error"), [("beef", UnknownName), ("abc", UsageProblem), ("L2..", UsageProblem), ("", UsageProblem)]
)
def test_a_name_of_no_adapter_says_what_one_looks_like(catalogue: Catalogue, prefix: str, error: type[AgentError]):
    add_all(catalogue, "a")
    with pytest.raises(error) as caught:
        catalogue.get(prefix)
    assert "macaron adapters list" in caught.value.hint


def test_pages_follow_each_other_without_gap_or_overlap_the_newest_first(catalogue: Catalogue):
    add_all(catalogue, *"abcdefg")
    first = catalogue.page(limit=3)
    second = catalogue.page(limit=3, before=first[-1].number)
    last = catalogue.page(limit=3, before=second[-1].number)
    assert [record.note for record in (*first, *second, *last)] == list("gfedcba")


def test_a_list_can_be_of_one_expert_one_state_or_both(catalogue: Catalogue):
    add_all(catalogue, *"abc")
    add_all(catalogue, *"xy", expert="L1")
    catalogue.promote(named("a").content_hash)
    catalogue.promote(named("x").content_hash)
    assert [record.note for record in catalogue.page(expert="L1")] == ["y", "x"]
    assert [record.note for record in catalogue.page(state="champion")] == ["x", "a"]
    assert [record.note for record in catalogue.page(expert="L2", state="candidate")] == ["c", "b"]


def test_a_list_can_be_of_one_profile(catalogue: Catalogue):
    add_all(catalogue, *"ab")
    add_all(catalogue, *"xy", profile="tall")
    add_all(catalogue, "z", profile="tall", expert="L1")
    assert [record.note for record in catalogue.page(profile="tall")] == ["z", "y", "x"]
    assert [record.note for record in catalogue.page(profile="tall", expert="L2", limit=1)] == ["y"]
    assert catalogue.page(profile="nobody's") == ()


def test_the_newest_verdict_of_the_gate_is_told_of_many_at_once(catalogue: Catalogue):
    a, b, c = add_all(catalogue, *"abc")
    for record, verdict in ((a, "failed"), (b, "passed"), (a, "passed"), (b, "")):
        catalogue.add_evaluation(record.content_hash, Evaluation("general", 800, verdict=verdict))
    hashes = [record.content_hash for record in (a, b, c)]
    assert catalogue.verdicts([*hashes, "f" * 32]) == {a.content_hash: "passed", b.content_hash: "passed"}
    catalogue.add_evaluation(b.content_hash, Evaluation("held-out", 20, verdict="failed"))
    assert catalogue.verdicts(hashes)[b.content_hash] == "failed"
    assert catalogue.verdicts([]) == {}


def test_lineage_leads_to_the_oldest_known_ancestor_and_back(catalogue: Catalogue):
    (a,) = add_all(catalogue, "a", parent_hash="f" * 32)
    (b,) = add_all(catalogue, "b", parent_hash=a.content_hash)
    (c,) = add_all(catalogue, "c", parent_hash=b.content_hash)
    assert catalogue.lineage(c.content_hash) == (b, a)
    assert catalogue.details(a.content_hash).children == (b,)


def test_a_lineage_that_leads_in_a_circle_ends(catalogue: Catalogue):
    a = catalogue.add(named("a", parent_hash=named("b").content_hash))
    b = catalogue.add(named("b", parent_hash=a.content_hash))
    assert set(catalogue.lineage(b.content_hash)) == {a, b}


def test_evaluations_are_kept_with_their_figures_and_reasons_the_newest_first(catalogue: Catalogue):
    (a,) = add_all(catalogue, "a")
    first = Evaluation("held-out", 200, {"win": 0.15, "p": 0.01}, "failed", ("It agrees with everything. 太顺从。",))
    catalogue.add_evaluation(a.content_hash, first)
    catalogue.add_evaluation(a.content_hash, Evaluation("general", 800))
    general, held_out = catalogue.evaluations(a.content_hash)
    assert general.suite == "general"
    assert replace(held_out, created_at="") == first


def test_every_adapter_that_holds_a_turn_is_found_by_it(catalogue: Catalogue):
    a = catalogue.add(named("a"), [Source("t-1"), Source("t-2")])
    b = catalogue.add(named("b"), [Source("t-2")])
    catalogue.retire(a.content_hash)
    assert [record.note for record in catalogue.find_by_source("t-1")] == ["a"]
    assert [record.note for record in catalogue.find_by_source("t-2")] == ["b", "a"]
    assert catalogue.find_by_source("t-3") == ()
    assert b.state == "candidate"


# Promotion and rollback


def test_a_promotion_swaps_the_champion_and_returns_the_one_before(catalogue: Catalogue):
    a, b = add_all(catalogue, *"ab")
    assert catalogue.promote(a.content_hash).previous is None
    swap = catalogue.promote(b.content_hash, "It won by 12 points.")
    assert (swap.previous.note, swap.now.note) == ("a", "b")
    assert states(catalogue) == {"a": "retired", "b": "champion"}
    log = catalogue.details(b.content_hash).promotions
    assert [(entry.kind, entry.previous_hash, entry.reason) for entry in log] == [
        ("promote", a.content_hash, "It won by 12 points.")
    ]


def test_promoting_the_champion_again_changes_nothing(catalogue: Catalogue):
    (a,) = add_all(catalogue, "a")
    catalogue.promote(a.content_hash)
    catalogue.promote(a.content_hash)
    assert len(catalogue.details(a.content_hash).promotions) == 1
    assert champion(catalogue) == "a"


def test_experts_profiles_and_bases_have_champions_of_their_own(catalogue: Catalogue):
    slots = {"a": {}, "b": {"expert": "L1"}, "c": {"profile": "tall"}, "d": {"base_hash": "c" * 32}}
    for name, change in slots.items():
        catalogue.promote(catalogue.add(named(name, **change)).content_hash)
    assert set(states(catalogue).values()) == {"champion"}
    assert (champion(catalogue), champion(catalogue, "L1"), champion(catalogue, base="c" * 32)) == ("a", "b", "d")
    assert [record.note for record in catalogue.in_use("starter")] == ["b", "a", "d"]
    assert [record.note for record in catalogue.in_use("tall")] == ["c"]


def test_rollbacks_lead_back_one_champion_at_a_time_to_the_factory(catalogue: Catalogue):
    for record in add_all(catalogue, *"abc"):
        catalogue.promote(record.content_hash)
    seen = []
    while name := champion(catalogue):
        seen.append(name)
        catalogue.rollback(named(name).content_hash)
    assert seen == ["c", "b", "a"]
    assert set(states(catalogue).values()) == {"retired"}


def test_asking_twice_to_take_an_adapter_back_goes_back_once(catalogue: Catalogue):
    a, b, c = add_all(catalogue, *"abc")
    for record in (a, b, c):
        catalogue.promote(record.content_hash)
    assert catalogue.rollback(c.content_hash).now.note == "b"
    again = catalogue.rollback(c.content_hash)
    assert (again.previous.note, again.now.note) == ("b", "b")
    assert champion(catalogue) == "b"


def test_one_rollback_can_lead_straight_to_the_factory(catalogue: Catalogue):
    for record in add_all(catalogue, *"ab"):
        catalogue.promote(record.content_hash)
    swap = catalogue.rollback(named("b").content_hash, to_factory=True)
    assert (swap.previous.note, swap.now, champion(catalogue)) == ("b", None, "")
    catalogue.promote(named("a").content_hash)
    assert catalogue.rollback(named("a").content_hash).now is None


def test_a_rollback_passes_over_what_was_removed_or_forgotten(catalogue: Catalogue):
    a, b, c, d = add_all(catalogue, *"abcd")
    for record in (a, b, c, d):
        catalogue.promote(record.content_hash)
    catalogue.remove(b.content_hash, lambda record: None)
    catalogue.retire(c.content_hash, forgotten=True)
    assert catalogue.rollback(d.content_hash).now.note == "a"


def test_who_retires_the_champion_brings_back_the_one_before_it(catalogue: Catalogue):
    a, b = add_all(catalogue, *"ab")
    for record in (a, b):
        catalogue.promote(record.content_hash)
    assert catalogue.retire(b.content_hash, "It holds t-1.", forgotten=True).now.note == "a"
    for change in (catalogue.promote, catalogue.begin_canary):
        with pytest.raises(UsageProblem, match="something you had forgotten"):
            change(b.content_hash)
    with pytest.raises(UsageProblem, match="something you had forgotten"):
        catalogue.add(named("b"))


@pytest.mark.parametrize("change", ["promote", "begin_canary", "rollback", "retire", "evaluations"])
def test_what_is_not_here_cannot_be_changed(catalogue: Catalogue, change: str):
    with pytest.raises(UnknownName, match="There is no adapter"):
        getattr(catalogue, change)("a" * 32)


# Trials


def test_a_canary_answers_before_the_champion_until_it_is_taken_back(catalogue: Catalogue):
    a, b = add_all(catalogue, *"ab")
    catalogue.promote(a.content_hash)
    assert catalogue.begin_canary(b.content_hash).previous.note == "a"
    assert champion(catalogue) == "b"
    assert states(catalogue) == {"a": "champion", "b": "canary"}
    assert catalogue.rollback(b.content_hash).now.note == "a"
    assert states(catalogue) == {"a": "champion", "b": "retired"}
    assert catalogue.details(b.content_hash).canary.outcome == "rolled_back"


def test_a_trial_without_complaints_makes_the_canary_champion(store: Store, catalogue: Catalogue):
    a, b = add_all(catalogue, *"ab")
    catalogue.promote(a.content_hash)
    catalogue.begin_canary(b.content_hash, turns=3)
    verdicts = []
    for _ in range(3):
        catalogue.count_turn(b.content_hash, answered_turn(store))
        verdicts.append(catalogue.settle_canary(b.content_hash))
    assert verdicts == ["go_on", "go_on", "promote"]
    assert states(catalogue) == {"a": "retired", "b": "champion"}
    assert catalogue.rollback(b.content_hash).now.note == "a"


def test_a_trial_with_complaints_ends_with_the_champion_of_before(store: Store, catalogue: Catalogue):
    a, b = add_all(catalogue, *"ab")
    catalogue.promote(a.content_hash)
    for _ in range(40):
        answered_turn(store)
    catalogue.begin_canary(b.content_hash)
    for state, rating in (("answered", -1), ("failed", 0), ("answered", -1)):
        catalogue.count_turn(b.content_hash, answered_turn(store, rating=rating, state=state))
    trial = catalogue.details(b.content_hash).canary
    assert (trial.turns, trial.negative, trial.baseline_turns, trial.baseline_negative) == (3, 3, 40, 0)
    assert catalogue.settle_canary(b.content_hash) == "roll_back"
    assert champion(catalogue) == "a"
    (entry, _) = catalogue.details(b.content_hash).promotions
    assert (entry.kind, entry.reason) == ("rollback", "3 of the 3 turns of its trial were negative.")


def test_a_thumb_that_was_taken_back_is_no_complaint(store: Store, catalogue: Catalogue):
    (a,) = add_all(catalogue, "a")
    catalogue.begin_canary(a.content_hash)
    for _ in range(2):
        turn_id = answered_turn(store, rating=-1)
        catalogue.count_turn(a.content_hash, turn_id)
        store.rate(turn_id, 0)
    assert catalogue.details(a.content_hash).canary.negative == 0
    assert catalogue.settle_canary(a.content_hash) == "go_on"


def test_turns_count_once_and_only_while_the_trial_goes_on(store: Store, catalogue: Catalogue):
    (a,) = add_all(catalogue, "a")
    turn_id = answered_turn(store)
    catalogue.count_turn(a.content_hash, turn_id)
    catalogue.begin_canary(a.content_hash)
    assert catalogue.details(a.content_hash).canary.turns == 0
    for _ in range(2):
        catalogue.count_turn(a.content_hash, turn_id)
    assert catalogue.details(a.content_hash).canary.turns == 1


def test_whoever_is_promoted_during_a_trial_ends_it(catalogue: Catalogue):
    a, b, c = add_all(catalogue, *"abc")
    catalogue.begin_canary(a.content_hash)
    catalogue.begin_canary(b.content_hash)
    assert states(catalogue) == {"a": "candidate", "b": "canary", "c": "candidate"}
    catalogue.promote(c.content_hash)
    assert states(catalogue) == {"a": "candidate", "b": "candidate", "c": "champion"}
    assert catalogue.details(b.content_hash).canary.outcome == "superseded"


def test_a_champion_needs_no_trial(catalogue: Catalogue):
    (a,) = add_all(catalogue, "a")
    catalogue.promote(a.content_hash)
    with pytest.raises(UsageProblem, match="champion already"):
        catalogue.begin_canary(a.content_hash)


# What may go


def test_of_retired_champions_the_last_few_are_kept_and_the_rest_may_go(catalogue: Catalogue):
    for record in add_all(catalogue, *"abcdefgh"):
        catalogue.promote(record.content_hash)
    catalogue.add(named("waiting"))
    catalogue.add(named("factory", kind="factory"))
    catalogue.retire(catalogue.add(named("rejected")).content_hash)
    kept = list("cdefgh")[-KEPT_CHAMPIONS - 1 :]
    assert [record.note for record in catalogue.garbage()] == ["a", "b", "rejected"]
    catalogue.retire(named("d").content_hash, forgotten=True)
    # The place of the forgotten one is taken by the next older one.
    assert [record.note for record in catalogue.garbage()] == ["a", "d", "rejected"]
    assert kept[-1] == champion(catalogue)


def test_what_may_go_comes_in_pages(catalogue: Catalogue):
    for record in add_all(catalogue, *"abc"):
        catalogue.retire(record.content_hash)
    first = catalogue.garbage(2)
    assert [record.note for record in (*first, *catalogue.garbage(2, after=first[-1].number))] == ["a", "b", "c"]


def test_what_is_removed_leaves_only_its_place_in_the_log(catalogue: Catalogue, store: Store):
    a, b = (catalogue.add(named(name), [Source("t-1")]) for name in "ab")
    catalogue.add_evaluation(a.content_hash, Evaluation("general", 800))
    catalogue.begin_canary(a.content_hash)
    catalogue.count_turn(a.content_hash, answered_turn(store))
    catalogue.promote(a.content_hash)
    catalogue.promote(b.content_hash)
    deleted: list[AdapterRecord] = []
    assert catalogue.remove(a.content_hash, deleted.append)
    assert [record.file for record in deleted] == ["a.gguf"]
    assert catalogue.find_by_source("t-1") == catalogue.page() == (catalogue.get(b.content_hash),)
    assert catalogue.details(b.content_hash).promotions[0].previous_hash == a.content_hash
    assert not catalogue.remove(a.content_hash, deleted.append)


def test_what_is_in_use_is_not_removed(catalogue: Catalogue):
    a, b = add_all(catalogue, *"ab")
    catalogue.promote(a.content_hash)
    catalogue.begin_canary(b.content_hash)
    for record in (a, b):
        with pytest.raises(UsageProblem, match="in use for L2"):
            catalogue.remove(record.content_hash, pytest.fail)


def test_a_file_that_cannot_be_deleted_stays_listed(catalogue: Catalogue):
    (a,) = add_all(catalogue, "a")

    def refuse(record: AdapterRecord) -> None:
        raise AgentError("The disk is read-only.", "Mount it anew.")

    with pytest.raises(AgentError, match="read-only"):
        catalogue.remove(a.content_hash, refuse)
    assert catalogue.page() == (a,)


# The file


def test_the_catalogue_is_saved_from_a_damaged_file_with_the_rest(tmp_path: Path):
    with Store.open(tmp_path / "old.db") as store:
        catalogue = Catalogue(store.database)
        a = catalogue.add(named("a"), [Source("t-1", "h")])
        catalogue.add_evaluation(a.content_hash, Evaluation("general", 800))
        catalogue.begin_canary(a.content_hash)
        catalogue.count_turn(a.content_hash, answered_turn(store))
        catalogue.promote(a.content_hash)
        before = catalogue.details(a.content_hash)
    assert salvage(tmp_path / "old.db", tmp_path / "new.db").is_complete
    with Store.open(tmp_path / "new.db") as store:
        assert Catalogue(store.database).details(a.content_hash) == before


KILLED_WHILE_PROMOTING = """
import os, signal, sys
from pathlib import Path
from engine.adapters.catalogue import Catalogue
from engine.store import Store

def killed_at(number, path, content_hash):
    store = Store.open(path)
    left = number
    def count(statement):
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    with store.database.mending() as writer:
        writer.set_trace_callback(count)
    Catalogue(store.database).promote(content_hash)
    os._exit(0)

folder, content_hash = Path(sys.argv[1]), sys.argv[2]
for number in range(1, 100):
    child = os.fork()
    path = folder / f"{number:02}.db"
    path.write_bytes((folder / "sound.db").read_bytes())
    if child == 0:
        killed_at(number, path, content_hash)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills forked processes")
def test_a_promotion_killed_at_any_statement_leaves_the_old_champion_or_the_new_one(tmp_path: Path):
    with Store.open(tmp_path / "sound.db") as store:
        old, new = add_all(Catalogue(store.database), *"ab")
        Catalogue(store.database).promote(old.content_hash)
    arguments = [sys.executable, "-c", KILLED_WHILE_PROMOTING, str(tmp_path), new.content_hash]
    subprocess.run(arguments, cwd=ROOT, check=True)
    seen = []
    for path in sorted(tmp_path.glob("??.db")):
        with Store.open(path) as store:
            assert store.integrity() == "ok"
            catalogue = Catalogue(store.database)
            seen.append(champion(catalogue))
            log = catalogue.details(new.content_hash).promotions
            assert states(catalogue) == (
                {"a": "retired", "b": "champion"} if seen[-1] == "b" else {"a": "champion", "b": "candidate"}
            )
            assert len(log) == (seen[-1] == "b")
    assert set(seen) == {"a", "b"}
    assert seen == sorted(seen)
