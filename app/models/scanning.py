"""GGUF files that other programs keep on this machine. Reads what they wrote, trusts none of it, changes nothing."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from app.models.headers import BaseFile, read_base, split_place
from engine.errors import AgentError

Origin = Literal["ollama", "lmstudio", "hub", "llama.cpp", "folder"]

_MODEL_LAYER: Final = "application/vnd.ollama.image.model"
_DIGEST: Final = re.compile(r"sha256:([0-9a-f]{64})")
_LARGEST_MANIFEST: Final = 1 << 20
_DEEPEST: Final = 6
_MOST_FILES: Final = 5000


@dataclass(frozen=True, slots=True)
class Found:
    """One model file. `base` is None where it cannot be a base; then `problem` says why."""

    name: str
    origin: Origin
    path: Path
    base: BaseFile | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Places:
    """Folders to look in, by the program they belong to."""

    ollama: tuple[Path, ...] = ()
    lmstudio: tuple[Path, ...] = ()
    hub: tuple[Path, ...] = ()
    llama_cpp: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()


def usual_places(environment: Mapping[str, str], folders: Iterable[Path] = (), platform: str = sys.platform) -> Places:
    """Where those programs keep their models, by default or as their variables say."""
    home = Path(environment.get("HOME") or environment.get("USERPROFILE") or Path.home())
    cache = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")

    def variable(name: str) -> tuple[Path, ...]:
        value = environment.get(name)
        return (Path(value).expanduser(),) if value else ()

    hub = variable("HF_HUB_CACHE") or variable("HUGGINGFACE_HUB_CACHE")
    if not hub:
        hub = tuple(folder / "hub" for folder in variable("HF_HOME") or (cache / "huggingface",))
    # On Linux, Ollama's service runs as a user of its own.
    service = (Path("/usr/share/ollama/.ollama/models"), Path("/var/lib/ollama/models")) if platform == "linux" else ()
    ours = {
        "darwin": home / "Library" / "Caches" / "llama.cpp",
        "win32": Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "llama.cpp",
    }
    return Places(
        ollama=variable("OLLAMA_MODELS") or (home / ".ollama" / "models", *service),
        lmstudio=(*_lmstudio_home(home), home / ".lmstudio" / "models", cache / "lm-studio" / "models"),
        hub=hub,
        llama_cpp=variable("LLAMA_CACHE") or (ours.get(platform, cache / "llama.cpp"),),
        folders=tuple(folders),
    )


def _lmstudio_home(home: Path) -> tuple[Path, ...]:
    """LM Studio's own folder, where its user moved it."""
    try:
        moved = (home / ".lmstudio-home-pointer").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ()
    return (Path(moved) / "models",) if moved else ()


def scan(places: Places) -> tuple[Found, ...]:
    """Every model file in `places`, each once; those that cannot be a base with the reason."""
    found: list[Found] = []
    seen: set[Path] = set()
    for name, origin, path in _candidates(places):
        try:
            real = path.resolve()
        except (OSError, RuntimeError):
            continue
        if real not in seen:
            seen.add(real)
            found.append(_examine(name, origin, path))
    return tuple(found)


def _examine(name: str, origin: Origin, path: Path) -> Found:
    place = split_place(path.name)
    if place and place[1] > 1:
        return Found(name, origin, path, None, f"part {place[0]} of a model that is split into {place[1]} files")
    try:
        return Found(name, origin, path, read_base(path))
    except AgentError as error:
        return Found(name, origin, path, None, error.problem)
    except OSError as error:
        return Found(name, origin, path, None, f"cannot be read: {error.strerror}")


def _candidates(places: Places) -> Iterator[tuple[str, Origin, Path]]:
    for folder in places.ollama:
        yield from ((name, "ollama", path) for name, path in ollama_models(folder))
    for folder in places.lmstudio:
        for path in _model_files(folder):
            yield "/".join(path.relative_to(folder).parts), "lmstudio", path
    for folder in places.hub:
        for path in _model_files(folder):
            if name := _hub_name(path.relative_to(folder).parts):
                yield name, "hub", path
    for folder in places.llama_cpp:
        yield from ((path.name, "llama.cpp", path) for path in _model_files(folder))
    for folder in places.folders:
        yield from ((path.name, "folder", path) for path in _model_files(folder))


def _model_files(folder: Path) -> Iterator[Path]:
    """The GGUF files below `folder`, vision parts left out. Follows links to files, never links to folders."""
    if folder.is_file():
        yield folder
        return
    count = 0
    for root, folders, names in os.walk(folder):
        here = Path(root)
        if len(here.relative_to(folder).parts) >= _DEEPEST:
            folders.clear()
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(".gguf") and "mmproj" not in name.lower():
                yield here / name
                count += 1
            if count >= _MOST_FILES:
                return


def _hub_name(parts: tuple[str, ...]) -> str | None:
    """`models--Qwen--Qwen3-4B-GGUF/snapshots/<commit>/file.gguf` as `Qwen/Qwen3-4B-GGUF/file.gguf`."""
    if len(parts) < 4 or not parts[0].startswith("models--") or parts[1] != "snapshots":
        return None
    return "/".join((parts[0].removeprefix("models--").replace("--", "/", 1), *parts[3:]))


def ollama_models(folder: Path) -> Iterator[tuple[str, Path]]:
    """(name, file of the weights) of every model whose manifest is in Ollama's `folder`."""
    manifests = folder / "manifests"
    for root, folders, names in os.walk(manifests):
        folders.sort()
        for tag in sorted(names):
            path = Path(root) / tag
            parts = path.relative_to(manifests).parts
            digest = _model_digest(path)
            if len(parts) >= 3 and digest:
                yield _ollama_name(parts), folder / "blobs" / f"sha256-{digest}"


def _ollama_name(parts: tuple[str, ...]) -> str:
    """As Ollama shows it: its own registry and its own library are left out."""
    registry, *path, tag = parts
    if registry != "registry.ollama.ai":
        path = [registry, *path]
    elif path[0] == "library":
        path = path[1:]
    return f"{'/'.join(path)}:{tag}"


def _model_digest(manifest: Path) -> str | None:
    """The SHA-256 of the layer that holds the weights; None where the manifest names none."""
    try:
        if manifest.stat().st_size > _LARGEST_MANIFEST:
            return None
        content: Any = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    layers = content.get("layers") if isinstance(content, dict) else None
    for layer in layers if isinstance(layers, list) else []:
        if isinstance(layer, dict) and layer.get("mediaType") == _MODEL_LAYER:
            match = _DIGEST.fullmatch(str(layer.get("digest")))
            return match[1] if match else None
    return None
