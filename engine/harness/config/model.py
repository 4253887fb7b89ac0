"""HCP: everything a model runs under beside its profile, as one tree of strict, frozen values.

`HomeTable` is what `harness.toml` in the home may say, `FolderTable` the little that the one of a trusted folder may,
`HarnessConfig` all of it put together with instructions and skills. Opens no file and starts nothing.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from engine.harness.config.parts import MOST_ENTRIES, Items, Line, OptionalLine, Part, Text, Word
from engine.harness.config.secrets_named import secret_arguments
from engine.harness.config.servers import McpServer, ServerName, WrittenServer
from engine.remembering import RECALL_ITEMS, RECALL_TOKENS

FORMAT_VERSION: Final = 1
HookMoment = Literal["before_turn", "after_turn", "before_tool", "after_tool"]
Decision = Literal["allow", "ask", "deny"]

WhoReads = Annotated[str, Field(pattern=r"^(all|L[0-9]{1,3})$")]
"""An expert's label, or "all"."""
ToolPattern = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\w.*?-]+$")]
"""A tool's name, in which `*` stands for any characters and `?` for one."""


_USUAL_OFFER: Final = ("read_skill",)
_USUAL_OFFERS: Final[Mapping[str, tuple[str, ...]]] = {
    "L1": ("*",),
    "L2": ("python", "read_skill", "*_file", "*_files", "undo_write", "delegate"),
}


class Hook(Part):
    """A program of the user's that is run around turns or tool calls. Its words are not read by a shell."""

    when: HookMoment
    command: Items[OptionalLine] = Field(min_length=1)
    """Program and arguments. In a trusted folder, paths below `hooks/` and `skills/` name what was trusted."""
    timeout_s: float = Field(default=10.0, gt=0, le=600)
    """A hook that takes longer is ended; one before a tool then forbids the call."""
    tools: Items[ToolPattern] = ()
    """Which tools a hook around calls is for; none is all."""

    @model_validator(mode="after")
    def _fits_its_moment(self) -> Self:
        if self.tools and self.when in ("before_turn", "after_turn"):
            raise ValueError(f"It is run {self.when.replace('_', ' a ')}, so it takes no `tools`")
        if not self.command[0].strip():
            raise ValueError("It names no program")
        return self

    def is_for(self, tool: str) -> bool:
        """Whether a call of this tool concerns it."""
        return not self.tools or any(fnmatchcase(tool, pattern) for pattern in self.tools)


class WrittenHook(Hook):
    """A hook as a person wrote it down."""

    @model_validator(mode="after")
    def _holds_no_secret(self) -> Self:
        if any(True for _ in secret_arguments(self.command)):
            raise ValueError("An argument seems to hold a secret; let the program read it where it is kept")
        return self


class Permission(Part):
    """A remembered answer to "may it?"."""

    tool: ToolPattern
    pattern: Line = "*"
    """What the call must look like, as the tool writes it down; `*` is any."""
    decision: Decision


class MemoryLayout(Part):
    """How much of what is remembered stands in front of a message."""

    is_on: bool = True
    """Otherwise nothing is recalled, and nothing is kept either."""
    recall_items: int = Field(default=RECALL_ITEMS, ge=0, le=100)
    recall_tokens: int = Field(default=RECALL_TOKENS, ge=0, le=32_768)
    """And never more than an eighth of the context."""


class SandboxPolicy(Part):
    """What a sandboxed program may use. It never reaches other machines."""

    memory_mib: int = Field(default=1_024, ge=64, le=1_048_576)
    cpu_seconds: int = Field(default=60, ge=1, le=86_400)
    """For one block of code."""
    processes: int = Field(default=64, ge=1, le=4_096)
    without: Literal["ask", "deny"] = "ask"
    """What happens to a program where this machine has no working sandbox."""


class Budgets(Part):
    """Bounds on one turn and on what stands in the head of every view."""

    turn_tool_calls: int = Field(default=24, ge=0, le=1_000)
    block_tool_calls: int = Field(default=16, ge=0, le=1_000)
    """Calls that one block of code may make."""
    turn_seconds: float = Field(default=600.0, gt=0, le=86_400)
    """After so long a turn calls no more tools and answers; waiting for a person does not count."""
    tool_seconds: float = Field(default=60.0, gt=0, le=86_400)
    result_tokens: int = Field(default=2_048, ge=64, le=1_048_576)
    """What of one tool's result the model reads."""
    thinking_tokens: int = Field(default=4_096, ge=0, le=1_048_576)
    instruction_tokens: int = Field(default=2_000, ge=0, le=1_048_576)
    """Additions to the system text and AGENTS.md files, together."""
    tool_tokens: int = Field(default=4_096, ge=0, le=1_048_576)
    """Descriptions of tools in a head, and never more than a fifth of the context. Those that do not fit can still be
    called by blocks of code."""
    skill_tokens: int = Field(default=600, ge=0, le=1_048_576)
    """The list of skills."""
    opened_skill_tokens: int = Field(default=4_000, ge=0, le=1_048_576)
    """One skill that is read."""


class GrantedFolder(Part):
    """A folder of the user's whose files tools may see."""

    path: Line
    """Absolute, or beginning with `~`."""
    access: Literal["read", "write"] = "read"


class WebAccess(Part):
    """What of the web tools may reach. Nothing, unless it is set."""

    search: OptionalLine = ""
    """Address of a SearXNG server, which gets the queries."""
    fetch: bool = False
    """Whether public pages may be fetched."""


