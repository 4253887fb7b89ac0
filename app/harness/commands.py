"""`macaron tools`: what tools there are, those that were written here, and what is permitted for good."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from app.files import write_private
from app.harness.opening import open_tools
from app.models.wording import table
from app.output import print_json, print_note, print_text
from app.paths import Paths
from app.settings import language_of
from engine.errors import UsageProblem
from engine.harness.saved_tools import KeptTool, approval_text
from engine.harness.tools.values import ToolSpec
from engine.strict_json import loads
from ui.inert import display_line, display_text
from ui.strings import say
from ui.tool_shelf import ToolShelf

_TEXT_CELLS: Final = 60
_FORMAT: Final = "macaron-tool"
_MARK: Final = "# Example, which must pass:"
_MOST_BYTES: Final = 1 << 20


def run_list(paths: Paths, environment: Mapping[str, str], *, as_json: bool) -> int:
    with open_tools(paths) as shelf:
        tools, saved = shelf.tools(), shelf.saved_tools()
    if as_json:
        print_json({"tools": [_spec_facts(spec) for spec in tools], "saved": [_facts(kept) for kept in saved]})
        return 0
    language = language_of(paths.settings, environment)
    heads = [say(f"tools.list.{head}", language) for head in ("name", "from", "reach", "state", "text")]
    rows = [_saved_row(kept, language) for kept in saved] + [_row(spec, language) for spec in tools]
    _print_table([heads, *rows])
    return 0


def run_show(paths: Paths, environment: Mapping[str, str], name: str, *, as_json: bool) -> int:
    """Raises: UnknownName."""
    with open_tools(paths) as shelf:
        kept, everything, versions = shelf.saved_tool(name), shelf.saved_tools(), shelf.tool_versions(name)
    if as_json:
        print_json({**_facts(kept), "versions": [_version_facts(version) for version in versions]})
        return 0
    language = language_of(paths.settings, environment)
    print_text(f"{display_line(name)} · {_state(kept, language)}")
    if kept.problem:
        print_text(display_text(kept.problem))
    else:
        print_text(display_text(approval_text(kept, everything)))
    if kept.hash_now:
        print_text(say("tools.show.hash", language, hash=kept.hash_now))
    return 0


def run_run(paths: Paths, name: str, arguments: str, *, as_json: bool) -> int:
    """Raises: UnknownName, UsageProblem."""
    with open_tools(paths) as shelf:
        result = shelf.run_tool(name, arguments)
    if as_json:
        print_json({"text": result.text, "failed": result.is_error})
    else:
        print_text(display_text(result.text))
    return 1 if result.is_error else 0


def run_promote(
    paths: Paths,
    environment: Mapping[str, str],
    name: str,
    approved_hash: str,
    ask: Callable[[str], bool] | None,
    *,
    as_json: bool,
) -> int:
    """`approved_hash` is what `show` told of what the caller has read; without it `ask` shows all and asks.

    Raises: UnknownName, UsageProblem.
    """
    language = language_of(paths.settings, environment)
    with open_tools(paths) as shelf:
        kept = shelf.saved_tool(name)
        if kept.problem:
            raise UsageProblem(f"{name} is no tool: {kept.problem}", f"Edit it: `macaron tools edit {name}`.")
        if not approved_hash:
            if ask is None:
                raise UsageProblem(
                    "Whether a tool is kept is decided by a person who has read it.",
                    f"Read it with `macaron tools show {name}` and give --hash with what stands there.",
                )
            print_text(display_text(approval_text(kept, shelf.saved_tools())))
            if not ask(say("tools.promote.ask", language, name=display_line(name))):
                print_note(say("tools.promote.not", language))
                return 1
            approved_hash = kept.hash_now
        shelf.approve_tool(name, kept.version.version, approved_hash)
        kept = shelf.saved_tool(name)
    if as_json:
        print_json(_facts(kept))
    else:
        print_text(say("tools.promoted", language, name=display_line(name)))
    return 0


def run_remove(paths: Paths, environment: Mapping[str, str], name: str, *, as_json: bool) -> int:
    """Raises: UnknownName."""
    with open_tools(paths) as shelf:
        shelf.remove_tool(name)
    if as_json:
        print_json({"name": name, "removed": True})
    else:
        print_text(say("tools.removed", language_of(paths.settings, environment), name=display_line(name)))
    return 0


def run_edit(paths: Paths, environment: Mapping[str, str], name: str, file: Path | None, *, as_json: bool) -> int:
    """A new version, from `file` or from the user's editor. Raises: UnknownName, UsageProblem."""
    with open_tools(paths) as shelf:
        text = _read_text(file) if file is not None else _edited(shelf.saved_tool(name), environment)
        return _save(shelf, paths, environment, name, *_parted(text), as_json=as_json)


