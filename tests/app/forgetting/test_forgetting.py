"""What was learned from a turn goes with it: lessons, runs, adapters; what is left elsewhere is named."""

import base64
import json
import shlex
import subprocess
import zipfile
from pathlib import Path

import pytest

import app.forgetting.files as files
from app.copies_made import copies_made, note_copy
from app.forgetting.forgetting import Forgetting
from app.opening import open_store
from app.paths import Paths
from app.teaching.folder import lessons_of
from engine.adapters.catalogue import Catalogue
from engine.adapters.records import Source
from engine.errors import HomeBusy, UsageProblem
from engine.forgetting import Forgotten, Wanted
from engine.signals.keeping import KeptSignals
from engine.store.forgetting import ForgettingStore
from tests.app.forgetting.learned import SECRET, adapter_of, correct, learned, lesson_of, run_of
from tests.app.running import macaron
from tests.support.remnants import files_with


def forget(paths: Paths, wanted: Wanted) -> Forgotten:
    with open_store(paths) as store:
        done = Forgetting(paths, store).forget(wanted)
        assert ForgettingStore(store.database, store.mender).steps() == ()
        assert store.integrity() == "ok"
    return done


def counts(done: Forgotten) -> dict[str, int]:
    return {place.kind: place.count for place in done.places}


def state_of(paths: Paths, content_hash: str) -> tuple[str, bool]:
    with open_store(paths) as store:
        record = Catalogue(store.database).details(content_hash).record
    return record.state, record.is_forgotten


def test_G5_H4_a_turn_that_was_learned_is_in_no_file_and_no_adapter_of_the_home(home: Path):
    taught = learned(home)
    assert {"macaron.db", f"lessons/{taught.lesson.lesson_id}/lesson.json"} <= set(files_with(home, "4711-Mitzi"))
    done = forget(taught.paths, Wanted(taught.turn_ids[0]))
    assert done.is_done and done.is_scrubbed
    assert files_with(home, "4711-Mitzi", SECRET) == []
    assert not taught.file.exists() and not taught.run.path.exists() and lessons_of(taught.paths) == []
    assert state_of(taught.paths, taught.record.content_hash) == ("retired", True)
    assert {"lessons": 1, "runs": 1, "adapters": 1}.items() <= counts(done).items()
    (retired,) = done.adapters
    assert (retired.content_hash, retired.expert, retired.was_answering) == (taught.record.content_hash, "L0", True)
    assert retired.corrections == 7


def test_H4_the_next_manifest_holds_the_other_corrections_only(home: Path):
    taught = learned(home)
    forget(taught.paths, Wanted(taught.turn_ids[0]))
    with open_store(taught.paths) as store:
        left = KeptSignals(store.database).corrections("L0")
    assert [one.turn_id for one in left] == list(taught.turn_ids[1:])
    assert not any(SECRET in f"{one.prompt}{one.before}{one.after}" for one in left)


def test_what_answered_before_and_does_not_hold_it_answers_again(home: Path):
    before = learned(home, "before", secret="Nothing special here.")
    taught = learned(home, "after")
    forget(taught.paths, Wanted(taught.turn_ids[0]))
    assert state_of(before.paths, before.record.content_hash) == ("champion", False)
    assert before.file.exists() and before.lesson.exists()


def test_none_that_holds_it_answers_again_however_many_did(home: Path):
    one = learned(home, "one")
    with open_store(one.paths) as store:
        records = [
            adapter_of(one.paths, store, name, [Source(one.turn_ids[0], "h")], parent="") for name in ("two", "three")
        ]
        # Trained on top of one that holds it: it holds it too.
        child = adapter_of(one.paths, store, "child", [Source("t-other")], parent=records[0].content_hash)
        catalogue = Catalogue(store.database)
        for record in (*records, child):
            catalogue.promote(record.content_hash)
        catalogue.begin_canary(records[1].content_hash)
    done = forget(one.paths, Wanted(one.turn_ids[0]))
    assert len(done.adapters) == 4
    with open_store(one.paths) as store:
        assert Catalogue(store.database).in_use("starter") == ()
    assert list(one.paths.adapters.iterdir()) == []
    with open_store(one.paths) as store, pytest.raises(UsageProblem, match="forgotten"):
        Catalogue(store.database).promote(child.content_hash)


