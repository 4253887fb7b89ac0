"""`macaron models list`, `scan` and `show`, and the note of the first start: what is here and what would fit."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from app.bases import find_base
from app.models.adding import find_model
from app.models.catalogue import CatalogueBase, catalogue
from app.models.fit import Fit, Machine, fit, recommend
from app.models.headers import BaseFile, read_base
from app.models.machine import this_machine
from app.models.records import read_record
from app.models.scanning import Found, scan, usual_places
from app.models.wording import fit_line, fit_parts_line, machine_line, table
from app.output import ProgressLine, print_json, print_text
from app.paths import Paths
from app.profiles import load_chosen_profile, profile_folders
from app.settings import load_settings, screen_language
from engine.errors import AgentError
from ui.inert import display_line
from ui.sizes import size_text
from ui.strings import say

_READ_BYTES: Final = 1 << 20
_SHORT_HASH: Final = 16


@dataclass(frozen=True, slots=True)
class ProfileState:
    """One profile. `problem` is empty when it and its base are here."""

    name: str
    title: str
    base: str
    in_use: bool
    problem: str


def run_list(paths: Paths, environment: Mapping[str, str], *, as_json: bool) -> int:
    settings = load_settings(paths.settings)
    language = screen_language(settings, environment)
    machine = this_machine(environment)
    states = list(profile_states(paths, settings.profile))
    best = recommended(machine)
    if as_json:
        print_json(
            {
                "machine": asdict(machine),
                "profiles": [asdict(state) for state in states],
                "bases": [_base_json(base, machine, paths) for base in catalogue()],
                "recommended": best.name if best else None,
            }
        )
        return 0
    print_text(machine_line(machine, language))
    print_text(f"\n{say('models.profiles', language)}")
    for line in table([_profile_row(state, language) for state in states]):
        print_text(line.rstrip())
    print_text(f"\n{say('models.catalogue', language)}")
    for line in table([_base_row(base, machine, paths, language) for base in catalogue()]):
        print_text(line)
    print_text(f"\n{_recommendation(best, language)}\n{say('models.estimates', language)}")
    return 0


def profile_states(paths: Paths, in_use: str) -> Iterator[ProfileState]:
    """Every profile by name, those of the home before shipped ones of the same name."""
    names = {file.parent.name for folder in profile_folders(paths) for file in folder.glob("*/lora.md")}
    for name in sorted(names):
        try:
            profile = load_chosen_profile(paths, name)
        except AgentError as error:
            yield ProfileState(name, name, "", name == in_use, error.problem)
            continue
        try:
            find_base(profile, paths)
            problem = ""
        except AgentError as error:
            problem = error.problem
        yield ProfileState(name, profile.title, profile.base_model, name == in_use, problem)


def recommended(machine: Machine) -> CatalogueBase | None:
    """The base of the catalogue that suits this machine best; None when none fits well."""
    name = recommend({base.name: base.shape for base in catalogue()}, machine)
    return next((base for base in catalogue() if base.name == name), None)


def first_start_note(paths: Paths, language: str, environment: Mapping[str, str]) -> str:
    """What this machine can run while the starter answers; empty once the user has a profile or chose another.

    Raises: ModelProblem, UsageProblem.
    """
    if load_settings(paths.settings).profile != "starter" or any(paths.profiles.glob("*/lora.md")):
        return ""
    machine = this_machine(environment)
    best = recommended(machine)
    free = size_text(max(machine.free_memory_bytes, machine.free_gpu_bytes))
    if best is None:
        return say("first.none", language, free=free)
    title, size = best.title.in_language(language), size_text(best.download_bytes)
    return say("first.recommend", language, free=free, title=title, size=size, name=best.name)


def _recommendation(best: CatalogueBase | None, language: str) -> str:
    if best is None:
        return say("models.recommend_none", language)
    return say("models.recommended", language, title=best.title.in_language(language), name=best.name)


def _profile_row(state: ProfileState, language: str) -> list[str]:
    if state.problem and not state.base:
        note = say("models.broken", language, problem=display_line(state.problem))
    else:
        note = say("models.base_missing" if state.problem else "models.here", language)
    mark = "*" if state.in_use else " "
    return [mark, display_line(state.name, 40), display_line(state.title, 40), display_line(state.base, 40), note]


def _base_row(base: CatalogueBase, machine: Machine, paths: Paths, language: str) -> list[str]:
    found = fit(base.shape, machine)
    here = say("models.pulled", language) if _is_here(base, paths) else ""
    about = base.about.in_language(language)
    verdict = say(f"fit.{found.verdict}", language)
    return [base.name, size_text(base.download_bytes), verdict, size_text(found.need.total), here, base.licence, about]


def _base_json(base: CatalogueBase, machine: Machine, paths: Paths) -> dict[str, Any]:
    found = fit(base.shape, machine)
    return {
        "name": base.name,
        "title": base.title.en,
        "repo": base.repo,
        "file": base.file,
        "size_bytes": base.download_bytes,
        "licence": base.licence,
        "is_here": _is_here(base, paths),
        "fit": _fit_json(found),
    }


def _fit_json(found: Fit) -> dict[str, Any]:
    return {**asdict(found), "need_bytes": found.need.total}


def _is_here(base: CatalogueBase, paths: Paths) -> bool:
    return (paths.models / base.file).is_file()


def run_scan(paths: Paths, environment: Mapping[str, str], folders: tuple[Path, ...], *, as_json: bool) -> int:
    language = screen_language(load_settings(paths.settings), environment)
    machine = this_machine(environment)
    found = scan(usual_places(environment, folders))
    if as_json:
        print_json({"models": [_found_json(one, machine) for one in found]})
        return 0
    usable = [one for one in found if one.base is not None]
    refused = [one for one in found if one.base is None]
    if not found:
        print_text(say("models.scan.none", language))
    if usable:
        print_text(say("models.scan.found", language))
        for line in table([_found_row(one, one.base, machine, language) for one in usable if one.base]):
            print_text(line)
        print_text(say("models.scan.add", language))
    if refused:
        print_text(say("models.scan.refused", language))
        for one in refused:
            print_text(f"  {display_line(one.name, 60)}: {display_line(one.problem)}")
    return 0


def _found_row(found: Found, base: BaseFile, machine: Machine, language: str) -> list[str]:
    verdict = say(f"fit.{fit(base.shape, machine).verdict}", language)
    return [
        "",
        display_line(found.name, 60),
        size_text(base.size_bytes),
        verdict,
        found.origin,
        display_line(str(found.path)),
    ]


def _found_json(found: Found, machine: Machine) -> dict[str, Any]:
    base = found.base
    return {
        "name": found.name,
        "origin": found.origin,
        "path": os.fsencode(found.path).decode("utf-8", "replace"),
        "problem": found.problem,
        "size_bytes": base.size_bytes if base else None,
        "architecture": base.architecture if base else None,
        "fit": _fit_json(fit(base.shape, machine)) if base else None,
    }


def run_show(paths: Paths, environment: Mapping[str, str], name: str, *, as_json: bool) -> int:
    """Everything known of the base of a profile, or of a model file."""
    language = screen_language(load_settings(paths.settings), environment)
    profile = None if Path(name).is_file() else _profile_folder(paths, name)
    path = find_base(load_chosen_profile(paths, name), paths) if profile else find_model(paths, environment, name)
    base, record = read_base(path), read_record(path)
    found = fit(base.shape, this_machine(environment))
    digest = _sha256(path, language)
    if as_json:
        print_json(
            {
                "profile": str(profile) if profile else None,
                "path": str(path),
                "size_bytes": base.size_bytes,
                "sha256": digest,
                "architecture": base.architecture,
                "quantisation": base.quantisation,
                "parameters": base.parameters,
                "family": base.family,
                "context_tokens": base.shape.context_tokens,
                "source": asdict(record) if record else None,
                "fit": _fit_json(found),
            }
        )
        return 0
    unknown = say("show.unknown", language)
    kind = say(
        "show.kind_of",
        language,
        architecture=display_line(base.architecture, 40),
        parameters=_count_text(base.parameters),
        quantisation=base.quantisation,
    )
    rows = [
        *([("show.profile", str(profile))] if profile else []),
        ("show.file", str(path)),
        ("show.size", f"{size_text(base.size_bytes)} ({base.size_bytes:,} B)"),
        ("show.sha256", digest),
        ("show.kind", kind),
        ("show.family", base.family or unknown),
        ("show.context", say("show.tokens", language, count=f"{base.shape.context_tokens:,}")),
        ("show.licence", record.licence if record and record.licence else unknown),
        *([("show.from", f"{record.repo} @ {record.revision[:_SHORT_HASH]}")] if record else []),
        ("show.fit", f"{fit_line(found, language)} ({fit_parts_line(found, language)})"),
    ]
    for line in table([(say(key, language), display_line(text)) for key, text in rows]):
        print_text(line)
    return 0


def _profile_folder(paths: Paths, name: str) -> Path | None:
    for folder in profile_folders(paths):
        if name and Path(name).name == name and (folder / name / "lora.md").is_file():
            return folder / name
    return None


def _count_text(count: int) -> str:
    return f"{count / 1e9:.1f} B" if count >= 1e9 else f"{count / 1e6:.0f} M"


def _sha256(path: Path, language: str) -> str:
    """Of the whole file; says how far it is."""
    digest, line, size = hashlib.sha256(), ProgressLine(), path.stat().st_size
    with path.open("rb") as file:
        while data := file.read(_READ_BYTES):
            digest.update(data)
            line.show(say("pull.verifying", language, done=size_text(file.tell()), total=size_text(size)))
    line.clear()
    return digest.hexdigest()
