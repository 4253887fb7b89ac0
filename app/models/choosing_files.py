"""Which files of a repository make the model that was asked for. Pure."""

from typing import Final

from app.models.headers import part_names, split_place
from app.models.hub import Repo, RepoFile
from app.models.making import TEXT_FILES
from engine.errors import BadModelFile, UsageProblem

_PREFERRED: Final = ("Q4_K_M", "Q8_0", "Q4_K_S", "Q5_K_M", "Q4_0")
"""Quantisations to take when the user names none, the best first."""
_MOST_LISTED: Final = 12
_ADAPTER_FILES: Final = frozenset({"adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"})


def split_target(target: str) -> tuple[str, str | None]:
    """(repository, file or None) of `OWNER/NAME` or `OWNER/NAME:FILE`."""
    repo, _, file = target.partition(":")
    return repo, file or None


def choose_files(repo: Repo, file: str | None) -> tuple[RepoFile, ...]:
    """The file, or all parts of a split one, in order.

    `file` is a path within the repository, the end of one, or a quantisation such as Q4_K_M.
    Raises: UsageProblem, BadModelFile saying why there is nothing that can be a base.
    """
    models = [one.path for one in repo.files if _is_model(one.path)]
    if not models:
        raise _no_model(repo)
    path = _named(repo, models, file) if file else _preferred(repo, models)
    folder, slash, name = path.rpartition("/")
    parts = [repo.file(folder + slash + part) for part in part_names(name)]
    found = tuple(part for part in parts if part is not None)
    if len(found) < len(parts):
        raise BadModelFile(
            f"{repo.name} lacks {len(parts) - len(found)} of the {len(parts)} parts of {name}.", "Choose another file."
        )
    for part in found:
        if part.sha256 is None or not part.size_bytes:
            raise BadModelFile(
                f"The hub names no SHA-256 for {part.path}, so it could not be checked.", "Choose another repository."
            )
    return found


def _is_model(path: str) -> bool:
    return path.lower().endswith(".gguf") and "mmproj" not in path.lower() and not path.startswith("adapters/")


def _named(repo: Repo, models: list[str], file: str) -> str:
    exact = [path for path in models if path == file]
    ends = [path for path in models if path.rpartition("/")[2].lower() == file.lower()]
    marks = [path for path in _whole(models) if file.lower() in path.lower()]
    for found in (exact, ends, marks):
        if len(found) == 1:
            return found[0]
    if repo.file(file) is not None:
        raise BadModelFile(f"{file} is no GGUF file of a text model.", f"Choose one of: {_listed(models)}.")
    problem = "holds several files that match" if marks else "has no file"
    raise UsageProblem(f"{repo.name} {problem} {file}.", f"Choose one of: {_listed(marks or models)}.")


def _preferred(repo: Repo, models: list[str]) -> str:
    whole = _whole(models)
    if len(whole) == 1:
        return whole[0]
    for quantisation in _PREFERRED:
        found = [path for path in whole if quantisation.lower() in path.lower() and "-ud-" not in path.lower()]
        if len(found) == 1:
            return found[0]
    raise UsageProblem(
        f"{repo.name} holds {len(whole)} models.", f"Name one as {repo.name}:FILE, of: {_listed(whole)}."
    )


def _whole(models: list[str]) -> list[str]:
    """Models by their first file."""
    return [path for path in models if (split_place(path) or (1, 1))[0] == 1]


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - _MOST_LISTED} more" if len(paths) > _MOST_LISTED else ""
    return ", ".join(paths[:_MOST_LISTED]) + more


def _no_model(repo: Repo) -> BadModelFile:
    names = {file.path.rpartition("/")[2] for file in repo.files}
    if names & _ADAPTER_FILES:
        of = f" for {repo.base_model}" if repo.base_model else ""
        return BadModelFile(
            f"{repo.name} holds an adapter{of}, not a base.", "Pull the base; an adapter belongs into a profile."
        )
    kinds = sorted(
        {name.rpartition(".")[2] for name in names if name.endswith((".safetensors", ".bin", ".pt", ".onnx"))}
    )
    what = f"only {', '.join(kinds)} files" if kinds else "no model file"
    return BadModelFile(
        f"{repo.name} holds {what}; a base must be a GGUF file.",
        "Look for a repository of the same model with GGUF in its name.",
    )


def published_texts(repo: Repo) -> tuple[RepoFile, ...]:
    """The texts of a Mixture-of-LoRA that comes with the model, from the shallowest folder that holds all of them."""
    folders = sorted(
        {file.path.removesuffix(TEXT_FILES[0]) for file in repo.files if _is_named(file.path, TEXT_FILES[0])},
        key=lambda folder: (folder.count("/"), folder),
    )
    for folder in folders:
        files = [repo.file(folder + name) for name in TEXT_FILES]
        found = tuple(file for file in files if file is not None)
        if len(found) == len(TEXT_FILES):
            return found
    return ()


def _is_named(path: str, name: str) -> bool:
    return path.rpartition("/")[2] == name
