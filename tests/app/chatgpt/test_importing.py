"""An export of ChatGPT in the history: the report says what happened to each conversation; again changes nothing."""

import json
import re
import signal
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app import importing
from app.host.starting import ensure_host
from app.import_report import Imported, Watch, counted
from app.importing import import_file
from app.library import StoreLibrary
from app.opening import open_store
from app.paths import Paths
from engine.store import Store
from engine.store.memories import MemoryStore
from engine.store.memory_care import MemoryCare
from tests.app.running import command, environment, macaron, start
from tests.support.chatgpt_export import MALFORMED, Account, Chat, malformed, write_export
from tests.support.hosting import host_pid
from tests.support.peak_memory import peak_while

COUNT = 40
MANY = 2000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "other" / "macaron.db") as opened:
        yield opened


@pytest.fixture
def library(store: Store) -> StoreLibrary:
    return StoreLibrary(store)


def results_of(library: StoreLibrary, path: Path) -> list[Imported]:
    return list(import_file(library, path, "starter"))


def outcomes(results: list[Imported]) -> dict[str, int]:
    return {outcome: count for outcome, count in counted(results).items() if count}


def list_of(path: Path, *elements: bytes | dict[str, Any]) -> Path:
    texts = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in elements]
    path.write_bytes(b"[" + b",\n".join(texts) + b"]")
    return path


def talk(name: str, *words: str) -> Chat:
    chat = Chat(name, name)
    for word in words:
        chat.assistant(f"{word}!", after=chat.user(word))
    return chat


def check_against(account: Account, results: list[Imported], store: Store) -> None:
    """That the report and the history agree with what is in the export."""
    added = {result.title.removeprefix("Conversation "): result for result in results if result.outcome == "added"}
    expected = {str(int(name.removeprefix("chat-"))): name for name in account.turns}
    assert added.keys() == expected.keys()
    for number, name in expected.items():
        assert (added[number].turns, added[number].left_out) == (account.turns[name], account.left_out[name])
        stored = store.tree(added[number].conversation_id)
        assert len(stored) == account.turns[name] and {turn.provenance for turn in stored} == {"imported"}
    assert all(store.search(name.rpartition(".")[0]) for name in account.attached)
    problems = " ".join(result.problem for result in results if result.outcome == "refused")
    assert all(word in problems for word in ("mapping", "circle", "UTF-8"))


@pytest.mark.parametrize(("name", "split"), [("export.zip", 0), ("export.zip", 15), ("export", 15), ("export.json", 0)])
def test_the_report_says_exactly_what_happened_and_again_changes_nothing(
    store: Store, library: StoreLibrary, tmp_path: Path, name: str, split: int
):
    account = write_export(tmp_path / name, COUNT, split=split)
    first = results_of(library, tmp_path / name)
    assert outcomes(first) == {"added": COUNT, "refused": MALFORMED}
    check_against(account, first, store)
    before = [store.copy_of(one.conversation_id) for one in store.conversations(limit=COUNT + 1)]
    assert len(before) == COUNT
    again = results_of(library, tmp_path / name)
    assert outcomes(again) == {"known": COUNT, "refused": MALFORMED} and sum(one.turns for one in again) == 0
    assert [store.copy_of(one.conversation_id) for one in store.conversations(limit=COUNT + 1)] == before
    assert store.integrity() == "ok"


def test_a_later_export_adds_only_what_is_new(store: Store, library: StoreLibrary, tmp_path: Path):
    before = write_export(tmp_path / "march.zip", COUNT)
    after = write_export(tmp_path / "april.zip", COUNT + 5, longer=True)
    results_of(library, tmp_path / "march.zip")
    results = results_of(library, tmp_path / "april.zip")
    grown = [name for name in before.turns if after.turns[name] > before.turns[name]]
    assert outcomes(results) == {"added": 5, "extended": len(grown), "known": COUNT - len(grown), "refused": MALFORMED}
    assert {result.turns for result in results if result.outcome == "extended"} == {1}
    extended = next(result for result in results if result.outcome == "extended")
    leaf = store.conversation(extended.conversation_id).leaf_turn_id
    assert leaf and [turn.answer_text for turn in store.path(leaf)][-1] == "And more."


