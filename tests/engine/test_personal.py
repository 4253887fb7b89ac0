"""Personal adapters at a turn: looked up each time, stacked on the expert, left out where they cannot be used."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterRecord
from engine.adapters.serving import CatalogueAdapters
from engine.agent import Agent
from engine.completing import Asked, Message, complete
from engine.errors import BadModelFile, OutOfMemory, RuntimeFailed, StoreProblem
from engine.mixture import Mixture
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import NEVER, AdapterStack
from tests.engine.adapters.catalogued import BASE, named
from tests.support.scripted_runtime import model_info
from tests.support.talking import Talk, make_profile, open_talk, stack_of

ALIKE = {"L0": "I do it all.", "L1": "I do it all."}
LONG = "A sentence that is longer than any summary. " * 2


class Grown:
    """A conversation whose agent takes its personal adapters from a real catalogue and real files."""

    def __init__(self, talk: Talk, folder: Path, stacks: dict[str, AdapterStack] | None = None) -> None:
        self.talk, self.folder = talk, folder
        self.catalogue = Catalogue(talk.store.database)
        folder.mkdir()
        stacks = stacks or {expert: stack_of(expert) for expert in talk.profile.expert_ids}
        self.personal = CatalogueAdapters(self.catalogue, folder, "test", BASE)
        mixture = Mixture(talk.profile, talk.harness, model_info(BASE), stacks)
        talk.agent = Agent(talk.runtime, talk.store, mixture, personal=self.personal)

    def put(self, name: str, expert: str = "L1", **changes: Any) -> AdapterRecord:
        file = self.folder / f"{name}.gguf"
        file.write_text(name, encoding="utf-8")
        record = named(name, content_hash=adapter_ref(file).content_hash, expert=expert, profile="test", **changes)
        return self.catalogue.add(record)

    def promote(self, name: str, expert: str = "L1") -> AdapterRecord:
        record = self.put(name, expert)
        self.catalogue.promote(record.content_hash)
        return record

    def stacked(self) -> list[str]:
        """Under which files the last request was answered."""
        return [Path(adapter.path).name for adapter in self.talk.runtime.requests[-1].adapters]


@pytest.fixture
def grown(talk: Talk, tmp_path: Path) -> Grown:
    return Grown(talk, tmp_path / "adapters")


# Which adapters answer


def test_a_promoted_adapter_is_stacked_on_its_expert_from_the_next_turn_on(grown: Grown):
    grown.talk.say("One.", "L1")
    assert grown.stacked() == ["L1.gguf"]
    record = grown.promote("mine")
    closed = grown.talk.say("Two.", "L1")
    assert grown.stacked() == ["L1.gguf", "mine.gguf"]
    assert [adapter.content_hash for adapter in grown.talk.trace(closed).adapters] == [
        "content of L1",
        record.content_hash,
    ]
    grown.talk.say("Three.", "L2")
    assert grown.stacked() == ["L2.gguf"]


def test_a_rollback_holds_from_the_next_turn_on(grown: Grown):
    grown.promote("first")
    second = grown.promote("second")
    grown.talk.say(expert="L1")
    assert grown.stacked() == ["L1.gguf", "second.gguf"]
    grown.catalogue.rollback(second.content_hash)
    grown.talk.say(expert="L1")
    assert grown.stacked() == ["L1.gguf", "first.gguf"]
    grown.catalogue.rollback(grown.catalogue.in_use("test")[0].content_hash)
    grown.talk.say(expert="L1")
    assert grown.stacked() == ["L1.gguf"]


def test_a_turn_names_the_adapter_that_answered_it_and_keeps_naming_one_that_was_removed(grown: Grown):
    before = grown.talk.say("One.", "L1")
    record = grown.promote("mine")
    under_it = grown.talk.say("Two.", "L1")
    beside_it = grown.talk.say("Three.", "L2")
    grown.catalogue.rollback(record.content_hash)
    grown.catalogue.remove(record.content_hash, lambda record: None)
    assert [closed.adapter for closed in (before, under_it, beside_it)] == ["", record.content_hash, ""]
    stored = grown.talk.store.tree(under_it.conversation_id)
    named_turns = {turn.turn_id: turn.adapter for turn in (*stored, grown.talk.store.turn(before.turn_id))}
    assert named_turns[under_it.turn_id] == record.content_hash
    assert named_turns[before.turn_id] == ""


def test_what_leaves_the_home_names_no_adapter(grown: Grown):
    grown.promote("mine")
    closed = grown.talk.say("One.", "L1")
    copy = grown.talk.store.copy_of(closed.conversation_id)
    assert closed.adapter and [turn.adapter for turn in copy.turns] == [""]


def test_a_turn_runs_under_one_set_of_adapters_whatever_is_promoted_meanwhile(grown: Grown):
    grown.promote("first", "L0")
    later = grown.put("second", "L0")
    grown.talk.runtime.on_request = lambda: grown.catalogue.promote(later.content_hash)
    grown.talk.say()
    assert grown.stacked() == ["L0.gguf", "first.gguf"]
    grown.talk.say()
    assert grown.stacked() == ["L0.gguf", "second.gguf"]


def test_the_router_runs_without_what_was_learned_for_answers(grown: Grown):
    grown.promote("mine", "L0")
    closed = grown.talk.say()
    assert grown.talk.runtime.score_requests[-1].adapters == stack_of("L0")
    assert grown.talk.trace(closed, "route").adapters == stack_of("L0")
    assert grown.stacked() == ["L0.gguf", "mine.gguf"]


def test_a_summary_is_written_under_the_adapters_of_its_expert(grown: Grown):
    grown.promote("mine")
    about = grown.talk.say("One.", "L1", answer=LONG)
    grown.talk.idle()
    assert grown.talk.runtime.summaries[0].adapters == grown.talk.trace(about, "summary").adapters
    assert grown.stacked() == ["L1.gguf", "mine.gguf"]


def test_other_programs_are_answered_under_the_same_adapters(grown: Grown):
    grown.promote("mine")
    asked = Asked((Message("user", "Hi."),), expert="L1")
    list(complete(asked, grown.talk.runtime, grown.talk.agent.current_mixture(), NEVER))
    assert grown.stacked() == ["L1.gguf", "mine.gguf"]


def test_adapters_of_another_base_or_profile_or_of_an_expert_that_is_gone_do_not_answer(grown: Grown):
    for name, change in {"a": {"base_hash": "c" * 32}, "b": {"expert": "L7"}}.items():
        grown.catalogue.promote(grown.put(name, **change).content_hash)
    closed = grown.talk.say(expert="L1")
    assert (closed.state, grown.stacked(), grown.talk.notices()) == ("answered", ["L1.gguf"], {})


# Views


@pytest.fixture
def alike(tmp_path: Path) -> Iterator[Grown]:
    """Two experts that are the same model under the same text, and so share a view."""
    with open_talk(tmp_path, profile=make_profile(ALIKE), stacks={"L0": (), "L1": ()}) as talk:
        yield Grown(talk, tmp_path / "adapters", {"L0": (), "L1": ()})


def test_an_expert_with_an_adapter_has_a_view_of_its_own_and_shares_again_without(alike: Grown):
    talk = alike.talk
    talk.say("One.", "L0", answer=LONG)
    record = alike.promote("mine")
    talk.runtime.will_say("Summed up.", "Mine.")
    read = talk.read(talk.say("Two.", "L1"))
    assert "(another expert answered: Summed up.)" in read
    alike.catalogue.rollback(record.content_hash)
    read = talk.read(talk.say("Three.", "L1"))
    assert f"assistant\n{LONG}<|im_end|>" in read and "assistant\nMine.<|im_end|>" in read


def test_a_view_goes_on_where_it_was_under_another_adapter(grown: Grown):
    first = grown.talk.say("One.", "L1")
    grown.promote("mine")
    second = grown.talk.say("Two.", "L1")
    assert grown.talk.trace(second).prompt[: len(grown.talk.left(first))] == grown.talk.left(first)
    assert second.usage.reused_tokens == 0, "what was computed under other weights must not be used"


# What cannot be used


def test_an_adapter_whose_file_is_gone_is_left_out_and_the_user_is_told(grown: Grown):
    record = grown.promote("mine")
    (grown.folder / "mine.gguf").unlink()
    closed = grown.talk.say("One.", "L1", answer="Still here.")
    assert (closed.state, closed.text, grown.stacked()) == ("answered", "Still here.", ["L1.gguf"])
    told = grown.talk.notices()["adapter_left_out"]
    assert (told["expert"], told["adapter"]) == ("L1", record.content_hash[:12])
    assert "cannot be read" in told["problem"]
    grown.talk.say("Two.", "L2")
    assert grown.talk.notices() == {}, "of no concern to another expert"
    (grown.folder / "mine.gguf").write_text("mine", encoding="utf-8")
    grown.talk.say("Three.", "L1")
    assert grown.stacked() == ["L1.gguf", "mine.gguf"]


def test_an_adapter_whose_content_changed_is_left_out(grown: Grown):
    grown.promote("mine")
    (grown.folder / "mine.gguf").write_text("something else", encoding="utf-8")
    assert grown.talk.say(expert="L1").state == "answered"
    assert grown.stacked() == ["L1.gguf"]
    assert "changed" in grown.talk.notices()["adapter_left_out"]["problem"]


@pytest.mark.parametrize(
    "error", [BadModelFile("It crashed the engine before."), OutOfMemory("It does not fit.")], ids=["bad", "memory"]
)
def test_a_turn_whose_adapter_the_runtime_cannot_use_is_answered_without_it(grown: Grown, error):
    grown.promote("mine")
    grown.talk.runtime.will_fail(error)
    closed = grown.talk.say("One.", "L1", answer="Here all the same.")
    assert (closed.state, closed.text) == ("answered", "Here all the same.")
    assert grown.talk.turn(closed).answer_text == "Here all the same."
    assert [len(request.adapters) for request in grown.talk.runtime.requests] == [2, 1]
    assert grown.talk.notices()["adapter_left_out"]["problem"] == error.problem
    grown.talk.say("Two.", "L1")
    assert grown.stacked() == ["L1.gguf"], "it is not tried again at every turn"
    assert "adapter_left_out" in grown.talk.notices()


def test_what_is_wrong_with_the_expert_itself_is_said_as_ever(grown: Grown):
    grown.promote("mine")
    for _ in range(2):
        grown.talk.runtime.will_fail(BadModelFile("The expert's own adapter is damaged."))
    closed = grown.talk.say(expert="L1")
    assert (closed.state, closed.problem) == ("failed", "The expert's own adapter is damaged.")


@pytest.mark.parametrize(
    ("error", "said"),
    [(BadModelFile("The disk went away."), "Half"), (RuntimeFailed("A decode error."), "")],
    ids=["in-mid-answer", "no-fault-of-a-model"],
)
def test_an_answer_is_not_begun_twice(grown: Grown, error, said: str):
    grown.promote("mine")
    grown.talk.runtime.will_fail(error, after=said)
    closed = grown.talk.say(expert="L1")
    assert (closed.state, closed.text, len(grown.talk.runtime.requests)) == ("failed", said, 1)


# Trials


def test_an_adapter_on_trial_answers_until_its_turns_are_over_and_then_stays(grown: Grown):
    record = grown.put("mine")
    grown.catalogue.begin_canary(record.content_hash, turns=3)
    for _ in range(3):
        grown.talk.say(expert="L1")
        assert (grown.stacked(), grown.talk.notices()) == (["L1.gguf", "mine.gguf"], {})
    grown.talk.say(expert="L2")
    assert grown.talk.notices() == {"canary_promoted": {"expert": "L1", "adapter": record.content_hash[:12]}}
    assert grown.catalogue.get(record.content_hash).state == "champion"
    grown.talk.say(expert="L1")
    assert (grown.stacked(), grown.talk.notices()) == (["L1.gguf", "mine.gguf"], {})


def test_a_trial_that_is_not_liked_ends_by_itself_before_the_next_answer(grown: Grown):
    grown.promote("champion")
    canary = grown.put("canary")
    grown.catalogue.begin_canary(canary.content_hash)
    for _ in range(2):
        closed = grown.talk.say(expert="L1")
        assert grown.stacked() == ["L1.gguf", "canary.gguf"]
        grown.talk.store.rate(closed.turn_id, -1)
    grown.talk.say(expert="L1")
    assert grown.stacked() == ["L1.gguf", "champion.gguf"]
    assert grown.talk.notices() == {"canary_rolled_back": {"expert": "L1", "adapter": canary.content_hash[:12]}}


def test_turns_of_other_experts_and_stopped_ones_do_not_count_for_a_trial(grown: Grown):
    record = grown.put("mine")
    grown.catalogue.begin_canary(record.content_hash)
    grown.talk.say(expert="L2")
    grown.talk.say(expert="L1")
    assert grown.catalogue.details(record.content_hash).canary.turns == 1


def test_an_adapter_on_trial_that_cannot_be_used_gives_way_to_the_champion(grown: Grown):
    grown.promote("champion")
    canary = grown.put("canary")
    grown.catalogue.begin_canary(canary.content_hash)
    (grown.folder / "canary.gguf").unlink()
    assert grown.talk.say(expert="L1").state == "answered"
    assert grown.stacked() == ["L1.gguf", "champion.gguf"]
    assert grown.talk.notices()["adapter_left_out"]["adapter"] == canary.content_hash[:12]


def test_the_end_of_a_trial_is_told_at_the_next_turn_even_if_another_program_asked_before(grown: Grown):
    record = grown.put("mine")
    grown.catalogue.begin_canary(record.content_hash, turns=1)
    grown.talk.say(expert="L1")
    grown.talk.agent.current_mixture()
    grown.talk.say(expert="L2")
    assert "canary_promoted" in grown.talk.notices()


def test_a_count_that_cannot_be_written_loses_no_answer(grown: Grown, monkeypatch: pytest.MonkeyPatch):
    grown.promote("mine")

    def refuse(*arguments: object) -> None:
        raise StoreProblem("The disk is full.", "Free some space.")

    monkeypatch.setattr(grown.catalogue, "count_turn", refuse)
    assert grown.talk.say(expert="L1").state == "answered"
