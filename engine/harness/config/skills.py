"""Skills as they lie in a source: one folder each, whose SKILL.md has a header and a text. Pure."""

import hashlib
from typing import Any, Final

from engine.harness.config.checking import checked
from engine.harness.config.complaints import Complaint
from engine.harness.config.front_matter import split
from engine.harness.config.model import Skill, SkillFile
from engine.harness.config.parts import Line, OptionalLine, Part, Word
from engine.harness.config.source import SKILL_FILE, SKILLS_FOLDER, Source
from engine.harness.config.texts import decoded

MOST_SKILLS: Final = 200
"""Of one place."""
MOST_SKILL_CHARACTERS: Final = 60_000

_PASSED_OVER: Final = ("license", "compatibility", "metadata", "allowed-tools")
"""What published skills also say in their header. None of it is shown to a model, and none of it permits anything."""


class SkillHeader(Part):
    """What stands at the top of a SKILL.md."""

    name: Word
    """How a model asks for it."""
    description: Line
    """What it is, in one line that is always in view."""
    when: OptionalLine = ""
    """When to use it, if the description does not say so."""


def read_skills(source: Source) -> tuple[tuple[Skill, ...], tuple[Complaint, ...]]:
    """The good skills of `source` by name, and what is wrong with the others."""
    skills: dict[str, Skill] = {}
    complaints: list[Complaint] = []
    folders = [path.split("/")[1] for path in source.files if _is_skill(path)]
    for folder in sorted(folders)[:MOST_SKILLS]:
        file = source.shown(f"{SKILLS_FOLDER}/{folder}/{SKILL_FILE}")
        found = _read_skill(source, folder, file)
        if isinstance(found, tuple):
            complaints += found
        elif found.name in skills:
            complaints.append(Complaint(file, f"There is a skill `{found.name}` already.", "Rename one.", key="name"))
        else:
            skills[found.name] = found
    if len(folders) > MOST_SKILLS:
        problem = f"It holds {len(folders)} skills; the first {MOST_SKILLS} by name are in use."
        complaints.append(Complaint(source.shown(SKILLS_FOLDER), problem, "Take some away."))
    return tuple(skills[name] for name in sorted(skills)), tuple(complaints)


def _is_skill(path: str) -> bool:
    match path.split("/"):
        case [folder, _, name]:
            return folder == SKILLS_FOLDER and name == SKILL_FILE
    return False


def _read_skill(source: Source, folder: str, file: str) -> Skill | tuple[Complaint, ...]:
    start = f"{SKILLS_FOLDER}/{folder}/"
    text = decoded(source.files[start + SKILL_FILE], file)
    if isinstance(text, Complaint):
        return (text,)
    if len(text) > MOST_SKILL_CHARACTERS:
        hint = f"Keep it under {MOST_SKILL_CHARACTERS} and put the rest into files beside it."
        return (Complaint(file, f"It has {len(text)} characters.", hint),)
    parts = split(text, file)
    if isinstance(parts, Complaint):
        return (parts,)
    values: dict[str, Any] = {
        name: " ".join(value.split()) if isinstance(value, str) else value
        for name, value in parts.values.items()
        if name not in _PASSED_OVER
    }
    header = checked(values, SkillHeader, file, parts.line_at)
    if isinstance(header, tuple):
        return header
    if not parts.body:
        return (Complaint(file, "It says nothing below its header.", "Write how the work is done."),)
    beside = {
        path: data for path, data in source.files.items() if path.startswith(start) and path != start + SKILL_FILE
    }
    return Skill(
        name=header.name,
        description=header.description,
        when=header.when,
        body=parts.body,
        origin=source.name,
        folder=f"{source.run_from.rstrip('/')}/{start}".rstrip("/") if source.run_from else "",
        files=tuple(
            SkillFile(path=path.removeprefix(start), size_bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
            for path, data in sorted(beside.items())
        ),
    )
