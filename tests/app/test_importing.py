"""`macaron history import`: exact, as often as one likes, and bounded whatever the file is."""

import json
import resource
import stat
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import importing
from app.importing import Imported, import_file
from app.library import StoreLibrary
from app.opening import open_store
from app.paths import Paths
from engine.store import Store
from engine.values import TurnRecord
from tests.app.running import macaron
from ui.export import to_json

GIB = 1 << 30


@pytest.fixture
def exported(home: Path, earlier: TurnRecord) -> bytes:
    with open_store(Paths(home)) as store:
        return json.dumps(to_json(store.copy_of(earlier.conversation_id))).encode()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[StoreLibrary]:
    """Another, empty home's."""
    with Store.open(tmp_path / "other" / "macaron.db") as store:
        yield StoreLibrary(store)


def outcomes(library: StoreLibrary, path: Path) -> list[str]:
    return [result.outcome for result in import_file(library, path)]


def refused(library: StoreLibrary, path: Path) -> Imported:
    """The only result, which must be a refusal that says what to do."""
    (result,) = import_file(library, path)
    assert result.outcome == "refused" and result.problem and result.hint
    assert not library.conversations()
    return result


def archive_of(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def test_J5_an_export_comes_back_once_however_often_it_is_imported(home: Path, exported: bytes, tmp_path: Path):
    file = tmp_path / "export.json"
    file.write_bytes(exported)
    other = ("--home", str(tmp_path / "elsewhere"))
    first = macaron("history", "import", str(file), "--json", *other)
    assert (first.code, first.json["added"], first.json["known"]) == (0, 1, 0)
    again = macaron("history", "import", str(file), str(file), "--json", *other)
    assert (again.code, again.json["added"], again.json["known"]) == (0, 0, 2)
    (listed,) = macaron("history", "list", "--json", *other).json
    assert listed["turn_count"] == 1
    (turn,) = macaron("history", "show", listed["conversation_id"], "--json", *other).json["turns"]
    assert turn["provenance"] == "imported", "F-4: what comes from a file was not typed here"


def test_J5_an_import_overwrites_nothing_by_the_id_it_claims(home: Path, exported: bytes, tmp_path: Path):
    data = json.loads(exported)
    data["turns"][0]["answer_text"] = "something else"
    file = tmp_path / "forged.json"
    file.write_text(json.dumps(data))
    with open_store(Paths(home)) as store:
        library = StoreLibrary(store)
        before = {one.conversation_id: store.copy_of(one.conversation_id) for one in library.conversations()}
        assert "refused" not in outcomes(library, file)
        assert all(store.copy_of(conversation_id) == copy for conversation_id, copy in before.items())


def test_lines_and_archives_hold_several_and_each_stands_by_itself(
    library: StoreLibrary, exported: bytes, tmp_path: Path
):
    lines = tmp_path / "export.jsonl"
    lines.write_bytes(exported + b"\nnot json\n\n" + exported + b"\n")
    assert outcomes(library, lines) == ["added", "refused", "known"]
    archive = archive_of(tmp_path / "export.zip", {"a/one.json": exported, "two.json": b"{}"})
    assert outcomes(library, archive) == ["known", "refused"]


def test_several_that_were_printed_are_read_whatever_the_file_is_called(
    library: StoreLibrary, exported: bytes, tmp_path: Path
):
    file = tmp_path / "all.txt"
    file.write_bytes(exported + b"\n" + exported + b"\n")
    assert outcomes(library, file) == ["added", "known"]


def test_an_indented_export_with_a_byte_order_mark_is_read(library: StoreLibrary, exported: bytes, tmp_path: Path):
    file = tmp_path / "export.json"
    file.write_text(json.dumps(json.loads(exported), indent=1), encoding="utf-8-sig")
    assert outcomes(library, file) == ["added"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"", "not valid JSON", id="empty"),
        pytest.param(b"\xff\xfe", "not UTF-8", id="not text"),
        pytest.param(b'{"a": ' + b"[" * 100_000, "JSON|nested", id="deep"),
        pytest.param(b'{"a": ' + b"[{}," * 1_500_000, "more parts", id="many parts"),
        pytest.param(b'{"a": ' + b"9" * 10_000 + b"}", "JSON", id="long number"),
        pytest.param(b'{"format": "macaron-conversation", "version": NaN}', "version", id="nan"),
    ],
)
def test_a_file_that_is_no_export_is_refused(library: StoreLibrary, data: bytes, words: str, tmp_path: Path):
    file = tmp_path / "export.json"
    file.write_bytes(data)
    assert any(word in refused(library, file).problem for word in words.split("|"))


