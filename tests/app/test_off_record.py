"""G-7: what is said off the record is in no list, no memory and no file, and nothing is known of the user there."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.local_client import LocalClient
from app.off_record import OffTheRecord
from engine.agent import Agent
from engine.errors import UnknownName, UsageProblem
from engine.events import Notice, TurnClosed
from engine.memory.keeping import KeptMemories
from engine.memory.turning import TurnMemory
from engine.personal import NoPersonalAdapters, Personal, Uncounted
from engine.runtime.protocol import AdapterRef
from engine.store import Store
from tests.app.running import macaron
from tests.support.embedding import HashedWords
from tests.support.hosting import end_host
from tests.support.talking import Talk

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SECRET = "Zanzibar"


class Home:
    def __init__(self, folder: Path, store: Store, hidden: OffTheRecord) -> None:
        self.folder = folder
        self.store = store
        self.memories = KeptMemories(store, HashedWords())
        self.talk = Talk(store, memory=TurnMemory(self.memories, now=lambda: NOW))
        mixture = self.talk.agent.current_mixture()
        agent = Agent(self.talk.runtime, hidden.store, mixture)
        names = ("profile", "about", "shelf", "tools", "memories", "suggestion_shelf", "interview_shelf")
        unused = dict.fromkeys(names)
        self.client = LocalClient(
            self.talk.agent,
            store,
            runtime=self.talk.runtime,
            hidden=hidden,
            hidden_agent=agent,
            **unused,  # type: ignore[arg-type]
        )

    def say(self, text: str, **options) -> TurnClosed:
        self.events = list(self.client.ask(text, expert="L0", **options))
        closed = self.events[-1]
        assert isinstance(closed, TurnClosed) and closed.state == "answered"
        return closed

    def holds(self, text: str) -> bool:
        return any(text.encode() in file.read_bytes() for file in self.folder.rglob("*") if file.is_file())


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Store.open(tmp_path / "macaron.db") as store, OffTheRecord() as hidden:
        yield Home(tmp_path, store, hidden)


def test_G7_nothing_of_it_is_listed_found_remembered_or_in_a_file(home: Home):
    closed = home.say(f"I live in {SECRET}.", off_record=True)
    assert home.client.conversations() == () and home.client.search(SECRET) == ()
    assert home.memories.store.page() == () and not home.holds(SECRET)
    with pytest.raises(UnknownName):
        home.store.turn(closed.turn_id)


def test_G7_nothing_is_known_of_the_user_there(home: Home):
    home.say("I live in Rome.")
    home.say("Where do I live?")
    assert "I live in Rome" in home.talk.runtime.last_prompt()
    home.say("Where do I live?", off_record=True)
    assert "Rome" not in home.talk.runtime.last_prompt()
    assert not any(isinstance(event, Notice) for event in home.events)


def test_it_goes_on_is_answered_again_and_edited_like_any_other(home: Home):
    first = home.say(f"My word is {SECRET}.", off_record=True)
    second = home.say("And now?", conversation_id=first.conversation_id)
    assert SECRET in home.talk.runtime.last_prompt()
    assert home.client.conversation(first.conversation_id).is_off_record
    list(home.client.regenerate(second.turn_id))
    list(home.client.edit(first.turn_id, f"My word is not {SECRET}."))
    assert len(home.client.tree(first.conversation_id)) == 4
    assert [turn.user_text for turn in home.client.path(first.conversation_id)] == [f"My word is not {SECRET}."]
    assert len(home.client.siblings(second.turn_id)) == 2
    home.client.select(second.turn_id)
    home.client.rename(first.conversation_id, "Hidden")
    assert home.client.export_conversation(first.conversation_id).conversation.title == "Hidden"
    assert home.client.conversations() == () and not home.holds(SECRET)


def test_nothing_is_learned_from_it(home: Home):
    closed = home.say("What is tea?", off_record=True)
    for said in (
        lambda: home.client.rate(closed.turn_id, 1),
        lambda: home.client.correct(closed.turn_id, "A drink."),
        lambda: home.client.pick(closed.turn_id),
    ):
        with pytest.raises(UsageProblem, match="off the record"):
            said()
    assert home.client.signals() == ()


def test_a_conversation_of_the_history_stays_in_it(home: Home):
    kept = home.say("Hello.")
    home.say("And now?", conversation_id=kept.conversation_id, off_record=True)
    assert home.client.conversation(kept.conversation_id).turn_count == 2


def test_it_does_not_count_for_or_against_an_adapter():
    class Counting(NoPersonalAdapters):
        def answered(self, adapter, turn_id):
            raise AssertionError("counted")

        def current(self):
            return Personal({"L0": AdapterRef("a.gguf", "a")})

    hidden = Uncounted(Counting())
    assert hidden.current().adapters
    hidden.answered(AdapterRef("a.gguf", "a"), "t")


@pytest.mark.model
def test_G7_a_host_keeps_nothing_of_it_in_its_home(home_folder: Path, starter_base: Path):
    asked = macaron("ask", f"I live in {SECRET}.", "--off-record", "--json", "--home", str(home_folder))
    assert asked.code == 0 and asked.json["text"]
    assert macaron("history", "list", "--json", "--home", str(home_folder)).json == []
    kept = macaron("ask", "Hello.", "--off-record", "--conversation", "c-1", "--home", str(home_folder))
    assert kept.code == 2 and "off the record" in kept.err
    end_host(home_folder)
    files = [file for file in home_folder.rglob("*") if file.is_file()]
    assert files and not any(SECRET.encode() in file.read_bytes() for file in files)


@pytest.fixture
def home_folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "home"
    end_host(tmp_path / "home")
