"""`macaron models` as its user meets it: in a process of its own, in English and Chinese."""

import json
import shutil
from pathlib import Path

import pytest

from app.models.listing import first_start_note
from app.paths import Paths
from app.settings import load_settings
from tests.app.models.hub import Hub
from tests.app.models.pulls import FILE, REPO
from tests.app.running import Done, complaint, macaron

NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring", "HF_TOKEN": None}


def models(*arguments: str, given: bytes = b"", **changes: str | None) -> Done:
    return macaron("models", *arguments, given=given, changes={**NO_KEYRING, **changes})


def test_the_list_shows_profiles_bases_and_what_fits(home: Path):
    done = models("list")
    assert done.code == 0
    assert "starter" in done.out and "qwen3-4b" in done.out and "GB" in done.out
    in_chinese = models("list", LC_ALL="zh_CN.UTF-8")
    assert "可下载的基座模型" in in_chinese.out
    listed = models("list", "--json").json
    assert {"machine", "profiles", "bases", "recommended"} == set(listed)
    assert {base["fit"]["verdict"] for base in listed["bases"]} <= {"fits", "slow", "no"}


def test_pull_use_show_and_remove_work_together(home: Path, hub: Hub, model_bytes: bytes):
    pulled = models("pull", f"{REPO}:{FILE}", "--name", "tiny", HF_ENDPOINT=hub.endpoint)
    assert pulled.code == 0, pulled
    assert "apache-2.0" in pulled.out and "tiny" in pulled.out
    assert models("use", "tiny").code == 0
    assert load_settings(Paths(home).settings).profile == "tiny"
    shown = models("show", "tiny", "--json").json
    assert shown["size_bytes"] == len(model_bytes) and shown["source"]["repo"] == REPO
    assert "SHA-256" in models("show", "tiny").out
    assert "in use" in complaint(models("remove", "tiny", "--yes"), 2)
    assert models("use", "starter").code == 0
    assert "--yes" in complaint(models("remove", "tiny"), 2)
    removed = models("remove", "tiny", "--yes", "--json").json
    assert removed["file"] == "deleted" and removed["freed_bytes"] > len(model_bytes)
    assert not (home / "models" / FILE).exists()


def test_a_pull_tells_scripts_where_it_is_line_by_line(home: Path, hub: Hub, model_bytes: bytes):
    done = models("pull", REPO, "--json", HF_ENDPOINT=hub.endpoint)
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["event"] for line in lines if line["event"] != "progress"] == ["plan", "done"]
    progress = [line for line in lines if line["event"] == "progress"]
    assert progress[-1]["done_bytes"] == len(model_bytes) == progress[-1]["total_bytes"]
    assert done.err == ""


def test_a_pull_that_fails_says_why_in_the_form_that_was_asked_for(home: Path, hub: Hub):
    assert "owner/none" in complaint(models("pull", "owner/none", HF_ENDPOINT=hub.endpoint), 2)
    failed = models("pull", "owner/none", "--json", HF_ENDPOINT=hub.endpoint)
    assert failed.code == 2 and "owner/none" in failed.json["error"]["problem"]


def test_scan_and_add_find_the_models_of_other_programs(home: Path, tmp_path: Path, tiny_moe: Path):
    file = tmp_path / "user" / ".lmstudio" / "models" / "pub" / "repo" / "tiny.gguf"
    file.parent.mkdir(parents=True)
    shutil.copyfile(tiny_moe, file)
    (file.parent / "bad\x1b[31m.gguf").write_bytes(b"nothing")
    user = {"HOME": str(tmp_path / "user"), "XDG_CACHE_HOME": None}
    found = models("scan", **user)
    assert "pub/repo/tiny.gguf" in found.out and "Cannot be used" in found.out
    assert "\x1b" not in found.out
    added = models("add", "pub/repo/tiny.gguf", **user)
    assert added.code == 0 and "belongs to another program" in added.err
    assert "already" in complaint(models("add", "tiny.gguf", **user), 2)


def test_the_token_is_read_from_standard_input_and_never_echoed(home: Path):
    refused = models("token", "set", given=b"hf_secret\n")
    assert "HF_TOKEN" in complaint(refused, 1)
    assert "hf_secret" not in refused.out + refused.err
    assert models("token", "status", "--json", HF_TOKEN="hf_secret").json == {"token": "environment"}
    assert "hf_secret" not in models("token", "status", HF_TOKEN="hf_secret").out


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_first_start_says_what_this_machine_can_run(home: Path, language: str):
    note = first_start_note(Paths(home), language, {})
    assert "macaron models" in note and ("目前" in note) == (language == "zh")


def test_whoever_has_a_profile_of_their_own_gets_no_note(home: Path, starter_base: Path):
    assert models("add", str(starter_base), "--name", "mine").code == 0
    assert first_start_note(Paths(home), "en", {}) == ""
