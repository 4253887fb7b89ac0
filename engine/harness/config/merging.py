"""The configuration files of the home and of trusted folders, put together into one value. Pure.

The home comes first: a folder adds to it, and cannot take the place of what the home has.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from engine.harness.config.checking import read_toml
from engine.harness.config.complaints import Complaint, as_error
from engine.harness.config.model import (
    FolderTable,
    HarnessConfig,
    HomeTable,
    Instructions,
    Permission,
    PlacedHook,
    PlacedServer,
    Skill,
)
from engine.harness.config.programs import placed
from engine.harness.config.servers import McpServer
from engine.harness.config.skills import read_skills
from engine.harness.config.source import INSTRUCTIONS_FILE, TABLE_FILE, Source
from engine.harness.config.texts import decoded
from engine.harness.config.toml_lines import Step, line_of

MOST_INSTRUCTION_CHARACTERS: Final = 100_000
"""Of one AGENTS.md."""

AnyTable = TypeVar("AnyTable", HomeTable, FolderTable)


@dataclass(frozen=True, slots=True)
class Merged:
    config: HarnessConfig
    complaints: tuple[Complaint, ...]
    """What is wrong and therefore not in use. Everything else is."""


def home_complaints(home: Source) -> tuple[Complaint, ...]:
    """What is wrong with the harness.toml of the home, for which `merge` would raise."""
    table = _read_table(home, HomeTable)
    return table if isinstance(table, tuple) else ()


def merge(home: Source, folders: Sequence[Source] = ()) -> Merged:
    """One configuration of all sources; `folders` are trusted ones, whose order does not matter.

    Raises: UsageProblem for a wrong harness.toml in the home: without its limits nothing should run.
    """
    home_table = _read_table(home, HomeTable)
    if isinstance(home_table, tuple):
        raise as_error(home_table)
    tables: list[tuple[Source, HomeTable | FolderTable | None]] = [(home, home_table)]
    complaints = list(home.complaints)
    for folder in sorted(folders, key=lambda source: source.place):
        folder_table = _read_table(folder, FolderTable)
        if isinstance(folder_table, tuple):
            complaints += folder_table
        tables.append((folder, None if isinstance(folder_table, tuple) else folder_table))
    instructions, more = _instructions(tables)
    skills, skill_complaints = _skills([source for source, _ in tables])
    servers, server_complaints = _servers(tables)
    config = HarnessConfig(
        instructions=instructions,
        skills=skills,
        hooks=tuple(_hooks(tables)),
        mcpServers=servers,
        tools=home_table.tools,
        switched_off=tuple(sorted({name for table in _folder_tables(tables) for name in table.tools})),
        offers=home_table.offers,
        permissions=(*home_table.permissions, *_folder_permissions(tables)),
        folders=home_table.folders,
        web=home_table.web,
        memory=home_table.memory,
        sandbox=home_table.sandbox,
        budgets=home_table.budgets,
    )
    return Merged(config, (*complaints, *more, *skill_complaints, *server_complaints))


_Tables = Sequence[tuple[Source, HomeTable | FolderTable | None]]
"""Every source and what its harness.toml says; None where that is wrong."""


def _read_table(source: Source, model: type[AnyTable]) -> AnyTable | tuple[Complaint, ...]:
    file = source.shown(TABLE_FILE)
    unread = tuple(complaint for complaint in source.complaints if complaint.file == file)
    if unread or TABLE_FILE not in source.files:
        return unread or model()
    text = decoded(source.files[TABLE_FILE], file)
    if isinstance(text, Complaint):
        return (text,)
    table = read_toml(text, model, file)
    if isinstance(table, tuple):
        return table
    return tuple(_wrong_programs(source, table, text)) or table


def _wrong_programs(source: Source, table: HomeTable | FolderTable, text: str) -> Iterator[Complaint]:
    commands: list[tuple[tuple[Step, ...], tuple[str, ...]]] = []
    commands += [(("hooks", number, "command"), hook.command) for number, hook in enumerate(table.hooks)]
    commands += [(("mcpServers", name, "command"), _words(server)) for name, server in table.mcp_servers.items()]
    for path, words in commands:
        try:
            placed(words, source)
        except ValueError as error:
            key = ".".join(map(str, path))
            yield Complaint(source.shown(TABLE_FILE), f"{error}.", "Correct the path.", line_of(text, path), key)


def _words(server: McpServer) -> tuple[str, ...]:
    return () if server.command is None else (server.command, *server.args)


def _instructions(tables: _Tables) -> tuple[tuple[Instructions, ...], list[Complaint]]:
    found: list[Instructions] = []
    complaints: list[Complaint] = []
    for source, table in tables:
        additions = dict(table.system) if table else {}
        # "all" sorts after every label, yet what is for all is read first.
        for reader in sorted(additions, key=lambda name: (name != "all", len(name), name)):
            if text := additions[reader].strip():
                found.append(Instructions(origin=source.name, reader=reader, text=text))
        read = _agents_text(source)
        if isinstance(read, Complaint):
            complaints.append(read)
        elif read:
            found.append(Instructions(origin=source.name, text=read))
    return tuple(found), complaints


def _agents_text(source: Source) -> str | Complaint:
    file = source.shown(INSTRUCTIONS_FILE)
    text = decoded(source.files.get(INSTRUCTIONS_FILE, b""), file)
    if isinstance(text, str) and len(text) > MOST_INSTRUCTION_CHARACTERS:
        hint = f"Keep it under {MOST_INSTRUCTION_CHARACTERS}; what is needed now and then belongs into a skill."
        return Complaint(file, f"It has {len(text)} characters.", hint)
    return text if isinstance(text, Complaint) else text.strip()


def _skills(sources: Sequence[Source]) -> tuple[tuple[Skill, ...], list[Complaint]]:
    found: dict[str, Skill] = {}
    complaints: list[Complaint] = []
    for source in sources:
        skills, wrong = read_skills(source)
        complaints += wrong
        for skill in skills:
            if skill.name in found:
                problem = f"There is a skill `{skill.name}` elsewhere, which is used."
                complaints.append(Complaint(source.shown("skills"), problem, "Rename one of them.", key=skill.name))
            else:
                found[skill.name] = skill
    return tuple(found[name] for name in sorted(found)), complaints


def _hooks(tables: _Tables) -> Iterator[PlacedHook]:
    for source, table in tables:
        for hook in table.hooks if table else ():
            values = {name: getattr(hook, name) for name in ("when", "timeout_s", "tools")}
            yield PlacedHook(**values, command=placed(hook.command, source), place=_place(source))


def _servers(tables: _Tables) -> tuple[dict[str, PlacedServer], list[Complaint]]:
    found: dict[str, PlacedServer] = {}
    complaints: list[Complaint] = []
    for source, table in tables:
        for name, server in (table.mcp_servers if table else {}).items():
            if name in found:
                problem = f"There is a server `{name}` elsewhere, which is used."
                file = source.shown(TABLE_FILE)
                complaints.append(Complaint(file, problem, "Rename one of them.", key=f"mcpServers.{name}"))
                continue
            values = {field: getattr(server, field) for field in type(server).model_fields}
            if server.command is not None:
                values["command"], *arguments = placed(_words(server), source)
                values["args"] = tuple(arguments)
            found[name] = PlacedServer(**values, place=_place(source))
    return {name: found[name] for name in sorted(found)}, complaints


def _folder_tables(tables: _Tables) -> Iterator[FolderTable]:
    for _, table in tables:
        if isinstance(table, FolderTable):
            yield table


def _folder_permissions(tables: _Tables) -> Iterator[Permission]:
    for table in _folder_tables(tables):
        for rule in table.permissions:
            yield Permission(tool=rule.tool, pattern=rule.pattern, decision=rule.decision)


def _place(source: Source) -> str:
    return "" if source.is_home else source.place
