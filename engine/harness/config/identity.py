"""The version id of a configuration: equal as long as a model would read the same. Pure."""

import hashlib
import json
from typing import Any, Final

from engine.harness.config.model import HarnessConfig
from engine.harness.config.rendering import RENDERING_VERSION

_READ: Final[dict[str, Any]] = {
    "instructions": True,
    # Not where they come from and lie: no model is told.
    "skills": {"__all__": {"name", "description", "when", "body", "files"}},
    "tools": True,
    "switched_off": True,
    "memory": True,
    "budgets": {
        "result_tokens",
        "instruction_tokens",
        "skill_tokens",
        "opened_skill_tokens",
    },
}
"""What a model's input depends on. Not there: hooks, servers, permissions, the sandbox and other budgets, which decide
what happens and not what is read; the tools that servers offer are hashed where they are rendered."""

_DIGITS: Final = 16


def version_of(config: HarnessConfig) -> str:
    """SHA-256 over the canonical content that a model's input depends on, as 16 hexadecimal digits."""
    read = config.model_dump(mode="json", include=_READ)
    content = json.dumps([RENDERING_VERSION, read], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(content.encode("utf-8")).hexdigest()[:_DIGITS]
