"""A backup holds what cannot be made again and nothing secret; a restore is all or nothing, whenever it is cut off."""

import hashlib
import io
import json
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from app.backup import manifest as manifests
from app.backup import run_backup, run_restore, run_verify
from app.backup.making import make_backup, remove_older
from app.backup.manifest import is_kept, parse_manifest
from app.home_lock import hold_home
from app.home_swap import finish_restore, make_ready, swap
from app.opening import open_store
from app.paths import Paths
from engine.errors import AgentError, DiskFull, UsageProblem
from engine.values import Answer, TurnRecord
from tests.app.conftest import SAID
from tests.app.running import complaint, environment, macaron


@pytest.fixture
def full(home: Path, earlier: TurnRecord) -> Path:
    """A home with everything that a backup keeps, and with what it must not."""
    (home / "settings.toml").write_text("threads = 1\n")
    (home / "profiles" / "mine" / "adapters").mkdir(parents=True)
    (home / "profiles" / "mine" / "profile.toml").write_text('title = "Mine"\n')
    (home / "profiles" / "mine" / "adapters" / "l0.gguf").write_bytes(b"GGUF adapter")
    (home / "profiles" / "mine" / "base.gguf").symlink_to("/nowhere/base.gguf")
    (home / "adapters").mkdir()
    (home / "adapters" / "coding.gguf").write_bytes(b"GGUF personal")
    (home / "models").mkdir()
    (home / "models" / "big.gguf").write_bytes(b"GGUF base")
    (home / "face.token").write_text("top-secret-face")
    (home / "api.key").write_text("top-secret-key")
    return home


def say_more(home: Path, text: str) -> None:
    with open_store(Paths(home)) as store:
        turn = store.open_turn(text, conversation_id=None, parent_turn_id=None, profile="starter")
        store.close_turn(Answer(turn.turn_id, "answered", "ok", None))


def said(home: Path) -> list[str]:
    """What was asked in every conversation; the database must be in order."""
    with open_store(Paths(home)) as store:
        assert store.integrity() == "ok"
        return sorted(store.path(one.leaf_turn_id)[0].user_text for one in store.conversations())


def names_in(backup: Path) -> set[str]:
    with zipfile.ZipFile(backup) as archive:
        return set(archive.namelist())


def rewritten(backup: Path, target: Path, change) -> Path:
    """A copy of the backup after `change(entries by name)`; its manifest is not corrected."""
    with zipfile.ZipFile(backup) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return target


def with_manifest(entries: dict[str, bytes], **changes) -> None:
    entries["manifest.json"] = json.dumps({**json.loads(entries["manifest.json"]), **changes}).encode()


