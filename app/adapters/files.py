"""Where the file of an adapter lies, what lies beside it, and its hash. Writes nothing."""

import hashlib
from pathlib import Path
from typing import Final

from app.adapters.shelf import check_file
from app.paths import Paths
from app.profiles import load_chosen_profile
from engine.adapters.files import written
from engine.adapters.manifest import MOST_BYTES, Manifest, from_json
from engine.adapters.records import AdapterRecord
from engine.errors import BadModelFile, UsageProblem

_CHUNK_BYTES: Final = 1 << 20


def path_of(paths: Paths, record: AdapterRecord) -> Path:
    """In the home's folder of adapters, or in that of its profile where it came with one.

    Raises: ModelMissing, AdapterMismatch when the file is not what was catalogued, UnknownName, ModelProblem.
    """
    if record.kind == "factory":
        return check_file(load_chosen_profile(paths, record.profile).folder / "adapters", record)
    return check_file(paths.adapters, record)


def expanded(path: Path) -> Path:
    """Raises: UsageProblem."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise UsageProblem(f"There is no home folder for {path}.", "Write the whole path.") from error


def manifest_beside(source: Path) -> Manifest | None:
    """Of an adapter that was exported; None where there is no such file or it is something else.

    Raises: BadModelFile.
    """
    beside = source.with_suffix(".json")
    if source.suffix.lower() != ".gguf" or not beside.is_file():
        return None
    try:
        if beside.stat().st_size > MOST_BYTES:
            return None
        return from_json(beside.read_bytes())
    except OSError as error:
        raise BadModelFile(
            f"{beside} cannot be read: {error.strerror or error}.", "Check its rights, or move it away."
        ) from error


def sha256_of(path: Path) -> str:
    """Raises: AgentError."""
    digest = hashlib.sha256()
    with written(path), path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
