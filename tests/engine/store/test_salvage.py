"""What can still be read of a damaged database goes into a new one; the damaged file stays as it is."""

import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import DatabaseDamaged, StoreProblem, UnknownName, UsageProblem
from engine.store import Store
from engine.store.mended_references import LOST_TEXT, LOST_TITLE
from engine.store.salvage import TABLES, salvage
from engine.values import Answer, Attachment, Epoch, Route, Segment, Trace
from tests.engine.store.conftest import add_turn, bytes_below

PAGE_BYTES = 4096
NOTES = Attachment("notes.txt", "Milk")


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """A closed database with four conversations, and in the first one of everything."""
    path = tmp_path_factory.mktemp("sound") / "macaron.db"
    with Store.open(path) as store:
        opened = store.open_turn("1", conversation_id=None, parent_turn_id=None, profile="tall", attachments=[NOTES])
        epoch = Epoch(store.new_epoch_id(), opened.conversation_id, "L0", 0, (1, 2), "base", "h1", "first")
        store.begin_epoch(epoch)
        store.close_turn(
            Answer(
                opened.turn_id,
                "answered",
                "One",
                Route("L0", "best"),
                segments=(Segment(opened.turn_id, epoch.epoch_id, (3, 4)),),
                traces=(Trace(opened.turn_id, "answer", "L0", (1, 2, 3), (4,), (), "base", "h1"),),
            )
        )
        store.save_summary(opened.turn_id, "Summed up.", "L0", None)
        store.rate(opened.turn_id, 1)
        for number in range(4):
            turn = opened if number == 0 else None
            for step in range(25):
                turn = add_turn(store, f"{number}.{step} 咖啡 " + "words " * 60, turn, answer=f"{number}.{step}")
    return path


@pytest.fixture
def path(sound, tmp_path) -> Path:
    (tmp_path / "damaged").mkdir()
    return Path(shutil.copy(sound, tmp_path / "damaged" / "macaron.db"))


@pytest.fixture
def target(tmp_path) -> Path:
    return tmp_path / "salvaged.db"


def said_in(path: Path) -> dict[str, tuple[str, str]]:
    """By turn id what was asked and answered, of all branches."""
    with Store.open(path) as store:
        assert store.integrity() == "ok"
        trees = [store.tree(conversation.conversation_id) for conversation in store.conversations(1000)]
        return {turn.turn_id: (turn.user_text, turn.answer_text) for tree in trees for turn in tree}


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def copy_of_first(path: Path):
    with Store.open(path) as store:
        first = min(store.conversations(1000), key=lambda each: each.conversation_id)
        copy = store.copy_of(first.conversation_id)
        return copy, store.traces(copy.turns[0].turn_id), store.conversations(1000)


