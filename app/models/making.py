"""Make a profile out of a model file: a folder with texts, and a `profile.toml` that names the base.

The folder appears whole or not at all. Model files are linked by their path, never copied.
"""

import json
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.models.disk import make_folder, not_written, sync_folder
from app.models.fit import Machine, fitting_context
from app.models.headers import BaseFile
from app.models.naming import safe_name
from app.paths import Paths
from engine.assets import asset_path
from engine.errors import BadText, UsageProblem
from engine.harness.formats import Family
from engine.routing.profile import load_profile

TEXT_FILES: Final = ("lora.md", "route.md", "intro.md", "summary.md")

_SAMPLING: Final[Mapping[Family, Mapping[str, float]]] = {
    "chatml": {"temperature": 0.7, "top_k": 0, "top_p": 0.9, "repeat_penalty": 1.1},
    "qwen3": {"temperature": 0.7, "top_k": 20, "top_p": 0.8},
    "qwen35": {"temperature": 0.7, "top_k": 20, "top_p": 0.8},
    "llama3": {"temperature": 0.6, "top_k": 0, "top_p": 0.9},
    "gemma3": {"temperature": 1.0, "top_k": 64, "top_p": 0.95},
    "mistral": {"temperature": 0.15, "top_k": 0, "top_p": 1.0},
}
_MOST_ANSWER_TOKENS: Final = 4096
_PARAMETERS_TO_PROPOSE: Final = 3_000_000_000
"""A smaller base invents more than it finds when it is asked what there is to remember."""


@dataclass(frozen=True, slots=True)
class Made:
    """A profile that is there now."""

    name: str
    folder: Path
    context_tokens: int


def free_name(paths: Paths, name: str, *, force: bool) -> str:
    """`name` made safe, and not yet that of another profile.

    Raises: UsageProblem.
    """
    name = safe_name(name)
    if not force and profile_exists(paths, name):
        raise UsageProblem(
            f"There is a profile {name} already.", "Choose another name with --name, or replace it with --force."
        )
    return name


def profile_exists(paths: Paths, name: str) -> bool:
    """Whether a profile of the user or of the program has this name, in whatever case."""
    folders = [folder for folder in (paths.profiles, asset_path("profiles")) if folder.is_dir()]
    return name.lower() in {entry.name.lower() for folder in folders for entry in folder.iterdir()}


def make_profile(
    paths: Paths, name: str, base: BaseFile, machine: Machine, *, texts: Mapping[str, str] | None = None, force: bool
) -> Made:
    """Make the profile `name` for `base`, with the program's own texts or those that came with the model.

    Raises: UsageProblem, ModelProblem when the texts are no profile, BadText, DiskFull, AgentError.
    """
    name = free_name(paths, name, force=force)
    context_tokens = fitting_context(base.shape, machine)
    table = profile_toml(base, paths, context_tokens, is_published=texts is not None)
    make_folder(paths.profiles)
    aside = paths.home / f".new-profile-{secrets.token_hex(4)}"
    try:
        make_folder(aside)
        _write_texts(aside, texts)
        (aside / "profile.toml").write_text(table, encoding="utf-8")
        load_profile(aside)
        _put_in_place(aside, paths.profiles / name)
    except OSError as error:
        raise not_written(paths.profiles / name, error) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return Made(name, paths.profiles / name, context_tokens)


def _write_texts(folder: Path, texts: Mapping[str, str] | None) -> None:
    for file in TEXT_FILES:
        if texts is None:
            shutil.copyfile(asset_path("profiles", "starter", file), folder / file)
        else:
            (folder / file).write_text(texts[file], encoding="utf-8")


def _put_in_place(aside: Path, folder: Path) -> None:
    """Rename; a profile that is there already is moved away first and deleted last."""
    old = aside.with_name(f"{aside.name}.old")
    if folder.exists() or folder.is_symlink():
        os.replace(folder, old)
    os.replace(aside, folder)
    sync_folder(folder.parent)
    if old.is_symlink():
        old.unlink()
    shutil.rmtree(old, ignore_errors=True)


def profile_toml(base: BaseFile, paths: Paths, context_tokens: int, *, is_published: bool) -> str:
    """The text of `profile.toml`. Raises: BadText when the path of the base is no valid text."""
    sampling = _SAMPLING[base.family or "chatml"]
    is_ours = base.path.parent == paths.models
    lines = [
        f"title = {_quoted(base.title)}",
        *([] if is_published else ['model_name = "Macaron"']),
        f"base_model = {_quoted(base.title)}",
        *([f"family = {_quoted(base.family)}"] if base.family else []),
        f"context_tokens = {context_tokens}",
        f"max_answer_tokens = {max(1, min(_MOST_ANSWER_TOKENS, context_tokens // 4))}",
        "summary_tokens = 96",
        f"writes_memories = {str(base.parameters >= _PARAMETERS_TO_PROPOSE).lower()}",
        "",
        "[base]",
        # A file of the home is named alone, so that the home can be moved.
        f"file = {_quoted(base.path.name)}" if is_ours else f"path = {_quoted(str(base.path))}",
        "",
        "[route]",
        # The published texts end with the question; the program's own stand before it, where they are read once.
        f'wire = "{"tall" if is_published else "starter"}"',
        "margin_nats = 1.0",
        f"request_tokens = {min(1024, context_tokens // 4)}",
        *([] if is_published else ['default = "L0"']),
        "",
        "[sampling]",
        *(f"{name} = {value}" for name, value in sampling.items()),
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A basic string of TOML, which has the escapes of JSON."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadText(
            f"The path {text!r} is no valid text.", "Rename the file or folder with ordinary characters."
        ) from error
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
