"""`macaron models add`: a model file of anybody's, by its path or by the name that scanning gave it, as a profile."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.models.fit import Machine
from app.models.headers import BaseFile, read_base, split_place
from app.models.making import Made, free_name, make_profile
from app.models.naming import profile_name
from app.models.scanning import Found, scan, usual_places
from app.paths import Paths, make_home
from engine.errors import BadModelFile, UnknownName, UsageProblem

_MOST_LISTED = 12


@dataclass(frozen=True, slots=True)
class Added:
    made: Made
    base: BaseFile
    is_linked: bool
    """The file lies outside the home and belongs to somebody else."""


def add_model(
    paths: Paths,
    environment: Mapping[str, str],
    machine: Machine,
    model: str,
    *,
    name: str | None = None,
    force: bool = False,
) -> Added:
    """Make a profile of the model file or scanned model `model`.

    Raises: UnknownName, UsageProblem, ModelProblem, DiskFull, AgentError.
    """
    make_home(paths)
    path = find_model(paths, environment, model)
    chosen = free_name(paths, name or _own_name(path, model), force=force)
    base = read_base(path)
    made = make_profile(paths, chosen, base, machine, force=force)
    return Added(made, base, path.parent != paths.models)


def _own_name(path: Path, model: str) -> str:
    # Ollama's files are named by their hashes.
    return profile_name(path.name if path.suffix.lower() == ".gguf" else model)


def find_model(paths: Paths, environment: Mapping[str, str], model: str) -> Path:
    """The file that `model` means: a path, a file of the home, or a model of another program by its name.

    Raises: UnknownName, UsageProblem when several match, BadModelFile for what cannot be a base.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        raise UsageProblem(f"{path} is a folder.", f"Name a file in it; `macaron models scan {path}` lists them.")
    if path.is_file():
        _refuse_part(path)
        return path.absolute()
    if path.name == model and (paths.models / model).is_file():
        return paths.models / model
    found = scan(usual_places(environment))
    matching = _matching(found, model)
    if len(matching) > 1:
        raise UsageProblem(f"Several models match {model}.", f"Choose one of: {_listed(matching)}.")
    if not matching:
        names = _listed([one for one in found if one.base]) or "none"
        raise UnknownName(
            f"There is no model file and no model of another program named `{model[:120]}`.",
            f"Give the path of a GGUF file, or one of these names: {names}. `macaron models pull` fetches others.",
        )
    if matching[0].base is None:
        raise BadModelFile(f"{matching[0].name}: {matching[0].problem.rstrip('.')}.", "Choose another model.")
    return matching[0].path.absolute()


def _refuse_part(path: Path) -> None:
    place = split_place(path.name)
    if place and place[1] > 1:
        raise BadModelFile(
            f"{path.name} is part {place[0]} of a model that is split into {place[1]} files.",
            "Join them with llama.cpp's `llama-gguf-split --merge`, then add the result.",
        )


def _matching(found: tuple[Found, ...], model: str) -> list[Found]:
    """Those with this name, else those whose name ends with it, case aside; usable ones before others."""
    wanted = model.lower()

    def fits(one: Found, how: str) -> bool:
        name = one.name.lower()
        last = name.rpartition("/")[2]
        return {
            "whole": name == wanted or name == f"{wanted}:latest",
            "last": wanted in (last, last.removesuffix(".gguf"), last.removesuffix(":latest")),
        }[how]

    for how in ("whole", "last"):
        matching = [one for one in found if fits(one, how)]
        if matching:
            return [one for one in matching if one.base] or matching[:1]
    return []


def _listed(found: list[Found]) -> str:
    more = f" and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    return ", ".join(one.name for one in found[:_MOST_LISTED]) + more
