"""kill -9 at random moments of a conversation: the file is in order, nothing committed is lost, all can be retried."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from app.adapters.shelf import StoreShelf
from app.harness.home_tools import HomeTools
from app.harness.tool_shelf import StoredTools
from app.interview.shelf import StoredInterview
from app.local_client import LocalClient
from app.memory.shelf import StoredMemories
from app.opening import open_store
from app.paths import Paths
from app.settings import Settings
from app.suggestions.shelf import StoredSuggestions
from app.wiring import load_chosen_profile, load_plan
from engine.adapters.catalogue import Catalogue
from engine.agent import Agent
from engine.errors import UnknownName
from engine.events import TurnClosed
from engine.harness.formats import choose_format
from engine.memory.keeping import KeptMemories
from engine.mixture import Mixture, harness_of
from engine.routing.profile import Profile
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import ModelInfo
from engine.store import Store
from engine.values import About
from tests.app.running import environment, macaron, profile_like_starter, wait_until

pytestmark = pytest.mark.model

LONGEST_LIFE_S = 1.8


@dataclass
class Tally:
    """What happened over all kills."""

    kills: int = 0
    committed: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    interrupted: set[str] = field(default_factory=set)
    retried: int = 0
    unheard: set[str] = field(default_factory=set)
    """Answers that were committed although the process died before it could log them."""

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {len(self.committed)} turns committed, {len(self.lost)} lost, "
            f"{len(self.interrupted)} interrupted, {self.retried} retried, {len(self.unheard)} answered unheard"
        )


@dataclass(frozen=True, slots=True)
class Told:
    """What a process was told of one turn before it died; no state: it never heard how the turn ended."""

    text: str
    state: str = ""
    answer: str = ""


class Checker:
    """One loaded base that looks after every kill, which saves loading it each time."""

    def __init__(self, profile: Profile, base: Path) -> None:
        self._profile = profile
        self._runtime = LlamaRuntime()
        self._info: ModelInfo = self._runtime.load(load_plan(profile, base, Settings()))
        chat_format, _ = choose_format(self._info.architecture, self._info.markup, family=profile.family)
        self._harness = harness_of(profile, chat_format, self._info.markup)

    def client(self, store: Store) -> LocalClient:
        stacks = dict.fromkeys(self._profile.expert_ids, ())
        agent = Agent(self._runtime, store, Mixture(self._profile, self._harness, self._info, stacks))
        shelf = StoreShelf(Catalogue(store.database), Path())
        tools = StoredTools(HomeTools(Paths(Path()), store.database))
        memories = KeptMemories(store, None)
        return LocalClient(
            agent,
            store,
            self._runtime,
            self._profile,
            About("", "", ""),
            shelf,
            tools,
            StoredMemories(memories, store),
            StoredSuggestions(Paths(Path()), store),
            StoredInterview(store, memories),
        )

    def close(self) -> None:
        self._runtime.close()


@contextmanager
def checker_of(profile_folder: Path, base: Path, home: Path) -> Iterator[Checker]:
    checker = Checker(load_chosen_profile(Paths(home), str(profile_folder)), base)
    try:
        yield checker
    finally:
        checker.close()


def talk_until_killed(home: Path, profile: Path, log: Path, life_s: float, *, from_start: bool) -> list[dict[str, str]]:
    """Kill a talking process after `life_s`, counted from its first moment or from its first turn; what it logged."""
    log.unlink(missing_ok=True)
    arguments = [sys.executable, "-m", "tests.app.talking", str(home), str(profile), str(log)]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, env=environment()) as child:
        if not from_start:
            wait_until(lambda: log.exists() and log.stat().st_size > 0, "the process is ready")
        time.sleep(life_s)
        assert child.poll() is None, child.stderr and child.stderr.read().decode()
        child.kill()
    # The kill may have cut the last line short.
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True) if log.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def note_what_was_told(entries: Sequence[dict[str, str]], told: dict[str, Told]) -> None:
    for entry in entries:
        if entry["event"] == "opened":
            told[entry["turn_id"]] = Told(entry["text"])
        elif entry["event"] == "closed":
            told[entry["turn_id"]] = replace(told[entry["turn_id"]], state=entry["state"], answer=entry["text"])


def check_committed(store: Store, told: Mapping[str, Told], tally: Tally) -> None:
    """All that any process so far was told is committed is there, word for word."""
    for turn_id, expected in told.items():
        tally.committed.add(turn_id)
        try:
            turn = store.turn(turn_id)
        except UnknownName:
            tally.lost.add(turn_id)
            continue
        assert turn.user_text == expected.text
        if expected.state:
            assert (turn.state, turn.answer_text) == (expected.state, expected.answer)
        elif turn.state == "interrupted":
            tally.interrupted.add(turn_id)
        else:
            assert turn.state == "answered"
            tally.unheard.add(turn_id)


def answer_of(events) -> TurnClosed:
    *_, closed = events
    assert isinstance(closed, TurnClosed)
    assert closed.state == "answered", closed
    return closed


def retry_interrupted(client: LocalClient, store: Store, tally: Tally) -> None:
    """Answer again what the kill cut off, whether its process lived to log it or not, and then go on after it."""
    (newest,) = store.conversations(1) or (None,)
    if newest is None or newest.leaf_turn_id is None:
        return
    cut_off = store.turn(newest.leaf_turn_id)
    if cut_off.state == "interrupted":
        tally.interrupted.add(cut_off.turn_id)
        retried = answer_of(client.regenerate(cut_off.turn_id))
        tally.retried += 1
        assert store.turn(retried.turn_id).user_text == cut_off.user_text
        assert store.conversation(newest.conversation_id).leaf_turn_id == retried.turn_id
    answer_of(client.ask("@L0 Go on.", conversation_id=newest.conversation_id))


@pytest.fixture
def terse_profile(tmp_path: Path) -> Path:
    """Answers so short that many turns begin and end in one life."""
    return profile_like_starter(tmp_path / "terse", [("max_answer_tokens = 512", "max_answer_tokens = 12")])


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(6, id="6 kills"),
        pytest.param(50, id="50 kills", marks=[pytest.mark.slow, pytest.mark.timeout(1500)]),
    ],
)
def test_no_kill_loses_a_committed_turn(
    kills: int, home: Path, terse_profile: Path, starter_base: Path, tmp_path: Path, record_property
):
    moments, tally = random.Random(kills), Tally()
    told: dict[str, Told] = {}
    with checker_of(terse_profile, starter_base, home) as checker:
        for number in range(kills):
            # Every sixth life may end anywhere from its first moment on: importing, migrating, loading, talking.
            from_start = number % 6 == 5
            life_s = moments.uniform(0.0, LONGEST_LIFE_S)
            entries = talk_until_killed(home, terse_profile, tmp_path / "log", life_s, from_start=from_start)
            tally.kills += 1
            note_what_was_told(entries, told)
            with open_store(Paths(home)) as store:
                assert store.integrity() == "ok"
                check_committed(store, told, tally)
                retry_interrupted(checker.client(store), store, tally)
    done = macaron("ask", "--alone", "What is the capital of France?", "--json", "--profile", str(terse_profile))
    assert done.code == 0 and "Paris" in done.json["text"]
    assert not (home / "home.pid").exists()
    record_property("kills", str(tally))
    print(f"\n{tally}")
    assert tally.lost == set()
    assert tally.retried == len(tally.interrupted) > 0
