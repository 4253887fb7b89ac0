"""Which model files this program fetched itself, and from where. One small file beside each; only those may it delete.

A model file without a record belongs to the user or to another program.
"""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from app.files import write_private


@dataclass(frozen=True, slots=True)
class Record:
    repo: str
    file: str
    """Its path within the repository."""
    revision: str
    """The commit it was taken from."""
    sha256: str
    size_bytes: int
    licence: str


def record_path(model: Path) -> Path:
    return model.with_name(f"{model.name}.source.json")


def write_record(model: Path, record: Record) -> None:
    """Raises: DiskFull, AgentError."""
    write_private(record_path(model), [json.dumps(asdict(record), indent=1).encode() + b"\n"], overwrite=True)


def read_record(model: Path) -> Record | None:
    """The record of `model`; None where there is none or it is no record."""
    try:
        values: Any = json.loads(record_path(model).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    names = {field.name for field in fields(Record)}
    if not isinstance(values, dict) or set(values) != names:
        return None
    if not all(isinstance(value, int if name == "size_bytes" else str) for name, value in values.items()):
        return None
    return Record(**values)