def test_J5_macaron_history_import_reports_to_people_and_to_scripts(home: Path, tmp_path: Path):
    write_export(tmp_path / "export.zip", 8)
    done = macaron("history", "import", str(tmp_path / "export.zip"))
    assert done.code == 1, "something was refused"
    lines = done.out.splitlines()
    assert lines[-1] == "8 added, 0 extended, 0 known already, 0 empty, 3 refused."
    assert sum(line.startswith("added  ") and "Conversation " in line for line in lines) == 8
    assert any(re.search(r"\(\d turns?; left out: hidden 1", line) for line in lines)
    assert any(line.startswith("refused  ") and "circle" in line for line in lines)
    again = macaron("history", "import", str(tmp_path / "export.zip"), "--json").json
    assert (again["added"], again["known"], again["refused"], again["stopped"]) == (0, 8, 3, False)
    assert len(again["conversations"]) == 11
    known = next(one for one in again["conversations"] if one["outcome"] == "known")
    assert known["turns"] == 0 and known["conversation_id"]
    shown = macaron("history", "show", known["conversation_id"], "--json").json["turns"]
    assert {turn["provenance"] for turn in shown} == {"imported"}


def test_the_report_speaks_chinese(home: Path, tmp_path: Path):
    write_export(tmp_path / "export.zip", 4)
    done = macaron("history", "import", str(tmp_path / "export.zip"), changes={"LC_ALL": "zh_CN.UTF-8"})
    assert "添加 4 个" in done.out and "已添加" in done.out


def test_a_conversation_of_the_export_is_gone_on_with_here(store: Store, library: StoreLibrary, tmp_path: Path):
    (result,) = results_of(library, list_of(tmp_path / "a.json", talk("chat", "Hi").data))
    leaf = store.conversation(result.conversation_id).leaf_turn_id
    store.open_turn("Here.", conversation_id=result.conversation_id, parent_turn_id=leaf, profile="starter")
    (again,) = results_of(library, list_of(tmp_path / "a.json", talk("chat", "Hi", "There").data))
    assert (again.outcome, again.turns) == ("extended", 1)
    assert [turn.user_text for turn in library.path(result.conversation_id)] == ["Hi", "Here."]


def test_what_reads_differently_now_is_told_and_stays(library: StoreLibrary, tmp_path: Path):
    chat = talk("chat", "Hi")
    results_of(library, list_of(tmp_path / "a.json", chat.data))
    chat.nodes["chat-1"]["message"]["content"]["parts"] = ["Bye"]
    (again,) = results_of(library, list_of(tmp_path / "a.json", chat.data))
    assert (again.outcome, again.differing) == ("known", 1)
    assert library.path(again.conversation_id)[0].user_text == "Hi"


def test_a_conversation_without_a_word_is_empty_and_nothing_is_wrong(home: Path, tmp_path: Path):
    file = list_of(tmp_path / "a.json", Chat("one").data, talk("two", "Hi").data)
    done = macaron("history", "import", str(file), "--json")
    assert (done.code, done.json["empty"], done.json["added"]) == (0, 1, 1)


