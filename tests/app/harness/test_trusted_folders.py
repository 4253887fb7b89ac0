"""The list of trusted folders: private, whole or not there, and nothing is trusted where it is damaged."""

import json
import stat
import sys
import threading

import pytest

from app.harness.trusted_folders import MOST_FOLDERS, TrustedFolders
from engine.errors import UsageProblem

HASH = "0123456789abcdef" * 4


def test_trust_is_kept_by_path_and_hash(tmp_path):
    trusted = TrustedFolders(tmp_path / "trusted.json")
    assert trusted.hashes() == {}
    trusted.trust("/projects/项目", HASH)
    trusted.trust("/projects/b", HASH[::-1])
    trusted.trust("/projects/b", HASH)
    assert TrustedFolders(tmp_path / "trusted.json").hashes() == {"/projects/项目": HASH, "/projects/b": HASH}


def test_trust_can_be_taken_away(tmp_path):
    trusted = TrustedFolders(tmp_path / "trusted.json")
    trusted.trust("/projects/a", HASH)
    assert trusted.distrust("/projects/a") is True
    assert trusted.distrust("/projects/a") is False
    assert trusted.hashes() == {}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes.")
def test_the_file_is_its_owners_alone_and_nothing_is_left_beside_it(tmp_path):
    trusted = TrustedFolders(tmp_path / "trusted.json")
    trusted.trust("/projects/a", HASH)
    assert stat.S_IMODE((tmp_path / "trusted.json").stat().st_mode) == 0o600
    assert list(tmp_path.glob("*trusted*")) == [tmp_path / "trusted.json"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"format": 1, "fol', id="cut"),
        pytest.param(b"\xff", id="no_text"),
        pytest.param(b"[]", id="list"),
        pytest.param(b'{"format": 2, "folders": {}}', id="newer"),
        pytest.param(b'{"format": 1, "folders": {"/a": "yes"}}', id="no_hash"),
        pytest.param(b'{"format": 1, "folders": {"/a": null}}', id="null"),
        pytest.param(b'{"format": 1, "folders": []}', id="no_table"),
        pytest.param(b'{"format": 1, "folders": {}, "all": true}', id="more"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b" " * (1 << 20) + b'{"format": 1, "folders": {}}', id="large"),
    ],
)
def test_a_damaged_file_trusts_nothing_and_is_not_written_over(tmp_path, content):
    file = tmp_path / "trusted.json"
    file.write_bytes(content)
    trusted = TrustedFolders(file)
    with pytest.raises(UsageProblem, match="no folder is trusted"):
        trusted.hashes()
    with pytest.raises(UsageProblem):
        trusted.trust("/projects/a", HASH)
    assert file.read_bytes() == content


def test_a_file_that_cannot_be_read_trusts_nothing(tmp_path):
    (tmp_path / "trusted.json").mkdir()
    with pytest.raises(UsageProblem, match="no folder is trusted"):
        TrustedFolders(tmp_path / "trusted.json").hashes()


def test_the_list_is_bounded(tmp_path):
    file = tmp_path / "trusted.json"
    folders = {f"/projects/{number}": HASH for number in range(MOST_FOLDERS)}
    file.write_text(json.dumps({"format": 1, "folders": folders}))
    with pytest.raises(UsageProblem, match="trusted already"):
        TrustedFolders(file).trust("/projects/one-more", HASH)
    TrustedFolders(file).trust("/projects/0", HASH[::-1])


def test_two_who_trust_at_once_lose_nothing(tmp_path):
    trusted = TrustedFolders(tmp_path / "trusted.json")
    threads = [threading.Thread(target=trusted.trust, args=(f"/projects/{number}", HASH)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(trusted.hashes()) == 12
