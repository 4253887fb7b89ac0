"""A granted folder that may be written, one that may be read, and what lies around them."""

from pathlib import Path

import pytest

from engine.harness.builtin.files.grants import Grant
from engine.harness.builtin.files.toolbox import FileToolbox


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def books(tmp_path: Path) -> Path:
    folder = tmp_path / "books"
    folder.mkdir()
    return folder


@pytest.fixture
def own_home(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "macaron.db").write_text("everything")
    return folder


@pytest.fixture
def toolbox(notes: Path, books: Path, own_home: Path) -> FileToolbox:
    return FileToolbox([Grant(notes, "write"), Grant(books)], own_home / "undo", [own_home])