class _Table(Part):
    """What both kinds of harness.toml may say."""

    version: Literal[1] = FORMAT_VERSION
    """Of this format."""
    system: Mapping[WhoReads, Text] = Field(default={}, max_length=MOST_ENTRIES)
    """Added to the system text of an expert, or of "all"."""
    hooks: Items[WrittenHook] = ()
    mcp_servers: Mapping[ServerName, WrittenServer] = Field(default={}, alias="mcpServers", max_length=MOST_ENTRIES)


class HomeTable(_Table):
    """`harness.toml` in the home."""

    tools: Mapping[ToolPattern, bool] = Field(default={}, max_length=MOST_ENTRIES)
    """Tools switched on or off. The exact name counts before a pattern, a longer pattern before a shorter one."""
    offers: Mapping[WhoReads, Items[ToolPattern]] = Field(default={}, max_length=MOST_ENTRIES)
    """Which of the tools that are on each expert is offered; "all" is for those that are not named. Without it the
    expert of tools gets all and the one of code those for code."""
    permissions: Items[Permission] = ()
    folders: Items[GrantedFolder] = ()
    web: WebAccess = WebAccess()
    memory: MemoryLayout = MemoryLayout()
    sandbox: SandboxPolicy = SandboxPolicy()
    budgets: Budgets = Budgets()


class FolderPermission(Permission):
    """A folder may make its user be asked, never spare the question."""

    decision: Literal["ask", "deny"]


class FolderTable(_Table):
    """`harness.toml` in a trusted folder: it adds instructions and programs, and otherwise only narrows."""

    tools: Mapping[ToolPattern, Literal[False]] = Field(default={}, max_length=MOST_ENTRIES)
    """Tools switched off."""
    permissions: Items[FolderPermission] = ()


class Instructions(Part):
    """A text that is in force for every turn: an addition of harness.toml, or an AGENTS.md."""

    origin: str = ""
    """Name of the folder it came from; empty for the home."""
    reader: WhoReads = "all"
    text: Annotated[str, Field(min_length=1)]


class SkillFile(Part):
    """A file beside a SKILL.md, which whoever reads the skill may come to need."""

    path: str
    """From the skill's folder, with slashes."""
    size_bytes: int
    sha256: str


class Skill(Part):
    """A way of working that is written down: a line in every head, and a text that is read when it fits."""

    name: Word
    description: Line
    when: OptionalLine = ""
    """When to use it."""
    body: str
    origin: str = ""
    """Name of the folder it came from; empty for the home."""
    folder: str = ""
    """Where its files lie; the copy a person trusted, where it came from a folder."""
    files: tuple[SkillFile, ...] = ()


class PlacedHook(Hook):
    """A hook and where it came from."""

    place: str = ""
    """The folder it is for; empty for the home's, which are for all."""


class PlacedServer(McpServer):
    """A server and where it came from."""

    place: str = ""
    """As in PlacedHook."""


class HarnessConfig(Part):
    """Everything, from the home and all trusted folders in use."""

    version: Literal[1] = FORMAT_VERSION
    instructions: tuple[Instructions, ...] = ()
    """In the order in which they are read: the home's, then those of folders; additions before AGENTS.md."""
    skills: tuple[Skill, ...] = ()
    """By name."""
    hooks: tuple[PlacedHook, ...] = ()
    mcp_servers: Mapping[ServerName, PlacedServer] = Field(default={}, alias="mcpServers")
    tools: Mapping[ToolPattern, bool] = Field(default={})
    switched_off: tuple[ToolPattern, ...] = ()
    """By trusted folders; counts before `tools`."""
    offers: Mapping[WhoReads, tuple[ToolPattern, ...]] = Field(default={})
    permissions: tuple[Permission, ...] = ()
    folders: tuple[GrantedFolder, ...] = ()
    web: WebAccess = WebAccess()
    memory: MemoryLayout = MemoryLayout()
    sandbox: SandboxPolicy = SandboxPolicy()
    budgets: Budgets = Budgets()

    def is_on(self, tool: str, *, default: bool = True) -> bool:
        """Whether a tool of this name may be offered; `default` where the configuration says nothing of it."""
        if any(fnmatchcase(tool, pattern) for pattern in self.switched_off):
            return False
        if tool in self.tools:
            return self.tools[tool]
        fitting = [pattern for pattern in self.tools if fnmatchcase(tool, pattern)]
        # Of two patterns of one length, off counts.
        best = max(fitting, key=lambda pattern: (len(pattern), not self.tools[pattern]), default=None)
        return default if best is None else self.tools[best]

    def is_offered(self, tool: str, expert: str) -> bool:
        """Whether this expert may be offered a tool that is on."""
        patterns = self.offers.get(expert, self.offers.get("all", _USUAL_OFFERS.get(expert, _USUAL_OFFER)))
        return any(fnmatchcase(tool, pattern) for pattern in patterns)

    def hooks_at(self, moment: HookMoment, tool: str = "") -> tuple[PlacedHook, ...]:
        """The hooks to run now, in their order."""
        return tuple(hook for hook in self.hooks if hook.when == moment and (not tool or hook.is_for(tool)))

    def skill(self, name: str) -> Skill | None:
        """The skill of this name."""
        return next((skill for skill in self.skills if skill.name == name), None)