def test_a_file_that_is_not_there_is_refused_and_the_exit_code_says_so(tmp_path: Path):
    done = macaron("history", "import", str(tmp_path / "none.json"))
    assert done.code == 1
    assert done.out.startswith("refused  ") and "cannot be read" in done.out


@pytest.mark.parametrize(
    "name",
    [
        "../escape.json",
        "/etc/passwd",
        "a/../../b.json",
        "..\\escape.json",
        "c:\\x.json",
        "a\nb.json",
        "./x.json",
        "a//b",
    ],
)
def test_B1_B4_an_entry_whose_name_leads_elsewhere_is_refused(
    library: StoreLibrary, exported: bytes, name: str, tmp_path: Path
):
    archive = archive_of(tmp_path / "slip.zip", {name: exported})
    assert "name" in refused(library, archive).problem
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "other", "slip.zip"]


def test_B4_a_link_in_an_archive_is_refused(library: StoreLibrary, tmp_path: Path):
    link = zipfile.ZipInfo("link.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert "no file" in refused(library, tmp_path / "link.zip").problem


def test_B4_a_bomb_is_refused_before_it_unfolds(library: StoreLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importing, "MOST_BYTES", 1 << 20)
    archive = archive_of(tmp_path / "bomb.zip", {"bomb.json": bytes(200 << 20)})
    assert archive.stat().st_size < 1 << 20
    assert "more than 1 MB" in refused(library, archive).problem


def test_B4_what_an_archive_says_of_a_size_is_not_believed(
    library: StoreLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(importing, "MOST_BYTES", 1 << 20)
    archive = archive_of(tmp_path / "liar.zip", {"bomb.json": bytes(8 << 20)})
    data = archive.read_bytes().replace(struct.pack("<I", 8 << 20), struct.pack("<I", 100))
    archive.write_bytes(data)
    refused(library, archive)


def test_B4_many_bombs_in_one_archive_are_given_up_together(
    library: StoreLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(importing, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(importing, "_MOST_UNPACKED_BYTES", 4 << 20)
    archive = archive_of(tmp_path / "bombs.zip", {f"{number}.json": bytes(2 << 20) for number in range(50)})
    results = list(import_file(library, archive))
    assert len(results) == 5 and "unpacks to too much" in results[-1].problem


def test_B4_a_million_entries_are_refused_in_bounded_memory(library: StoreLibrary, tmp_path: Path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    path = tmp_path / "entries.zip"
    with path.open("wb") as file:
        entry = (
            struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, *([0] * 4), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
        )
        file.write(b"PK\x03\x04" + bytes(26))
        for _ in range(100):
            file.write(entry * 10_000)
        size = len(entry) * 1_000_000
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, size, 30, 0))
    assert "more than 20,000 entries" in refused(library, path).problem
    grown_mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown_mib < 64


@pytest.mark.parametrize("damage", ["cut", "flipped", "encrypted", "lzma"])
def test_B4_a_damaged_or_strange_archive_is_refused(
    library: StoreLibrary, exported: bytes, damage: str, tmp_path: Path
):
    path = tmp_path / "bad.zip"
    method = zipfile.ZIP_LZMA if damage == "lzma" else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("one.json", exported)
    data = bytearray(path.read_bytes())
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "flipped":
        data[len(data) // 3] ^= 0xFF
    elif damage == "encrypted":
        data[6] |= 1
        data[bytes(data).rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    refused(library, path)


def test_a_file_full_of_nonsense_is_given_up_after_a_hundred_refusals(library: StoreLibrary, tmp_path: Path):
    file = tmp_path / "nonsense.jsonl"
    file.write_bytes(b"x\n" * 1_000_000)
    results = list(import_file(library, file))
    assert len(results) == 101 and "rest was not read" in results[-1].problem


def test_a_line_without_an_end_is_not_read_into_memory(
    library: StoreLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(importing, "MOST_BYTES", 1 << 20)
    for name in ("endless.jsonl", "endless.json"):
        file = tmp_path / name
        with file.open("wb") as out:
            out.truncate(8 * GIB)  # sparse
        assert "larger than" in refused(library, file).problem


def test_a_name_with_control_characters_reaches_no_terminal(exported: bytes, tmp_path: Path):
    archive = archive_of(tmp_path / "names.zip", {"\x1b[2J.json": exported})
    done = macaron("history", "import", str(archive))
    assert done.code == 1 and "\x1b" not in done.out
