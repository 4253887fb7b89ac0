"""`macaron adapters import`: an adapter of another program is checked against a profile's base and kept in the home."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from app.bases import find_base
from app.models.wording import size_text
from app.output import print_json, print_text
from app.paths import Paths, make_home
from app.profiles import load_chosen_profile
from app.settings import load_settings, screen_language
from engine.adapters.importing import ImportedAdapter, import_adapter
from engine.adapters.lora import DataType
from engine.errors import UsageProblem
from ui.inert import display_line
from ui.strings import say


def run_import(
    paths: Paths,
    environment: Mapping[str, str],
    path: Path,
    *,
    profile: str | None,
    data_type: DataType,
    as_json: bool,
) -> int:
    """Raises: UsageProblem, UnknownName, ModelProblem, DiskFull, AgentError."""
    make_home(paths)
    settings = load_settings(paths.settings)
    base = find_base(load_chosen_profile(paths, profile or settings.profile), paths)
    source = _expanded(path)
    imported = import_adapter(source, base, paths.adapters, data_type=data_type)
    if as_json:
        print_json(_as_json(imported, base))
        return 0
    language = screen_language(settings, environment)
    smallest, largest = imported.ranks
    facts = {
        "base": display_line(base.name),
        "weights": imported.weights,
        "ranks": smallest if smallest == largest else f"{smallest}-{largest}",
        "size": size_text(imported.size_bytes),
    }
    print_text(say("adapters.imported" if imported.is_new else "adapters.known", language, **facts))
    print_text(say("adapters.file", language, path=display_line(imported.adapter.path)))
    return 0


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise UsageProblem(f"There is no home folder for {path}.", "Write the whole path.") from error


def _as_json(imported: ImportedAdapter, base: Path) -> dict[str, object]:
    return {
        "path": imported.adapter.path,
        "base": str(base),
        **{key: value for key, value in asdict(imported).items() if key != "adapter"},
        "content_hash": imported.adapter.content_hash,
    }
