"""`macaron adapters export`: the file of an adapter and, beside it, what is known of it. Runs no model."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from app.adapters.files import expanded, path_of, sha256_of
from app.adapters.opening import open_shelf
from app.files import refuse_taken, write_private, written
from app.output import print_json, print_text
from app.paths import Paths
from app.settings import load_settings, screen_language
from engine.adapters.files import part_of, settle
from engine.adapters.manifest import manifest_of, to_json
from engine.adapters.records import AdapterRecord
from engine.errors import UsageProblem
from ui.adapter_lines import short
from ui.inert import display_line
from ui.strings import say


def run_export(
    paths: Paths, environment: Mapping[str, str], name: str, *, output: str | None, force: bool, as_json: bool
) -> int:
    """`output` is a .gguf file or a folder; without it the working folder. The manifest is written last.

    Raises: UnknownName, UsageProblem when something is in the way; ModelProblem, DiskFull, AgentError.
    """
    with open_shelf(paths) as shelf:
        details = shelf.adapter(name)
    source = path_of(paths, details.record)
    target = _target(details.record, output)
    manifest_path = target.with_suffix(".json")
    for path in (target, manifest_path):
        refuse_taken(path, overwrite=force)
    with part_of(target.parent) as part, written(target):
        shutil.copyfile(source, part)
        sha256 = sha256_of(part)
        settle(part, target)
    manifest = manifest_of(details.record, details.sources, sha256)
    write_private(manifest_path, [to_json(manifest)], overwrite=force)
    if as_json:
        print_json({"file": str(target), "manifest": str(manifest_path), "sha256": sha256})
        return 0
    language = screen_language(load_settings(paths.settings), environment)
    print_text(say("adapters.exported", language, path=display_line(str(target)), manifest=manifest_path.name))
    if details.sources:
        print_text(say("adapters.export.not_forgotten", language))
    return 0


def _target(record: AdapterRecord, output: str | None) -> Path:
    """Raises: UsageProblem."""
    usual = f"{record.expert}-{short(record.content_hash)}.gguf"
    chosen = expanded(Path(output or ".")).absolute()
    if chosen.is_dir() or (output or "").endswith("/"):
        return chosen / usual
    if chosen.suffix.lower() != ".gguf":
        raise UsageProblem(f"{chosen.name} is no name of an adapter.", "Name a file that ends in .gguf, or a folder.")
    return chosen
