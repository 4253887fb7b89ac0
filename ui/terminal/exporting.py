"""Write a conversation to a file that the user can take elsewhere. Overwrites nothing."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from engine.errors import UsageProblem
from engine.values import ConversationCopy
from ui.export import export_name, to_json, to_markdown
from ui.present import display_line
from ui.strings import say

ExportFormat = Literal["markdown", "json"]
SUFFIXES: Final[dict[ExportFormat, str]] = {"markdown": ".md", "json": ".json"}
_FORMATS: Final[dict[str, ExportFormat]] = {"markdown": "markdown", "md": "markdown", "json": "json"}
MAX_PATH_CELLS: Final = 200


@dataclass(frozen=True, slots=True)
class ExportWish:
    format: ExportFormat = "markdown"
    path: str = ""
    """Empty: a name made from the title, in the folder in use."""


def parse_wish(argument: str) -> ExportWish:
    """What stands behind /export: the format, the file, both in this order, or neither."""
    first, _, rest = argument.strip().partition(" ")
    if first.lower() in _FORMATS:
        return ExportWish(_FORMATS[first.lower()], rest.strip())
    path = argument.strip()
    return ExportWish("json" if path.lower().endswith(SUFFIXES["json"]) else "markdown", path)


def write_export(copy: ConversationCopy, wish: ExportWish, folder: Path, language: str) -> Path:
    """Write it, and return where. A name that we made gives way to one that is free; the user's own does not.

    Raises: UsageProblem.
    """
    if wish.format == "json":
        text = json.dumps(to_json(copy), ensure_ascii=False, indent=2) + "\n"
    else:
        text = to_markdown(copy, language)
    taken: set[str] = set()
    while True:
        name = export_name(copy.conversation.title, SUFFIXES[wish.format], taken)
        path = folder / Path(wish.path).expanduser() if wish.path else folder / name
        try:
            _write_new(path, text)
        except FileExistsError as error:
            if wish.path:
                raise _problem("exists", path, language) from error
            taken.add(name.casefold())
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            raise _problem("failed", path, language, reason=getattr(error, "strerror", None) or error) from error
        else:
            return path


def _write_new(path: Path, text: str) -> None:
    """Raises: OSError; FileExistsError also where a link stands, wherever it points."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError:
        path.unlink(missing_ok=True)  # half a file would pass for the whole
        raise


def _problem(key: str, path: Path, language: str, **values: object) -> UsageProblem:
    shown = display_line(str(path), MAX_PATH_CELLS)
    return UsageProblem(
        say(f"export.{key}", language, path=shown, **values), say(f"export.{key}.hint", language, path=shown)
    )
