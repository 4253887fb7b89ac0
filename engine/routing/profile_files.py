"""The files of a profile folder, as text in and checked values out. Opens nothing; knows no other file than its own.

Every complaint names the file and the line or key, because people write these files by hand.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.errors import ModelProblem
from engine.harness.formats import Family

Wire = Literal["starter", "tall"]
"""Where the route text stands: `starter` in the system text, so that it is read once; `tall` after the request."""

_EXPERT_HEADING: Final = re.compile(r"##\s+L(\d+)", re.IGNORECASE)
_ADAPTER_LINE: Final = re.compile(r"adapter_name:\s*(\S+)")
# The name becomes a file name, so it may not lead out of the folder.
_ADAPTER_NAME: Final = re.compile(r"\w[\w.+-]*")


class _Table(BaseModel):
    # Strict: "8192" in quotes is a mistake, not a number.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=(), allow_inf_nan=False)


class BaseTable(_Table):
    """Which GGUF is the base, and where it may be found."""

    file: str = ""
    package: str | None = None
    path: str | None = None


class RouteTable(_Table):
    """How an expert is chosen. `default` None: L2 where there is one, else the first expert."""

    wire: Wire = "tall"
    default: str | None = None
    margin_nats: float = Field(default=1.0, ge=0)
    request_tokens: int = Field(default=4096, ge=2)


class SamplingTable(_Table):
    """How answers are sampled; the fields of `engine.runtime.protocol.Sampling`."""

    temperature: float = Field(default=0.7, ge=0)
    top_k: int = Field(default=20, ge=0)
    top_p: float = Field(default=0.8, gt=0, le=1)
    min_p: float = Field(default=0.0, ge=0, lt=1)
    repeat_penalty: float = Field(default=1.0, gt=0)
    repeat_last_n: int = Field(default=64, ge=0)
    presence_penalty: float = Field(default=0.0, ge=-2, le=2)
    frequency_penalty: float = Field(default=0.0, ge=-2, le=2)
    seed: int = Field(default=0, ge=0)


class ProfileTable(_Table):
    """`profile.toml`. The defaults are those of the published Macaron-V1-Tall, whose folder has no such file."""

    name: str | None = None
    title: str | None = None
    model_name: str | None = None
    base_model: str | None = None
    family: Family | None = None
    thinking: bool = False
    context_tokens: int = Field(default=32768, ge=256)
    max_answer_tokens: int = Field(default=8192, ge=1)
    summary_tokens: int = Field(default=96, ge=8)
    writes_memories: bool = True
    base: BaseTable = BaseTable()
    route: RouteTable = RouteTable()
    sampling: SamplingTable = SamplingTable()


def parse_profile(text: str, file: Path) -> ProfileTable:
    """Raises: ModelProblem naming `file` and the key."""
    try:
        table = ProfileTable.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ModelProblem(f"`{file}` is not valid TOML: {error}.", "Correct that line.") from error
    except ValidationError as error:
        complaints = "; ".join(_complaint(dict(detail)) for detail in error.errors())
        raise ModelProblem(f"`{file}`: {complaints}.", _hint(error)) from error
    if table.max_answer_tokens >= table.context_tokens:
        raise ModelProblem(
            f"`{file}`: max_answer_tokens ({table.max_answer_tokens}) leaves no room for a prompt "
            f"in context_tokens ({table.context_tokens}).",
            "Make max_answer_tokens smaller than context_tokens.",
        )
    return table


def _complaint(detail: dict[str, object]) -> str:
    location = detail["loc"]
    key = ".".join(str(step) for step in location) if isinstance(location, tuple) else str(location)
    if detail["type"] == "extra_forbidden":
        return f"unknown key `{key}`"
    return f"`{key}`: {str(detail['msg'])[:1].lower()}{str(detail['msg'])[1:]} (found {detail['input']!r})"


def _hint(error: ValidationError) -> str:
    unknown = [detail["loc"] for detail in error.errors() if detail["type"] == "extra_forbidden"]
    if not unknown:
        return "Correct the value."
    *tables, key = (str(step) for step in unknown[0])
    fields: dict[str, type[BaseModel]] = {"base": BaseTable, "route": RouteTable, "sampling": SamplingTable}
    allowed = list((fields[tables[0]] if tables else ProfileTable).model_fields)
    close = get_close_matches(key, allowed, n=1)
    return f"Did you mean `{close[0]}`?" if close else f"Known keys there: {', '.join(allowed)}."


@dataclass(frozen=True, slots=True)
class ExpertSection:
    """One `## L0` section of `lora.md`. `system` is empty when the section brings no text of its own."""

    expert: str
    adapter_name: str
    description: str
    system: str


def parse_experts(text: str, file: Path) -> tuple[ExpertSection, ...]:
    """The sections in the order of their numbers.

    Raises: ModelProblem naming `file` and the line of a section that is double or lacks something.
    """
    sections: dict[int, ExpertSection] = {}
    adapters: dict[str, str] = {}
    for number, line_number, lines in _sections(text):
        where = f"`{file}`, line {line_number}"
        section = _parse_section(f"L{number}", lines, where)
        if number in sections:
            raise ModelProblem(f"{where}: a second section for {section.expert}.", "Give each expert a number.")
        if section.adapter_name in adapters:
            raise ModelProblem(
                f"{where}: {section.expert} has the adapter `{section.adapter_name}` "
                f"of {adapters[section.adapter_name]}.",
                "Give each expert an adapter_name of its own.",
            )
        sections[number] = section
        adapters[section.adapter_name] = section.expert
    if not sections:
        raise ModelProblem(f"`{file}` describes no expert.", "Add a section with the heading `## L0`.")
    return tuple(sections[number] for number in sorted(sections))


def _sections(text: str) -> Iterator[tuple[int, int, list[str]]]:
    """(number of the expert, line of its heading, lines below it)"""
    found: tuple[int, int, list[str]] | None = None
    for line_number, line in enumerate(text.splitlines(), start=1):
        heading = _EXPERT_HEADING.fullmatch(line.strip())
        if heading:
            if found:
                yield found
            found = int(heading[1]), line_number, []
        elif found:
            found[2].append(line)
    if found:
        yield found


def _parse_section(expert: str, lines: list[str], where: str) -> ExpertSection:
    blocks: dict[str, list[str]] = {}
    adapter_name = block = ""
    for line in lines:
        stripped = line.strip()
        if stripped.startswith("### "):
            block = stripped.removeprefix("### ").strip().lower()
            blocks[block] = []
        elif block in ("description", "system"):
            blocks[block].append(line)
        elif "description" not in blocks and (match := _ADAPTER_LINE.fullmatch(stripped)):
            adapter_name = match[1]
    if not adapter_name:
        raise ModelProblem(
            f"{where}: {expert} has no adapter_name.", "Add a line `adapter_name: NAME` below its heading."
        )
    if not _ADAPTER_NAME.fullmatch(adapter_name):
        raise ModelProblem(
            f"{where}: {expert} has the adapter_name `{adapter_name}`, which cannot be a file name.",
            "Use letters, digits, dots, dashes and underscores.",
        )
    description = "\n".join(blocks.get("description", ())).strip()
    if not description:
        raise ModelProblem(f"{where}: {expert} has no description.", "Add a block `### Description` to its section.")
    return ExpertSection(expert, adapter_name, description, "\n".join(blocks.get("system", ())).strip())
