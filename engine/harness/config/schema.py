"""The JSON Schemas of the configuration, for editors and other programs. Pure.

They lie in `assets/harness/`; a test says when they are no longer those of the code.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from engine.harness.config.model import FolderTable, HarnessConfig, HomeTable
from engine.harness.config.parts import Part

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_SCHEMAS: Final[Mapping[str, type[Part]]] = {
    "harness-config.schema.json": HarnessConfig,
    "home-harness-toml.schema.json": HomeTable,
    "folder-harness-toml.schema.json": FolderTable,
}


def schema_files() -> dict[str, str]:
    """Every schema as the text of a file, by file name."""
    return {name: json.dumps(_schema(model), indent=1, ensure_ascii=False) + "\n" for name, model in _SCHEMAS.items()}


def _schema(model: type[Part]) -> dict[str, Any]:
    return {"$schema": _DIALECT, **model.model_json_schema(by_alias=True)}
