"""`macaron adapters import`: an adapter is checked against a profile's base, kept in the home and catalogued.

It may be another program's, one that was exported here or elsewhere, or the result of a training run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from app.adapters.files import expanded, manifest_beside, sha256_of
from app.adapters.opening import open_shelf
from app.bases import find_base
from app.output import print_json, print_text
from app.paths import Paths, make_home
from app.profiles import load_chosen_profile
from app.settings import load_settings, screen_language
from engine.adapters.importing import ImportedAdapter, import_adapter
from engine.adapters.lora import DataType
from engine.adapters.manifest import Manifest
from engine.adapters.records import AdapterKind, AdapterRecord, Source
from engine.errors import AdapterMismatch, AgentError, BadModelFile, UsageProblem
from engine.routing.profile import Profile
from engine.runtime.identity import fingerprint
from local_training.runs.folder import Frozen, RunFolder
from ui.inert import display_line
from ui.sizes import size_text
from ui.strings import say


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an adapter comes from, as far as that is written down beside it."""

    path: Path
    """The folder or file with the weights."""
    kind: AdapterKind = "imported"
    profile: str = ""
    expert: str = ""
    base_hash: str = ""
    sha256: str = ""
    parent_hash: str = ""
    recipe_hash: str = ""
    data_hash: str = ""
    note: str = ""
    sources: tuple[Source, ...] = ()


def run_import(
    paths: Paths,
    environment: Mapping[str, str],
    path: Path,
    *,
    profile: str | None,
    data_type: DataType,
    as_json: bool,
    expert: str | None = None,
) -> int:
    """Raises: UsageProblem, UnknownName, ModelProblem, DiskFull, AgentError."""
    make_home(paths)
    settings = load_settings(paths.settings)
    origin = find_origin(paths, path)
    chosen = load_chosen_profile(paths, profile or origin.profile or settings.profile)
    base = find_base(chosen, paths)
    for_expert = _expert(chosen, expert, origin)
    base_hash = fingerprint(base)
    if origin.base_hash and origin.base_hash != base_hash:
        raise AdapterMismatch(
            f"This adapter was trained on another base than {base.name}.",
            "Name the profile of its base with --profile.",
        )
    if origin.sha256 and origin.sha256 != sha256_of(origin.path):
        raise BadModelFile(
            f"{origin.path.name} is not the file that the manifest beside it describes.",
            "Copy both again; or import the file without the manifest.",
        )
    imported = import_adapter(origin.path, base, paths.adapters, data_type=data_type)
    record = list_imported(paths, imported, _record(imported, origin, chosen, for_expert, base_hash), origin.sources)
    if as_json:
        print_json(_as_json(imported, base, record))
    else:
        _tell(imported, record, base, screen_language(settings, environment))
    return 0


def list_imported(
    paths: Paths, imported: ImportedAdapter, record: AdapterRecord, sources: Sequence[Source]
) -> AdapterRecord:
    """Enter an adapter whose file was just brought in; its entry. Raises: AgentError; a new file is gone then."""
    try:
        with open_shelf(paths) as shelf:
            return shelf.add_adapter(record, sources)
    except AgentError:
        if imported.is_new:  # what is not listed would lie there for ever
            Path(imported.adapter.path).unlink(missing_ok=True)
        raise


def find_origin(paths: Paths, path: Path) -> Origin:
    """A run by its name, its folder or its adapter.gguf; an adapter with what was exported beside it; or an adapter.

    Raises: UsageProblem for a run without a result, BadModelFile.
    """
    source = expanded(path)
    is_name = path.name == str(path) and not source.exists()
    for folder in (paths.runs / path if is_name else source, source.parent):
        run = RunFolder(folder)
        if run.exists() and (folder != source.parent or source.name == run.adapter_gguf.name):
            return _of_run(run)
    manifest = manifest_beside(source)
    return Origin(source) if manifest is None else _of_export(source, manifest)


def _of_run(run: RunFolder) -> Origin:
    frozen: Frozen = run.read_frozen()
    if not run.adapter_gguf.is_file():
        raise UsageProblem(
            f"The run {run.path.name} has no adapter yet.", f"Go on with it: `macaron train resume {run.path.name}`."
        )
    return Origin(
        run.adapter_gguf,
        "personal",
        frozen.profile if Path(frozen.profile).is_dir() else "",
        frozen.expert,
        frozen.base_hash,
        "",
        frozen.expert_adapter_hash,
        frozen.recipe_hash,
        frozen.data_hash,
        f"{frozen.title} ({frozen.kind}), {run.path.name}",
        tuple(Source(source_id, content_hash) for source_id, content_hash in frozen.sources.items()),
    )


def _of_export(source: Path, manifest: Manifest) -> Origin:
    return Origin(
        source,
        "imported",
        "",
        manifest.expert,
        manifest.base_hash,
        manifest.sha256,
        manifest.parent_hash,
        manifest.recipe_hash,
        manifest.data_hash,
        manifest.note,
        tuple(map(Source, manifest.sources)),
    )


def _expert(profile: Profile, expert: str | None, origin: Origin) -> str:
    """As asked for, as written beside it, or the one the profile falls back on. Raises: UnknownName."""
    return profile.expert(expert or origin.expert or profile.route.default).expert


def _record(imported: ImportedAdapter, origin: Origin, profile: Profile, expert: str, base_hash: str) -> AdapterRecord:
    return AdapterRecord(
        content_hash=imported.adapter.content_hash,
        base_hash=base_hash,
        profile=profile.name,
        expert=expert,
        kind=origin.kind,
        file=Path(imported.adapter.path).name,
        size_bytes=imported.size_bytes,
        rank=imported.ranks[1],
        parent_hash=origin.parent_hash,
        recipe_hash=origin.recipe_hash,
        data_hash=origin.data_hash,
        note=origin.note or display_line(origin.path.name, 60),
    )


def _tell(imported: ImportedAdapter, record: AdapterRecord, base: Path, language: str) -> None:
    smallest, largest = imported.ranks
    facts = {
        "base": display_line(base.name),
        "weights": imported.weights,
        "ranks": smallest if smallest == largest else f"{smallest}-{largest}",
        "size": size_text(imported.size_bytes),
    }
    print_text(say("adapters.imported" if imported.is_new else "adapters.known", language, **facts))
    print_text(say("adapters.file", language, path=display_line(imported.adapter.path)))
    name = record.content_hash[:12]
    if record.state == "candidate":
        print_text(say("adapters.waits", language, name=name, expert=record.expert))
    else:
        state = say(f"adapters.state.{record.state}", language)
        print_text(say("adapters.is_here", language, name=name, expert=record.expert, state=state))


def _as_json(imported: ImportedAdapter, base: Path, record: AdapterRecord) -> dict[str, object]:
    return {
        "path": imported.adapter.path,
        "base": str(base),
        **{key: value for key, value in asdict(imported).items() if key != "adapter"},
        "content_hash": imported.adapter.content_hash,
        "adapter": asdict(record),
    }
