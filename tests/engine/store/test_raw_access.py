"""J-2: the live database is opened by SQLite alone, and the files beside it are SQLite's own affair.

Closing any other handle to the file would drop the locks of the whole process, and with them its protection.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.store import Store
from engine.values import Answer, Attachment
from tests.engine.store.conftest import add_turn

ROOT = Path(__file__).parents[3]
PACKAGES = ["app", "engine", "ui", "local_training"]
RAW = re.compile(
    r"\b(?:open|fdopen|read_bytes|read_text|write_bytes|write_text|copy|copy2|copyfile|copytree|move|rename|replace"
    r"|unlink|remove|truncate|link|symlink_to|mmap)\("
)
SIDE_FILES = re.compile(r"-(?:wal|shm|journal)\b")

USES_A_STORE = """
import sys
from pathlib import Path

database, touched = sys.argv[1], []

def watch(event, arguments):
    if event in ("open", "os.remove", "os.rename", "os.truncate") and str(arguments[0]).startswith(database):
        touched.append(event)

sys.addaudithook(watch)
from engine.store import Store
from engine.values import Answer, Attachment

for number in range(2):
    with Store.open(Path(database)) as store:
        files = [Attachment("a", "b")]
        turn = store.open_turn("Hi", conversation_id=None, parent_turn_id=None, profile="starter", attachments=files)
        store.close_turn(Answer(turn.turn_id, "answered", "Hello", None))
        store.search("hi")
        store.add_copy(store.copy_of(turn.conversation_id))
        store.rebuild_search()
        store.backup(Path(f"{sys.argv[2]}-{number}"))
        assert store.integrity() == "ok"
    print(number, touched)
"""


def sources() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def test_J2_sqlite_is_used_by_the_store_and_by_the_copy_that_a_backup_takes_beside_it():
    users = {
        name
        for name, text in sources()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import) and any(alias.name == "sqlite3" for alias in node.names)
    }
    assert "engine/store/database.py" in users
    assert {name for name in users if not name.startswith("engine/store/")} <= {"app/backup/making.py"}


def test_J2_no_line_of_ours_opens_copies_or_moves_the_database_past_sqlite():
    found = [
        f"{name}: {line.strip()}"
        for name, text in sources()
        if not name.startswith("engine/store/")
        for line in text.splitlines()
        if "paths.database" in line and RAW.search(line.replace("Store.open(", "").replace("Database.open(", ""))
    ]
    assert found == []
    assert RAW.search("shutil.copy(paths.database, target)") and RAW.search("paths.database.open()")


def test_J2_the_files_beside_the_database_are_named_only_where_they_are_left_to_sqlite():
    named = {name for name, text in sources() if SIDE_FILES.search(text) and name != "app/home_swap.py"}
    assert {name for name in named if not name.startswith("engine/store/")} <= {"app/backup/restoring.py"}


def test_J2_a_store_opens_no_handle_of_its_own_to_a_database_that_is_there_and_removes_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", USES_A_STORE, str(tmp_path / "macaron.db"), str(tmp_path / "backup")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # Once, by us, to make the file before SQLite first opens it; then never again.
    assert done.stdout == "0 ['open']\n1 ['open']\n"


def locks_of(path: Path) -> list[str]:
    """The locks that this process holds on a file, as /proc/locks tells them."""
    inode = path.stat().st_ino
    lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    return [line for line in lines if f" {os.getpid()} " in line and f":{inode} " in line]


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="locks are told in /proc on Linux alone")
def test_J2_the_locks_on_the_database_outlive_everything_a_store_does(database_path, tmp_path):
    with Store.open(database_path) as store:
        turn = add_turn(store, "Hi")
        held = locks_of(database_path)
        assert held, "SQLite holds a lock for as long as the database is open"
        files = [Attachment("a", "b")]
        other = store.open_turn("Ho", conversation_id=None, parent_turn_id=None, profile="starter", attachments=files)
        store.close_turn(Answer(other.turn_id, "answered", "Hello", None))
        store.backup(tmp_path / "backup.db")
        store.add_copy(store.copy_of(turn.conversation_id))
        store.rate(turn.turn_id, 1)
        store.rebuild_search()
        assert store.integrity() == "ok"
        assert len(locks_of(database_path)) >= len(held)
        with database_path.open("rb"):
            pass  # what no code of ours may do
        assert locks_of(database_path) == []
