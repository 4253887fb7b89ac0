"""HCP: the versioned configuration that models run under, from files in the home and in folders a person trusts.

Bytes in, one strict value out, with a version id of what a model reads. Everything here is pure: who reads files,
keeps trust, starts hooks and servers, or fills in secrets is elsewhere.
"""

from engine.harness.config.complaints import Complaint
from engine.harness.config.harnessed import FolderTrust, Harnessed, ListedFile, WaitingFolder, put_together
from engine.harness.config.model import (
    Budgets,
    HarnessConfig,
    Hook,
    HookMoment,
    Instructions,
    MemoryLayout,
    Permission,
    PlacedHook,
    PlacedServer,
    SandboxPolicy,
    Skill,
    SkillFile,
)
from engine.harness.config.rendering import READ_SKILL, Count, HeadText, head_text, opened_skill
from engine.harness.config.schema import schema_files
from engine.harness.config.secrets_named import SecretName, filled, secret_names
from engine.harness.config.source import Source

__all__ = [
    "READ_SKILL",
    "Budgets",
    "Complaint",
    "Count",
    "FolderTrust",
    "HarnessConfig",
    "Harnessed",
    "HeadText",
    "Hook",
    "HookMoment",
    "Instructions",
    "ListedFile",
    "MemoryLayout",
    "Permission",
    "PlacedHook",
    "PlacedServer",
    "SandboxPolicy",
    "SecretName",
    "Skill",
    "SkillFile",
    "Source",
    "WaitingFolder",
    "filled",
    "head_text",
    "opened_skill",
    "put_together",
    "schema_files",
    "secret_names",
]