def test_a_lesson_that_was_taught_together_with_one_that_goes_goes_too(home: Path):
    taught = learned(home)
    with open_store(taught.paths) as store:
        (other,) = correct(store, ["Another question?"])
        corrections = [one for one in KeptSignals(store.database).corrections() if one.turn_id == other]
        later = lesson_of(taught.paths, corrections, earlier=[taught.lesson.lesson_id])
    forget(taught.paths, Wanted(taught.turn_ids[0]))
    assert not later.exists()


def test_a_run_whose_data_names_the_turn_goes_and_so_does_the_adapter_that_was_brought_in_from_it(home: Path):
    taught = learned(home)
    run = run_of(taught.paths, "2026-11-30-mine", (), sources=[taught.turn_ids[0]], data_hash="d" * 64)
    other = run_of(taught.paths, "2026-11-30-other", (), sources=["t-other"], data_hash="e" * 64)
    with open_store(taught.paths) as store:
        mine = adapter_of(taught.paths, store, "mine", (), parent="", data_hash="d" * 64)
        kept = adapter_of(taught.paths, store, "kept", (), parent="", data_hash="e" * 64)
    forget(taught.paths, Wanted(taught.turn_ids[0]))
    assert not run.path.exists() and other.path.exists()
    assert state_of(taught.paths, mine.content_hash) == ("retired", True)
    assert state_of(taught.paths, kept.content_hash) == ("candidate", False)


def test_nothing_is_forgotten_while_a_lesson_is_taught_from_it(home: Path):
    taught = learned(home)
    with taught.lesson.held(), open_store(taught.paths) as store:
        with pytest.raises(HomeBusy, match="being taught"):
            Forgetting(taught.paths, store).forget(Wanted(taught.turn_ids[0]))
        assert store.turn(taught.turn_ids[0]).user_text == SECRET
        assert ForgettingStore(store.database, store.mender).steps() == ()


def test_words_of_a_turn_go_from_the_programs_own_files_and_are_named_in_the_users(home: Path):
    taught = learned(home)
    words = "4711-Mitzi"
    before = base64.b64encode(f"code: {words}".encode()).decode()
    texts = {
        "undo/a.json": json.dumps({"path": "/x", "before": before, "after_digest": ""}),
        "undo/b.json": json.dumps({"path": "/y", "before": None, "after_digest": ""}),
        "page/upload/notes.txt": f"My code is {words}.",
        "cache/evaluations/r.json": json.dumps({"key": taught.record.content_hash, "result": 1}),
        "cache/evaluations/s.json": json.dumps({"key": "f" * 32, "result": 1}),
        "host.log": f"something about {words}\n",
        "AGENTS.md": f"The code is {words}.",
        "models/base.gguf": words,
    }
    for name, text in texts.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")
    done = forget(taught.paths, Wanted(taught.turn_ids[0], words))
    assert files_with(home, words) == ["AGENTS.md", "models/base.gguf"]
    left = {name for name in texts if (home / name).exists()}
    assert left == {"undo/b.json", "cache/evaluations/s.json", "host.log", "AGENTS.md", "models/base.gguf"}
    assert (home / "host.log").read_bytes() == b""
    assert [(one.kind, one.path) for one in done.remaining] == [("file", str(home / "AGENTS.md"))]