def test_no_table_is_left_out(sound):
    with closing(sqlite3.connect(sound)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
        kept = {
            name for (name,) in found if not name.startswith(("sqlite_", "_sqlite", "messages_fts", "memories_fts"))
        }
    assert kept - {"repairs"} == set(TABLES) - {"repairs"}


def test_a_sound_database_is_salvaged_whole(sound, target):
    report = salvage(sound, target)
    assert report.is_complete
    assert {table.table: table.saved for table in report.tables}["turns"] == 101
    assert copy_of_first(target) == copy_of_first(sound)
    assert [file.name for file in target.parent.iterdir()].count(target.name) == 1


def test_what_is_still_in_the_log_is_salvaged_and_nothing_beside_the_source_changes(sound, path, target, tmp_path):
    source = Path(shutil.copy(sound, tmp_path / "live.db"))
    with closing(sqlite3.connect(source)) as live:
        with live:
            live.execute("UPDATE conversations SET title = 'In the log'")
        for suffix in ("", "-wal"):
            shutil.copy(f"{source}{suffix}", f"{path}{suffix}")
    before = bytes_below(path.parent)
    assert salvage(path, target).is_complete
    after = bytes_below(path.parent)
    after.pop("macaron.db-shm", None)  # SQLite's index of the log, which holds nothing of its own
    assert after == before
    assert {conversation.title for conversation in copy_of_first(target)[2]} == {"In the log"}


def test_J4_of_a_file_with_any_page_damaged_most_is_saved_nothing_is_made_up_and_all_losses_are_told(
    sound, path, target
):
    before = said_in(sound)
    content = sound.read_bytes()
    seed = random.randrange(10**6)
    choices = random.Random(seed)
    best = 0
    for page in choices.sample(range(1, len(content) // PAGE_BYTES + 1), 40):
        damaged = bytearray(content)
        damaged[(page - 1) * PAGE_BYTES : page * PAGE_BYTES] = choices.choice([os.urandom(4096), bytes(4096)])
        path.write_bytes(damaged)
        target.unlink(missing_ok=True)
        try:
            report = salvage(path, target)
        except DatabaseDamaged:
            continue  # the list of tables itself
        assert path.read_bytes() == damaged
        saved = said_in(target)
        whole = [turn_id for turn_id in before if saved.get(turn_id) == before[turn_id]]
        best += len(whole) > 80
        assert len(whole) == len(before) or not report.is_complete, f"seed {seed}, page {page}"
        for turn_id, (asked, answered) in saved.items():
            assert asked in (before[turn_id][0], LOST_TEXT), f"seed {seed}, page {page}"
            assert answered in (before[turn_id][1], ""), f"seed {seed}, page {page}"
    assert best > 20, f"seed {seed}"


def test_a_truncated_file_gives_what_is_left(path, sound, target):
    path.write_bytes(sound.read_bytes()[: 130 * PAGE_BYTES])
    report = salvage(path, target)
    assert not report.is_complete
    assert set(said_in(target)) <= set(said_in(sound))


def test_messages_of_lost_turns_and_turns_of_lost_conversations_are_kept(sound, path, target):
    change(
        path,
        "PRAGMA foreign_keys = OFF",
        "DELETE FROM turns WHERE turn_id IN (SELECT turn_id FROM turns ORDER BY turn_id LIMIT 1 OFFSET 40)",
        "DELETE FROM conversations WHERE conversation_id = (SELECT max(conversation_id) FROM conversations)",
    )
    report = salvage(path, target)
    assert said_in(target) == said_in(sound)
    assert [note.split(";")[0] for note in report.notes[:2]] == ["1 turns were lost", "1 conversations were lost"]
    with Store.open(target) as store:
        titles = {conversation.title[:3] for conversation in store.conversations(1000)}
    assert titles == {"1", "1.0", "2.0", "3.0"}


def test_messages_whose_conversation_nobody_knows_are_kept_under_a_title_of_their_own(path, target, sound):
    change(
        path,
        "DELETE FROM segments",
        "DELETE FROM turns WHERE turn_id = (SELECT max(turn_id) FROM turns)",
    )
    salvage(path, target)
    assert said_in(target) == said_in(sound)
    with Store.open(target) as store:
        assert LOST_TITLE in {conversation.title for conversation in store.conversations(1000)}


def test_a_lost_message_of_the_user_is_marked_and_is_not_typed(path, target, sound):
    change(path, "DELETE FROM messages WHERE message_id = 21")
    report = salvage(path, target)
    assert not report.is_complete
    with Store.open(target) as store:
        (lost,) = (
            turn
            for conversation in store.conversations(1000)
            for turn in store.tree(conversation.conversation_id)
            if turn.user_text == LOST_TEXT
        )
        assert (lost.provenance, lost.answer_text) == ("imported", said_in_answer(sound, lost.turn_id))


def said_in_answer(path: Path, turn_id: str) -> str:
    with Store.open(path) as store:
        return store.turn(turn_id).answer_text


def test_a_circle_of_parents_is_cut(path, target, sound):
    change(
        path,
        "UPDATE turns SET parent_turn_id = (SELECT max(turn_id) FROM turns AS other"
        " WHERE other.conversation_id = turns.conversation_id) WHERE parent_turn_id IS NULL",
    )
    salvage(path, target)
    assert said_in(target) == said_in(sound)


def test_a_salvage_never_replaces_a_file_and_leaves_nothing_when_it_fails(path, target, tmp_path):
    target.write_text("precious")
    with pytest.raises(UsageProblem):
        salvage(path, target)
    assert target.read_text() == "precious"
    with pytest.raises(UnknownName):
        salvage(tmp_path / "nowhere.db", tmp_path / "new.db")
    path.write_bytes(b"hello" * 1000)
    with pytest.raises(DatabaseDamaged):
        salvage(path, tmp_path / "new.db")
    change(tmp_path / "notes.db", "CREATE TABLE notes (text TEXT)")
    with pytest.raises(StoreProblem, match="not a database of this program"):
        salvage(tmp_path / "notes.db", tmp_path / "new.db")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["damaged", "notes.db", "salvaged.db"]
