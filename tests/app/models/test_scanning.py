"""Models of other programs are found by their names, read with distrust, and left as they are."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from app.models.scanning import Found, Places, scan, usual_places


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """The home of a user of other programs."""
    folder = tmp_path / "user"
    folder.mkdir()
    return folder


def put(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    return target


def ollama(folder: Path, name: str, model: Path, **changes: object) -> Path:
    """Put a model where Ollama would; `name` as `registry/namespace/model/tag`."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    blob = put(model, folder / "blobs" / f"sha256-{digest}")
    layers = [
        {"mediaType": "application/vnd.ollama.image.template", "digest": "sha256:" + "1" * 64},
        {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{digest}", **changes},
        {"mediaType": "application/vnd.ollama.image.projector", "digest": "sha256:" + "2" * 64},
    ]
    manifest = folder / "manifests" / name
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": layers}), encoding="utf-8")
    return blob


def names(found: tuple[Found, ...]) -> dict[str, str]:
    return {one.name: one.problem for one in found}


def test_models_of_ollama_have_the_names_ollama_shows(elsewhere: Path, tiny_moe: Path):
    folder = elsewhere / ".ollama" / "models"
    blob = ollama(folder, "registry.ollama.ai/library/tiny/3b", tiny_moe)
    ollama(folder, "registry.ollama.ai/someone/tiny/latest", tiny_moe)
    ollama(folder, "hf.co/owner/repo/Q4_K_M", tiny_moe)
    found = scan(usual_places({"HOME": str(elsewhere)}))
    assert names(found) == {"tiny:3b": "", "someone/tiny:latest": "", "hf.co/owner/repo:Q4_K_M": ""}
    assert blob in {one.path for one in found} and {one.origin for one in found} == {"ollama"}


@pytest.mark.parametrize("digest", ["sha256:../../../etc/passwd", "sha256:" + "A" * 64, "", 7, None])
def test_B1_a_manifest_cannot_lead_out_of_the_folder(elsewhere: Path, tiny_moe: Path, digest: object):
    ollama(elsewhere / ".ollama" / "models", "registry.ollama.ai/library/evil/1", tiny_moe, digest=digest)
    assert scan(usual_places({"HOME": str(elsewhere)})) == ()


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"layers": 3}', b'{"layers": [1, null]}', b"\xff", b"[" * 100_000, b" " * 2_000_000]
)
def test_a_manifest_that_is_none_is_passed_over(elsewhere: Path, content: bytes):
    manifest = elsewhere / ".ollama" / "models" / "manifests" / "registry.ollama.ai" / "library" / "x" / "1"
    manifest.parent.mkdir(parents=True)
    manifest.write_bytes(content)
    assert scan(usual_places({"HOME": str(elsewhere)})) == ()


def test_models_of_lm_studio_are_found_in_old_new_and_moved_folders(elsewhere: Path, tiny_moe: Path):
    put(tiny_moe, elsewhere / ".lmstudio" / "models" / "pub" / "repo" / "a.gguf")
    put(tiny_moe, elsewhere / ".cache" / "lm-studio" / "models" / "pub" / "repo" / "b.gguf")
    put(tiny_moe, elsewhere / "moved" / "models" / "pub" / "repo" / "c.gguf")
    (elsewhere / ".lmstudio-home-pointer").write_text(f"{elsewhere / 'moved'}\n", encoding="utf-8")
    found = scan(usual_places({"HOME": str(elsewhere)}))
    assert set(names(found)) == {"pub/repo/a.gguf", "pub/repo/b.gguf", "pub/repo/c.gguf"}


def test_the_hub_cache_is_read_through_its_links_and_each_model_counts_once(elsewhere: Path, tiny_moe: Path):
    cache = elsewhere / ".cache" / "huggingface" / "hub" / "models--Owner--Repo-GGUF"
    blob = put(tiny_moe, cache / "blobs" / "abc")
    for revision in ("one", "two"):
        link = cache / "snapshots" / revision / "m.gguf"
        link.parent.mkdir(parents=True)
        link.symlink_to(blob)
    (found,) = scan(usual_places({"HOME": str(elsewhere)}))
    assert (found.name, found.origin, found.base is not None) == ("Owner/Repo-GGUF/m.gguf", "hub", True)


def test_the_variables_of_those_programs_decide_where_they_are_looked_for():
    places = usual_places(
        {"HOME": "/h", "OLLAMA_MODELS": "/o", "HF_HOME": "/f", "LLAMA_CACHE": "/l", "XDG_CACHE_HOME": "/x"}
    )
    assert (places.ollama, places.hub, places.llama_cpp) == ((Path("/o"),), (Path("/f/hub"),), (Path("/l"),))
    assert Path("/x/lm-studio/models") in places.lmstudio
    assert usual_places({"HOME": "/h", "HF_HUB_CACHE": "/c"}).hub == (Path("/c"),)
    assert usual_places({"HOME": "/h"}, platform="darwin").llama_cpp == (Path("/h/Library/Caches/llama.cpp"),)


def test_what_cannot_be_a_base_is_listed_with_the_reason(tmp_path: Path, tiny_moe: Path):
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(500))
    (tmp_path / "zip.gguf").write_bytes(b"PK\3\4" + bytes(500))
    put(tiny_moe, tmp_path / "part-00002-of-00004.gguf")
    (tmp_path / "mmproj-f16.gguf").write_bytes(b"GGUF")
    (tmp_path / "deep").mkdir()
    put(tiny_moe, tmp_path / "deep" / "good.GGUF")
    (tmp_path / "deep" / "dangling.gguf").symlink_to(tmp_path / "nowhere")
    (tmp_path / "deep" / "loop").symlink_to(tmp_path)
    found = names(scan(Places(folders=(tmp_path,))))
    assert found.pop("good.GGUF") == ""
    assert set(found) == {"bad.gguf", "zip.gguf", "part-00002-of-00004.gguf", "dangling.gguf"}
    assert "split into 4 files" in found["part-00002-of-00004.gguf"] and "not a GGUF" in found["zip.gguf"]
    assert all(found.values())


def test_scanning_changes_nothing(elsewhere: Path, tiny_moe: Path):
    ollama(elsewhere / ".ollama" / "models", "registry.ollama.ai/library/tiny/3b", tiny_moe)
    before = {path: path.stat().st_mtime_ns for path in elsewhere.rglob("*")}
    scan(usual_places({"HOME": str(elsewhere)}))
    assert {path: path.stat().st_mtime_ns for path in elsewhere.rglob("*")} == before