def test_the_same_words_in_a_lesson_of_other_turns_leave_it_alone(home: Path):
    """They are in practice prompts that come with the program, too."""
    taught = learned(home)
    with open_store(taught.paths) as store:
        turn = store.open_turn("Question 3", conversation_id=None, parent_turn_id=None, profile="starter")
    done = forget(taught.paths, Wanted(turn.turn_id, "question 3"))
    assert done.adapters == () and taught.lesson.exists() and taught.file.exists()
    assert {place.kind: place.count for place in done.elsewhere}["messages"] == 2


def test_words_that_go_everywhere_take_what_was_learned_from_them(home: Path):
    taught = learned(home)
    done = forget(taught.paths, Wanted(span="4711-Mitzi", is_everywhere=True))
    assert [one.content_hash for one in done.adapters] == [taught.record.content_hash]
    assert files_with(home, "4711-Mitzi") == []


def test_every_place_of_a_home_is_known_to_whoever_forgets():
    """A folder or file that is new has its place in the map of `app.forgetting.files`."""
    said = files.__doc__ or ""
    paths = Paths(Path("/home"))
    names = {
        value.relative_to("/home").parts[0]
        for name, one in vars(Paths).items()
        if isinstance(one, property) and (value := getattr(paths, name)) != paths.lock
    }
    missing = {name for name in names if name not in said} - {"macaron.db", "settings.toml", "profiles"}
    assert missing == set()


# Copies


def test_backups_and_exports_are_named_with_the_command_that_removes_them(home: Path, tmp_path: Path):
    assert macaron("backup").code == 0  # holds nothing of it yet
    too_old = next((home / "backups").glob("*.zip"))
    set_back(too_old)
    taught = learned(home)
    elsewhere, exported = tmp_path / "mine 1.zip", tmp_path / "said.md"
    assert macaron("backup").code == 0 and macaron("backup", str(elsewhere)).code == 0
    conversation_id = conversation_of(taught.paths, taught.turn_ids[0])
    other = conversation_of(taught.paths, taught.turn_ids[1])
    for one, file in ((conversation_id, exported), (other, tmp_path / "other.md")):
        assert macaron("history", "export", one, "--output", str(file)).code == 0
    done = forget(taught.paths, Wanted(taught.turn_ids[0]))
    named = {one.path: one for one in done.remaining}
    in_home = {str(path) for path in (home / "backups").glob("*.zip")} - {str(too_old)}
    assert set(named) == {*in_home, str(elsewhere), str(exported)}
    for one in done.remaining:
        subprocess.run(shlex.split(one.command), check=True)
    assert not elsewhere.exists() and not exported.exists() and too_old.exists()
    assert [one.path for one in copies_made(taught.paths)] == [str(tmp_path / "other.md")]
    assert files_with(home, "4711-Mitzi") == []


def test_the_name_of_an_export_goes_with_the_title_it_was_called_after(home: Path, tmp_path: Path):
    taught = learned(home)
    folder = tmp_path / "out"
    assert macaron("history", "export", "--all", "--output", f"{folder}/").code == 0
    assert "copies.jsonl" in files_with(home, "4711-Mitzi")
    done = forget(taught.paths, Wanted(taught.turn_ids[0]))
    assert [Path(one.path).parent for one in done.remaining] == [folder]
    assert files_with(home, "4711-Mitzi") == []


def test_copies_that_are_gone_or_not_readable_are_not_named(home: Path, tmp_path: Path):
    home.mkdir()
    paths = Paths(home)
    note_copy(paths, "export", [tmp_path / "gone.md"], ["c-1"])
    with paths.copies.open("a", encoding="utf-8") as log:
        log.write('no json\n{"kind": "export"}\n')
    assert copies_made(paths) == []


def set_back(backup: Path) -> None:
    """Make a backup look older than anything that was said since: it counts in whole seconds."""
    with zipfile.ZipFile(backup) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries["manifest.json"])
    manifest["created_at"] = "2026-01-01T00:00:00+00:00"
    entries["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(backup, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)


def conversation_of(paths: Paths, turn_id: str) -> str:
    with open_store(paths) as store:
        return store.turn(turn_id).conversation_id