def run_export(paths: Paths, environment: Mapping[str, str], name: str, file: Path, *, as_json: bool) -> int:
    """Raises: UnknownName, UsageProblem where the file is there already."""
    with open_tools(paths) as shelf:
        kept = shelf.saved_tool(name)
    if file.exists():
        raise UsageProblem(f"{file} is there already.", "Name another file; nothing is overwritten.")
    content = {
        "format": _FORMAT,
        "version": 1,
        "name": name,
        "source": kept.version.source,
        "example": kept.version.example,
    }
    write_private(file, [(json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()])
    if as_json:
        print_json({"name": name, "file": str(file)})
    else:
        print_text(
            say("tools.exported", language_of(paths.settings, environment), name=name, file=display_line(str(file)))
        )
    return 0


def run_import(paths: Paths, environment: Mapping[str, str], file: Path, *, as_json: bool) -> int:
    """What is imported waits for approval like everything. Raises: UsageProblem."""
    try:
        value = loads(_read_text(file))
        name, source, example = (str(value[key]) for key in ("name", "source", "example"))
        if value["format"] != _FORMAT:
            raise ValueError("it is of another format")
    except (ValueError, KeyError, TypeError) as error:
        raise UsageProblem(f"{file} is no exported tool: {error!r}.", "Export one: `macaron tools export`.") from error
    with open_tools(paths) as shelf:
        return _save(shelf, paths, environment, name, source, example, as_json=as_json)


def run_permissions(paths: Paths, environment: Mapping[str, str], forget: int | None, *, as_json: bool) -> int:
    """Raises: UnknownName."""
    with open_tools(paths) as shelf:
        if forget is not None:
            shelf.forget_permit(forget)
        permits = shelf.permits()
    if as_json:
        facts = [
            {
                "number": one.permission_id,
                "tool": one.rule.tool,
                "pattern": one.rule.pattern,
                "allows": one.rule.allows,
                "created_at": one.created_at,
            }
            for one in permits
        ]
        print_json({"permissions": facts})
        return 0
    language = language_of(paths.settings, environment)
    if not permits:
        print_text(say("tools.permissions.none", language))
        return 0
    heads = [say(f"tools.permissions.{head}", language) for head in ("number", "tool", "pattern", "answer")]
    rows = [
        [
            str(one.permission_id),
            display_line(one.rule.tool),
            display_line(one.rule.pattern, _TEXT_CELLS),
            say("approval.always" if one.rule.allows else "approval.never", language),
        ]
        for one in permits
    ]
    _print_table([heads, *rows])
    return 0


def _save(
    shelf: ToolShelf,
    paths: Paths,
    environment: Mapping[str, str],
    name: str,
    source: str,
    example: str,
    *,
    as_json: bool,
) -> int:
    kept = shelf.save_tool(name, source, example)
    if as_json:
        print_json(_facts(kept))
    else:
        language = language_of(paths.settings, environment)
        print_text(say("tools.saved", language, name=display_line(name), version=kept.version.version))
        print_note(say("tools.saved.next", language, name=display_line(name)))
    return 0


def _edited(kept: KeptTool, environment: Mapping[str, str]) -> str:
    """Raises: UsageProblem without an editor, or where it fails."""
    editor = environment.get("VISUAL") or environment.get("EDITOR")
    if not editor:
        raise UsageProblem("There is no editor.", "Set EDITOR, or give the new text with --file.")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"{kept.version.name}.py"
        place.write_text(f"{kept.version.source.rstrip()}\n\n{_MARK}\n{kept.version.example}\n", encoding="utf-8")
        try:
            code = subprocess.run([*editor.split(), str(place)], check=False).returncode
        except OSError as error:
            raise UsageProblem(f"The editor does not start: {error}.", "Set EDITOR to another.") from error
        if code:
            raise UsageProblem(f"The editor ended with {code}; nothing was changed.", "Try again, or use --file.")
        return _read_text(place)


def _parted(text: str) -> tuple[str, str]:
    """(source, example). Raises: UsageProblem."""
    source, mark, example = text.partition(_MARK)
    if not mark:
        raise UsageProblem("The text has no example.", f"Write one below a line `{_MARK}`.")
    return source.strip() + "\n", example.strip()


def _read_text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise UsageProblem(f"{file} is larger than a tool may be.", "Name another file.")
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(f"{file} cannot be read: {error}.", "Name a text file in UTF-8.") from error


def _row(spec: ToolSpec, language: str) -> list[str]:
    return [
        display_line(spec.tool.name),
        display_line(spec.source) or say("tools.from.program", language),
        say(f"tools.reach.{spec.reach}", language),
        "",
        display_line(spec.tool.description, _TEXT_CELLS),
    ]


def _saved_row(kept: KeptTool, language: str) -> list[str]:
    description = kept.tool.description if kept.tool is not None else kept.problem
    return [
        display_line(kept.version.name),
        say(f"tools.from.{kept.version.author}", language),
        say("tools.reach.program", language),
        _state(kept, language),
        display_line(description, _TEXT_CELLS),
    ]


def _state(kept: KeptTool, language: str) -> str:
    if kept.problem:
        return say("tools.state.broken", language)
    if kept.is_offered:
        return say("tools.state.promoted", language)
    return say("tools.state.changed" if kept.has_changed else "tools.state.waiting", language)


def _spec_facts(spec: ToolSpec) -> dict[str, Any]:
    return {
        "name": spec.tool.name,
        "description": spec.tool.description,
        "parameters": dict(spec.tool.parameters),
        "reach": spec.reach,
        "changes": spec.changes,
        "source": spec.source,
    }


def _facts(kept: KeptTool) -> dict[str, Any]:
    return {
        **_version_facts(kept.version),
        "promoted": kept.is_offered,
        "changed": kept.has_changed,
        "problem": kept.problem,
        "hash": kept.hash_now,
        "calls": list(kept.tool.tools) if kept.tool is not None else [],
    }


def _version_facts(version: Any) -> dict[str, Any]:
    return {
        "name": version.name,
        "version": version.version,
        "author": version.author,
        "source": version.source,
        "example": version.example,
        "tainted": version.is_tainted,
        "created_at": version.created_at,
    }


def _print_table(rows: list[list[str]]) -> None:
    for line in table(rows):
        print_text(line.rstrip())
