"""What goes with an adapter that leaves the catalogue, as JSON: its identity and where it came from. Opens no file.

What a manifest says is a claim of whoever wrote it; only its hashes can be checked.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any, Final

from engine.adapters.records import AdapterRecord, Source
from engine.errors import BadModelFile

FORMAT: Final = "macaron-adapter"
VERSION: Final = 1
MOST_BYTES: Final = 64 << 20
_LONGEST_TEXT: Final = 2000
_MOST_SOURCES: Final = 1_000_000
_AGAIN: Final = "Export the adapter again, or import the GGUF file without the manifest beside it."


@dataclass(frozen=True, slots=True)
class Manifest:
    content_hash: str
    sha256: str
    """Of the whole file, 64 hex digits."""
    base_hash: str
    profile: str
    expert: str
    rank: int
    parent_hash: str = ""
    recipe_hash: str = ""
    data_hash: str = ""
    note: str = ""
    created_at: str = ""
    sources: tuple[str, ...] = ()
    """Ids of what it was trained on, without their content, so that forgetting finds it wherever it comes back."""


def manifest_of(record: AdapterRecord, sources: tuple[Source, ...], sha256: str) -> Manifest:
    return Manifest(
        record.content_hash,
        sha256,
        record.base_hash,
        record.profile,
        record.expert,
        record.rank,
        record.parent_hash,
        record.recipe_hash,
        record.data_hash,
        record.note,
        record.created_at,
        tuple(source.source_id for source in sources),
    )


def to_json(manifest: Manifest) -> bytes:
    values = {"format": FORMAT, "version": VERSION, **asdict(manifest)}
    return json.dumps(values, ensure_ascii=False, indent=1).encode() + b"\n"


def from_json(data: bytes) -> Manifest | None:
    """None when it is something else than a manifest. Raises: BadModelFile for one that is malformed or newer."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
        return None
    if values.pop("version", None) != VERSION:
        raise BadModelFile("The manifest beside the adapter is of another version.", "Update the program.")
    try:
        manifest = Manifest(**{**values, "sources": tuple(values.get("sources", ()))})
    except TypeError as error:
        raise BadModelFile(f"The manifest beside the adapter is malformed: {error}.", _AGAIN) from error
    _check(manifest)
    return manifest


def _check(manifest: Manifest) -> None:
    """Raises: BadModelFile."""
    for name, value in asdict(manifest).items():
        if name == "sources":
            is_right = len(value) <= _MOST_SOURCES and all(_is_text(source) for source in value)
        elif name == "rank":
            is_right = type(value) is int
        else:
            is_right = _is_text(value)
        if not is_right:
            raise BadModelFile(f"The manifest beside the adapter has no usable `{name}`.", _AGAIN)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_TEXT and value.isprintable()