def corrected(entries: dict[str, bytes]) -> None:
    """Make the manifest agree with what is there, as a forger would."""
    files = [
        {"path": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in entries.items()
        if name != "manifest.json"
    ]
    with_manifest(entries, files=files)


@pytest.fixture
def backup(full: Path, tmp_path: Path) -> Path:
    target = tmp_path / "b.zip"
    (full / "backups").mkdir()
    with open_store(Paths(full)) as store:
        make_backup(Paths(full), target, store.backup, lambda done, total: None)
    return target


def test_a_backup_holds_all_but_models_and_secrets(full: Path, backup: Path):
    assert names_in(backup) == {
        "macaron.db",
        "settings.toml",
        "profiles/mine/profile.toml",
        "profiles/mine/adapters/l0.gguf",
        "adapters/coding.gguf",
        "manifest.json",
    }
    with zipfile.ZipFile(backup) as archive:
        manifest = parse_manifest(archive.read("manifest.json"))
        contents = b"".join(archive.read(name) for name in archive.namelist())
    assert {left.path for left in manifest.models} == {"models/big.gguf", "profiles/mine/base.gguf"}
    assert b"top-secret" not in contents
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert macaron("verify", str(backup), "--json").json["ok"]


def test_without_a_name_it_goes_into_the_home_and_only_the_newest_stay(full: Path):
    for _ in range(3):
        done = macaron("backup", "--keep", "2", "--json")
        assert done.code == 0
    kept = list((full / "backups").iterdir())
    assert len(kept) == 2 and Path(done.json["file"]) in kept
    assert len(done.json["removed"]) == 1
    assert stat.S_IMODE((full / "backups").stat().st_mode) == 0o700


def test_backups_of_the_same_second_are_told_apart_by_their_number(tmp_path: Path):
    for ending in ("", "-2", "-10"):
        (tmp_path / f"macaron-20260101-000000{ending}.zip").touch()
    removed = remove_older(tmp_path, "macaron", 1)
    assert [path.name for path in removed] == ["macaron-20260101-000000.zip", "macaron-20260101-000000-2.zip"]


def test_J3_what_the_user_named_is_never_removed_as_too_old(tmp_path: Path):
    ours = [f"macaron-2026010{day}-000000.zip" for day in range(1, 5)]
    for name in (*ours, "mine.zip", "macaron-x.zip", "before-restore-20260101-000000.zip"):
        (tmp_path / name).touch()
    removed = remove_older(tmp_path, "macaron", 2, spare=tmp_path / ours[0])
    assert [path.name for path in removed] == [ours[1]]
    assert (tmp_path / "mine.zip").exists() and (tmp_path / ours[0]).exists()


def test_a_file_that_is_there_is_only_overwritten_on_demand(backup: Path):
    assert "already exists" in complaint(macaron("backup", str(backup)), 2)
    assert macaron("backup", str(backup), "--force").code == 0


def test_a_backup_is_taken_beside_a_process_that_holds_the_home_and_writes(full: Path, tmp_path: Path):
    with open_store(Paths(full)) as store:
        store.open_turn("said meanwhile", conversation_id=None, parent_turn_id=None, profile="starter")
        assert macaron("backup", str(tmp_path / "live.zip")).code == 0
        assert macaron("verify").code == 0
    assert macaron("verify", str(tmp_path / "live.zip")).code == 0
    assert macaron("restore", str(tmp_path / "live.zip"), "--home", str(tmp_path / "new")).code == 0
    assert said(tmp_path / "new") == sorted(["said meanwhile", SAID])


def test_what_is_said_on_screen_is_in_the_language(full: Path):
    assert "已备份到" in macaron("backup", changes={"LC_ALL": "zh_CN.UTF-8"}).out


def test_a_restore_brings_everything_back_and_puts_what_was_here_aside(full: Path, backup: Path):
    say_more(full, "later")
    (full / "settings.toml").write_text("threads = 2\n")
    (full / "adapters" / "newer.gguf").write_bytes(b"GGUF newer")
    done = macaron("restore", str(backup), "--json")
    assert done.code == 0, done
    assert said(full) == [SAID]
    assert (full / "settings.toml").read_text() == "threads = 1\n"
    assert not (full / "adapters" / "newer.gguf").exists()
    assert (full / "models" / "big.gguf").exists() and (full / "face.token").read_text() == "top-secret-face"
    assert done.json["missing_models"] == ["profiles/mine/base.gguf"]
    assert not (full / ".restore").exists()
    # And back again, from what was put aside.
    assert macaron("restore", done.json["put_aside"]).code == 0
    assert said(full) == sorted([SAID, "later"])
    assert (full / "adapters" / "newer.gguf").exists()


def test_a_restored_home_is_private(full: Path, backup: Path, tmp_path: Path):
    new = tmp_path / "new"
    assert macaron("restore", str(backup), "--home", str(new)).code == 0
    for path in (new, *new.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_restore_waits_for_nobody_but_says_who_holds_the_home(full: Path, backup: Path):
    with hold_home(Paths(full)):
        assert "macaron serve --stop" in complaint(macaron("restore", str(backup)), 1)
    assert said(full) == [SAID]


def test_a_damaged_home_is_put_aside_as_it_is(full: Path, backup: Path):
    damaged = b"SQLite format 3\0" + bytes(5000)
    (full / "macaron.db").write_bytes(damaged)
    (full / "macaron.db-wal").write_bytes(b"half a log")
    done = macaron("restore", str(backup), "--json")
    assert done.code == 0, done
    aside = Path(done.json["put_aside"])
    assert (aside / "macaron.db").read_bytes() == damaged
    assert (aside / "macaron.db-wal").read_bytes() == b"half a log"
    assert said(full) == [SAID]


BAD_BACKUPS = {
    "flipped byte": lambda entries: entries.update({"settings.toml": b"threads = 9\n"}),
    "missing file": lambda entries: entries.pop("settings.toml"),
    "extra file": lambda entries: entries.update({"face.token": b"forged"}),
    "a secret that the manifest names": lambda entries: (entries.update({"face.token": b"x"}), corrected(entries)),
    "a place outside": lambda entries: (entries.update({"../evil": b"x"}), corrected(entries)),
    "a place within a profile that leads out": lambda entries: (
        entries.update({"profiles/../../evil": b"x"}),
        corrected(entries),
    ),
    "no database": lambda entries: (entries.pop("macaron.db"), corrected(entries)),
    "a database that is none": lambda entries: (entries.update({"macaron.db": b"x" * 9000}), corrected(entries)),
    "no manifest": lambda entries: entries.pop("manifest.json"),
    "manifest that is no JSON": lambda entries: entries.update({"manifest.json": b"{"}),
    "newer format": lambda entries: with_manifest(entries, version=2),
    "another format": lambda entries: with_manifest(entries, format="other"),
    "negative size": lambda entries: with_manifest(entries, files=[{"path": "macaron.db", "bytes": -1, "sha256": "0"}]),
}


@pytest.mark.parametrize("change", BAD_BACKUPS.values(), ids=BAD_BACKUPS)
def test_B1_B4_a_backup_that_is_not_what_it_says_changes_nothing(change, full: Path, backup: Path, tmp_path: Path):
    say_more(full, "later")
    bad = rewritten(backup, tmp_path / "bad.zip", change)
    before = {path: path.read_bytes() for path in full.rglob("*") if path.is_file() and not path.name.endswith("-shm")}
    with pytest.raises(AgentError) as caught:
        run_restore(Paths(full), str(bad), as_json=True)
    assert caught.value.problem and caught.value.hint
    assert {path: path.read_bytes() for path in before} == before
    assert not (full / ".restore").exists() and not (tmp_path / "evil").exists()
    try:
        assert run_verify(Paths(full), str(bad), salvage_to=None, as_json=True) == 1
    except UsageProblem as refusal:
        assert refusal.hint


def test_J3_a_newer_database_is_refused_and_the_home_stays(full: Path, backup: Path, tmp_path: Path):
    def newer(entries: dict[str, bytes]) -> None:
        file = tmp_path / "newer.db"
        file.write_bytes(entries["macaron.db"])
        with closing(sqlite3.connect(file)) as connection, connection:
            (table,) = connection.execute("SELECT name FROM sqlite_master WHERE name LIKE '%migrations%'").fetchone()
            connection.execute(
                f"INSERT INTO {table} (migration_set, name, applied_at) VALUES ('macaron', 'm999_future', '2030')"
            )
        entries["macaron.db"] = file.read_bytes()
        corrected(entries)

    bad = rewritten(backup, tmp_path / "newer.zip", newer)
    assert "newer version" in complaint(macaron("restore", str(bad)), 1)
    assert said(full) == [SAID]


@pytest.mark.parametrize("what", ["nothing", "text", "an archive of something else", "a truncated backup"])
def test_what_is_no_backup_is_refused(what: str, full: Path, backup: Path, tmp_path: Path):
    file = tmp_path / "file.zip"
    if what == "text":
        file.write_text("no archive")
    elif what == "an archive of something else":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("x", "y")
    elif what == "a truncated backup":
        file.write_bytes(backup.read_bytes()[:-40])
    for refuse in (
        lambda: run_restore(Paths(full), str(file), as_json=True),
        lambda: run_verify(Paths(full), str(file), salvage_to=None, as_json=True),
    ):
        with pytest.raises(UsageProblem) as caught:
            refuse()
        assert caught.value.hint
    assert said(full) == [SAID]


def test_a_full_disk_is_seen_before_anything_is_written(full: Path, monkeypatch: pytest.MonkeyPatch):
    usage = shutil.disk_usage(full)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage._replace(free=1 << 20))
    with pytest.raises(DiskFull, match="may need"):
        run_backup(Paths(full), None, keep=5, force=False, as_json=False)
    assert list((full / "backups").iterdir()) == []


def restore_and_die(home: Path, backup: Path, step: int) -> int:
    """The exit code of a restore that is killed at this step, which is -9 when it had so many steps."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.restoring", str(home), str(backup), str(step)],
        env=environment(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode


@pytest.mark.parametrize(
    "stride", [pytest.param(9, id="every ninth step"), pytest.param(1, id="every step", marks=pytest.mark.slow)]
)
@pytest.mark.timeout(900)
def test_a_restore_that_is_killed_leaves_the_old_home_or_the_new_one(
    stride: int, full: Path, backup: Path, tmp_path: Path
):
    say_more(full, "later")
    (full / "settings.toml").write_text("threads = 2\n")
    seen = set()
    for step in range(1, 500, stride):
        home = tmp_path / f"home-{step}"
        shutil.copytree(full, home, symlinks=True)
        code = restore_and_die(home, backup, step)
        # The next thing anyone does finds all of the one or all of the other.
        found = tuple(one["title"] for one in macaron("history", "list", "--json", "--home", str(home)).json)
        threads = (home / "settings.toml").read_text()
        state = (sorted(found), threads, (home / "profiles" / "mine" / "profile.toml").exists())
        assert state in (
            (sorted([SAID, "later"]), "threads = 2\n", True),
            ([SAID], "threads = 1\n", True),
        ), (step, state)
        assert not (home / ".restore").exists()
        assert said(home)
        seen.add(threads)
        if code == 0:
            break
    else:
        pytest.fail("it never ended")
    assert len(seen) == 2, "some kills come before the swap and some after"


def test_what_was_made_ready_and_never_used_is_removed_by_the_next_start(full: Path):
    (make_ready(Paths(full)) / "macaron.db").write_bytes(b"half")
    assert said(full) == [SAID]
    assert not (full / ".restore").exists()


def test_what_was_put_aside_is_never_overwritten_when_a_swap_is_finished(full: Path):
    """A home in which something was made anew between the kill and the next start."""
    paths = Paths(full)
    (make_ready(paths) / "settings.toml").write_text("new")
    (paths.restore / "old" / "settings.toml").write_text("old")
    (paths.restore / "plan.json").write_text(
        json.dumps({"names": ["settings.toml"], "keep_old_in": "kept", "step": "aside"})
    )
    finish_restore(paths)
    assert paths.settings.read_text() == "new"
    assert (paths.backups / "kept" / "settings.toml").read_text() == "old"
    assert (paths.backups / "kept" / "settings.toml.2").read_text() == "threads = 1\n"


def test_a_plan_that_cannot_be_read_stops_everything_rather_than_guess(full: Path):
    paths = Paths(full)
    make_ready(paths)
    (paths.restore / "plan.json").write_text("{")
    with pytest.raises(AgentError, match="plan") as caught:
        finish_restore(paths)
    assert "by hand" in caught.value.hint
    assert "plan" in complaint(macaron("history", "list"), 1)


def test_a_swap_takes_names_that_are_not_there_as_nothing(full: Path):
    paths = Paths(full)
    (make_ready(paths) / "settings.toml").write_text("new")
    swap(paths, ["settings.toml", "macaron.db-wal", "adapters"])
    assert paths.settings.read_text() == "new" and not paths.adapters.exists()


@pytest.mark.parametrize(
    ("path", "is_fine"),
    [
        ("macaron.db", True),
        ("profiles/a/profile.toml", True),
        ("adapters/x.gguf", True),
        ("profiles", False),
        ("macaron.db/x", False),
        ("face.token", False),
        ("models/x.gguf", False),
        ("profiles/../face.token", False),
        ("profiles//x", False),
        ("/profiles/x", False),
        ("profiles\\x", False),
        ("profiles/a\nb", False),
        ("", False),
    ],
)
def test_B1_a_manifest_names_only_what_a_backup_may_hold(path: str, is_fine: bool):
    assert is_kept(path) == is_fine


def test_a_manifest_that_names_a_file_twice_is_refused():
    entry = {"path": "macaron.db", "bytes": 1, "sha256": "0" * 64}
    data = {"format": manifests.FORMAT, "version": 1, "program": "x", "created_at": "y", "models": []}
    with pytest.raises(UsageProblem, match="twice"):
        parse_manifest(
            json.dumps(
                {**data, "files": [entry, {**entry, "path": "adapters/x"}, {**entry, "path": "adapters/X"}]}
            ).encode()
        )


def test_verify_says_what_is_wrong_with_a_home_and_salvage_saves_what_can_be_read(full: Path, tmp_path: Path):
    assert macaron("verify").code == 0
    saved = tmp_path / "saved.db"
    done = macaron("verify", "--salvage", str(saved), "--json")
    assert done.code == 0 and done.json["ok"]
    assert {table["table"]: table["saved"] for table in done.json["tables"]}["conversations"] == 1
    assert "already exists" in complaint(macaron("verify", "--salvage", str(saved)), 2)
    (full / "macaron.db").write_bytes(b"SQLite format 3\0" + bytes(5000))
    found = macaron("verify", "--json")
    assert found.code == 1 and not found.json["ok"] and found.json["hint"]
    assert "Traceback" not in macaron("verify").err


def test_the_archive_is_plain_enough_for_other_programs(backup: Path):
    with zipfile.ZipFile(io.BytesIO(backup.read_bytes())) as archive:
        assert archive.testzip() is None