HOSTILE: dict[str, bytes] = {
    "no JSON": b'{"mapping": {,}}',
    "deep": b'{"conversation_id": "a", "mapping": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "many parts": b'{"conversation_id": "a", "mapping": [' + b"{}," * 2_000_001 + b"{}]}",
    "a number": b"7",
    "a text": b'"conversation"',
    "null": b"null",
    "a list": b"[[], {}]",
    "a long number": b'{"conversation_id": "a", "mapping": ' + b"9" * 9999 + b"}",
    **{f"malformed {number}": text for number, text in enumerate(malformed())},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_element_that_is_no_conversation_is_refused_by_itself(library: StoreLibrary, tmp_path: Path, name: str):
    file = list_of(tmp_path / "a.json", talk("one", "Hi").data, HOSTILE[name], talk("two", "Hi").data)
    results = results_of(library, file)
    assert [result.outcome for result in results] == ["added", "refused", "added"]
    assert results[1].problem and results[1].hint and results[1].place == "2"


def test_a_conversation_that_is_too_large_is_passed_over(library: StoreLibrary, tmp_path: Path):
    file = list_of(tmp_path / "a.json", talk("one", "x" * (65 << 20)).data, talk("two", "Hi").data)
    results = results_of(library, file)
    assert [result.outcome for result in results] == ["refused", "added"] and "64 MB" in results[0].problem


def test_odd_values_do_no_harm(library: StoreLibrary, tmp_path: Path):
    chat = talk("odd", "Hi \ud83d")
    chat.nodes["odd-1"]["message"]["create_time"] = float("nan")
    twice = (
        json.dumps(chat.data | {"title": "\udc00 One"}).encode().replace(b'"is_archived"', b'"title": "Two", "title"')
    )
    file = list_of(tmp_path / "a.json", twice, talk("0\0\ud800", "Hi").data)
    results = results_of(library, file)
    assert [result.outcome for result in results] == ["added", "added"]
    assert library.path(results[0].conversation_id)[0].user_text == "Hi \ufffd"


@pytest.mark.parametrize(
    ("data", "before", "words"),
    [
        pytest.param(b"[%s, ", 1, "ends before", id="cut between conversations"),
        pytest.param(b'[%s, {"title": "cut', 1, "in the middle", id="cut within one"),
        pytest.param(b"[%s] trailing", 1, "follows", id="something after the list"),
        pytest.param(b"[] %s", 0, "follows", id="something after an empty list"),
    ],
)
def test_a_file_that_is_not_whole_gives_what_it_has(
    library: StoreLibrary, tmp_path: Path, data: bytes, before: int, words: str
):
    file = tmp_path / "a.json"
    file.write_bytes(data.replace(b"%s", json.dumps(talk("one", "Hi").data).encode()))
    *added, last = results_of(library, file)
    assert [result.outcome for result in added] == ["added"] * before
    assert last.outcome == "refused" and words in last.problem and last.hint


def test_one_bad_file_of_an_export_costs_no_other(library: StoreLibrary, tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("../conversations-000.json", "[]")
        archive.writestr("conversations-001.json", "{}")
        archive.writestr("conversations-002.json", json.dumps([talk("two", "Hi").data]))
    results = results_of(library, tmp_path / "export.zip")
    assert [result.outcome for result in results] == ["refused", "refused", "added"]
    assert results[2].place == "conversations-002.json:1"


def test_B4_an_archive_that_is_damaged_within_gives_what_comes_before(library: StoreLibrary, tmp_path: Path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations-001.json", json.dumps([talk("one", "Hi").data]))
        archive.writestr("conversations-002.json", json.dumps([talk("two", "x" * 5000).data]))
    data = bytearray(path.read_bytes())
    data[data.index(b"xxxx") + 1000] ^= 1
    path.write_bytes(data)
    *_, last = results = results_of(library, path)
    assert results[0].outcome == "added" and last.outcome == "refused" and "damaged" in last.problem


def test_B4_a_list_of_nothings_is_given_up_after_a_hundred(library: StoreLibrary, tmp_path: Path):
    file = tmp_path / "a.json"
    file.write_bytes(b"[" + b"{}," * 1_000_000 + b"{}]")
    results = results_of(library, file)
    assert len(results) == 101 and "rest was not read" in results[-1].problem


def test_B4_a_bomb_is_read_in_bounded_memory(library: StoreLibrary, tmp_path: Path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("conversations.json", "w") as entry:
        entry.write(b'[{"title": "')
        for _ in range(300):
            entry.write(b"x" * (1 << 20))
        entry.write(b'"}]')
    results: list[Imported] = []
    peak = peak_while(lambda: results.extend(results_of(library, path)))
    assert outcomes(results) == {"refused": 1} and "64 MB" in results[0].problem
    assert peak.highest_bytes - peak.before_bytes < 160 << 20


def test_a_list_may_be_far_larger_than_the_memory_that_reading_it_takes(library: StoreLibrary, tmp_path: Path):
    text = json.dumps(talk("chat", "x" * (1 << 20)).data).encode()
    results_of(library, list_of(tmp_path / "one.json", text))
    with (tmp_path / "many.json").open("wb") as file:
        file.write(b"[" + text)
        for _ in range(59):
            file.write(b"," + text)
        file.write(b"]")
    results: list[Imported] = []
    peak = peak_while(lambda: results.extend(results_of(library, tmp_path / "many.json")))
    assert outcomes(results) == {"known": 60} and (tmp_path / "many.json").stat().st_size > 120 << 20
    assert peak.highest_bytes - peak.before_bytes < 40 << 20


def test_a_stop_leaves_whole_conversations_and_the_next_import_goes_on(
    store: Store, library: StoreLibrary, tmp_path: Path
):
    account = write_export(tmp_path / "export.zip", COUNT)
    stop = threading.Event()
    seen = []
    for result in importing._import_files(library, [str(tmp_path / "export.zip")], "starter", Watch(stop)):
        seen.append(result)
        if len(seen) == 7:
            stop.set()
    assert len(seen) == 7 and len(store.conversations()) == 7
    rest = results_of(library, tmp_path / "export.zip")
    assert outcomes(rest) == {"known": 7, "added": COUNT - 7, "refused": MALFORMED}
    assert sum(conversation.turn_count for conversation in store.conversations(limit=99)) == sum(account.turns.values())


def test_ctrl_c_ends_in_order_and_says_how_to_go_on(home: Path, tmp_path: Path):
    write_export(tmp_path / "export.json", 400)
    with start("history", "import", str(tmp_path / "export.json")) as running:
        assert running.stdout is not None and running.stderr is not None
        for _ in range(5):
            running.stdout.readline()
        running.send_signal(signal.SIGINT)
        out, err = running.stdout.read(), running.stderr.read()
    assert running.returncode == 130
    assert b"added" in out.splitlines()[-1] and b"goes on from there" in err and b"Traceback" not in err
    with open_store(Paths(home)) as store:
        assert store.integrity() == "ok"
        assert 5 <= len(store.conversations(limit=1000)) < 400


def test_an_import_goes_through_the_host_where_one_runs(home: Path, tmp_path: Path):
    file = list_of(tmp_path / "a.json", talk("茶 \ud83d", "Hi \ud83d").data, malformed()[1])
    ensure_host(Paths(home))
    first, again = (macaron("history", "import", str(file), "--json").json for _ in range(2))
    assert host_pid(home) is not None
    assert (first["added"], first["refused"], again["added"], again["known"]) == (1, 1, 0, 1)
    (turn,) = macaron("history", "show", first["conversations"][0]["conversation_id"], "--json").json["turns"]
    assert (turn["user_text"], turn["answer_text"], turn["provenance"]) == ("Hi \ufffd", "Hi \ufffd!", "imported")


def test_what_takes_long_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.import_report.QUIET_S", 0.0)
    monkeypatch.setattr("app.import_report._PAUSE_S", 0.0)
    told: list[tuple[int, int]] = []
    watch = Watch(tell=lambda read, expected: told.append((read, expected)))
    watch.expect(4)
    assert list(watch.through([b"ab", b"cd"])) == [b"ab", b"cd"]
    assert told == [(2, 4), (4, 4)]


@pytest.mark.slow
def test_two_thousand_conversations(home: Path, tmp_path: Path):
    account = write_export(tmp_path / "export.zip", MANY, split=700)
    first = macaron_slowly("history", "import", str(tmp_path / "export.zip"), "--json")
    assert (first["added"], first["refused"]) == (MANY, MALFORMED)
    results = [Imported(**one) for one in first["conversations"]]
    with open_store(Paths(home)) as store:
        check_against(account, results, store)
        before = [store.copy_of(one.conversation_id) for one in store.conversations(limit=MANY + 1)]
    again = macaron_slowly("history", "import", str(tmp_path / "export.zip"), "--json")
    assert (again["added"], again["known"], again["refused"]) == (0, MANY, MALFORMED)
    with open_store(Paths(home)) as store:
        assert [store.copy_of(one.conversation_id) for one in store.conversations(limit=MANY + 1)] == before
        assert store.integrity() == "ok"


def macaron_slowly(*arguments: str) -> Any:
    """What it printed, however long it took."""
    done = subprocess.run(command(*arguments), capture_output=True, env=environment(), check=False)
    return json.loads(done.stdout)


def test_on_request_what_the_user_said_there_waits_for_review(home: Path, tmp_path: Path):
    chat = Chat("chat-1", "Home")
    chat.assistant("I will remember that you love gambling.", after=chat.user("I live in Bergen. Where can I hike?"))
    chat.assistant("好的。", after=chat.user("我对花生过敏。"))
    file = list_of(tmp_path / "conversations.json", chat.data, *malformed(), talk("chat-2", "Tea").data)

    assert macaron("history", "import", str(file), "--json").json["proposed"] == 0
    assert waiting_in(home) == []

    report = macaron("history", "import", str(file), "--propose-memories", "--json").json
    assert (report["known"], report["refused"], report["proposed"]) == (2, 3, 2)
    assert [one["proposed"] for one in report["conversations"] if one["outcome"] == "known"] == [2, 0]
    assert waiting_in(home) == [("I live in Bergen", "tainted"), ("我对花生过敏", "tainted")]

    assert "0 memories wait" in macaron("history", "import", str(file), "--propose-memories").out
    assert len(waiting_in(home)) == 2


def test_while_memory_is_paused_nothing_is_proposed(home: Path, tmp_path: Path):
    file = list_of(tmp_path / "conversations.json", talk("chat-1", "I live in Bergen.").data)
    with open_store(Paths(home)) as store:
        MemoryCare(store.database).pause(datetime.now(UTC))
    done = macaron("history", "import", str(file), "--propose-memories")
    assert done.code != 0 and "paused" in done.err
    assert waiting_in(home) == []


def waiting_in(home: Path) -> list[tuple[str, str]]:
    with open_store(Paths(home)) as store:
        memories = MemoryStore(store.database, store.mender)
        assert memories.page() == ()
        return [(one.text, one.trust) for one in reversed(memories.page(states=["pending"]))]
