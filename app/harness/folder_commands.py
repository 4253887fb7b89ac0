"""`macaron tools folders`, `trust` and `distrust`: what granted folders bring is used once a person has read it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.harness.opening import open_tools
from app.models.wording import table
from app.output import print_json, print_note, print_text
from app.paths import Paths
from app.settings import language_of
from engine.errors import UnknownName, UsageProblem
from engine.harness.config import FolderTrust, ListedFile
from ui.inert import display_line, display_text
from ui.strings import say, say_count


def run_list(paths: Paths, environment: Mapping[str, str], *, as_json: bool) -> int:
    with open_tools(paths) as shelf:
        folders = shelf.folders()
    if as_json:
        print_json({"folders": [_facts(one) for one in folders]})
        return 0
    language = language_of(paths.settings, environment)
    if not folders:
        print_text(say("folders.none", language))
        return 0
    heads = [say(f"folders.list.{head}", language) for head in ("folder", "state", "files", "hash")]
    rows = [
        [
            display_line(one.place),
            say(f"folders.state.{one.state}", language),
            str(len(one.files) or ""),
            one.content_hash,
        ]
        for one in folders
    ]
    for line in table([heads, *rows]):
        print_text(line.rstrip())
    return 0


def run_trust(
    paths: Paths,
    environment: Mapping[str, str],
    folder: Path,
    approved_hash: str,
    ask: Callable[[str], bool] | None,
    *,
    as_json: bool,
) -> int:
    """`approved_hash` is of what the caller has read; without it `ask` shows all and asks.

    Raises: UnknownName, UsageProblem.
    """
    language, place = language_of(paths.settings, environment), str(folder.resolve())
    with open_tools(paths) as shelf:
        found = next((one for one in shelf.folders() if one.place == place), None)
        if found is None or found.state == "trusted":
            raise UnknownName(
                f"{place} does not wait to be trusted.",
                "Grant it in harness.toml ([[folders]]); it must hold AGENTS.md, harness.toml, skills or hooks.",
            )
        if not approved_hash:
            if ask is None:
                raise UsageProblem(
                    "What a folder brings is used once a person has read it.",
                    "Read it with `macaron tools folders --json` and give --hash with what stands there.",
                )
            for file in found.files:
                _print_file(file, language)
            if not ask(say("folders.ask", language, folder=display_line(place))):
                print_note(say("folders.not", language))
                return 1
            approved_hash = found.content_hash
        shelf.trust_folder(place, approved_hash)
    if as_json:
        print_json({"folder": place, "state": "trusted"})
    else:
        print_text(say("folders.trusted", language, folder=display_line(place)))
    return 0


def run_distrust(paths: Paths, environment: Mapping[str, str], folder: Path, *, as_json: bool) -> int:
    """Raises: UnknownName."""
    place = str(folder.resolve())
    with open_tools(paths) as shelf:
        shelf.distrust_folder(place)
    if as_json:
        print_json({"folder": place, "state": "waiting"})
    else:
        print_text(say("folders.distrusted", language_of(paths.settings, environment), folder=display_line(place)))
    return 0


def _print_file(file: ListedFile, language: str) -> None:
    hidden = say_count("servers.hidden", language, file.hidden_characters) if file.hidden_characters else ""
    print_text(f"--- {display_line(file.path)} {hidden}".rstrip())
    print_text(
        display_text(file.text) if file.text is not None else say_count("folders.bytes", language, file.size_bytes)
    )


def _facts(one: FolderTrust) -> dict[str, Any]:
    return {
        "folder": one.place,
        "state": one.state,
        "hash": one.content_hash,
        "files": [
            {
                "path": file.path,
                "bytes": file.size_bytes,
                "text": file.text,
                "hidden_characters": file.hidden_characters,
            }
            for file in one.files
        ],
    }
