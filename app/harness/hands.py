"""The hands of the agent on this home: its tools, under the configuration in force and the permissions remembered.

Joins the toolboxes with what they work on; each of them decides for itself what it offers.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from app.harness.loading import HarnessFiles
from app.jobs.zones import local_zone_name
from app.paths import Paths
from engine.errors import UsageProblem
from engine.hands import Offer, Offered
from engine.harness.approvals import Approvals
from engine.harness.builtin.dates.toolbox import DateToolbox
from engine.harness.builtin.dates.transfer import CalendarFileToolbox
from engine.harness.builtin.delegate import DelegateToolbox
from engine.harness.builtin.files.grants import Grant
from engine.harness.builtin.files.toolbox import FileToolbox
from engine.harness.builtin.notes import NoteToolbox
from engine.harness.builtin.web.toolboxes import FetchToolbox, SearchToolbox
from engine.harness.config import HarnessConfig, Harnessed
from engine.harness.config.rendering import READ_SKILL, head_text
from engine.harness.config.skill_toolbox import SkillToolbox
from engine.harness.mcp import McpToolbox
from engine.harness.mcp.approvals import ApprovalStore
from engine.harness.mcp.entries import entries_of
from engine.harness.permissions import Circumstances, Rule
from engine.harness.repl.toolbox import ReplToolbox
from engine.harness.repl.values import Limits, SavedTool
from engine.harness.sandbox import working_sandbox
from engine.harness.saved_tools import SavedToolbox
from engine.harness.tool_calls import Style, system_content
from engine.harness.tools.values import Invocation, Toolbox, ToolResult, ToolSpec
from engine.jobs.times import zone_named
from engine.routing.profile import Profile
from engine.runtime.protocol import Encoder
from engine.store import Store
from engine.store.dates import DateStore
from engine.store.notes import NoteStore
from engine.store.permits import PermitStore
from engine.store.tools import ToolStore

_MIB: Final = 1 << 20
_TOOL_SHARE: Final = 0.2
"""Of the context, for descriptions of tools."""
_FIRST: Final = (
    "python",
    "read_skill",
    "add_reminder",
    "list_events",
    "add_note",
    "search_notes",
    "read_file",
    "list_files",
    "write_file",
    "web_search",
    "delegate",
    "search_files",
    "edit_file",
    "add_event",
    "read_note",
    "web_fetch",
)
"""Those an expert reads of before others, where there is no room for all."""


@dataclass(frozen=True, slots=True)
class _Made:
    """Toolboxes that depend on a part of the configuration, and that part."""

    of: tuple[object, ...]
    toolboxes: tuple[Toolbox, ...]
    mcp: McpToolbox | None
    repl: ReplToolbox | None


class HomeHands:
    """See `engine.hands.Hands`. Close it: programs run behind it."""

    def __init__(
        self,
        paths: Paths,
        store: Store,
        profile: Profile,
        encoder: Encoder,
        style: Style,
        *,
        approvals: Approvals | None = None,
        environment: Mapping[str, str] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
        zone: ZoneInfo | None = None,
    ) -> None:
        self.approvals = approvals or Approvals()
        self.permits = PermitStore(store.database)
        self.saved = ToolStore(store.database)
        self._paths = paths
        self._files = HarnessFiles(paths.home)
        self._profile = profile
        self._style = style
        self._count: Callable[[str], int] = lambda text: len(encoder.encode(text))
        self._environment = dict(os.environ if environment is None else environment)
        zone = zone or zone_named(local_zone_name())
        self._dates, self._notes = DateStore(store.database), NoteStore(store.database)
        self._zone, self._now = zone, now
        self._lock = threading.Lock()
        self._harnessed: Harnessed | None = None
        self._made: _Made | None = None

    def close(self) -> None:
        with self._lock:
            made, self._made = self._made, None
        _close(made)

    def harnessed(self) -> Harnessed:
        """The configuration of the turn that runs."""
        return self._harnessed or self._files.current()

    def current(self) -> Offer:
        with self._lock:
            self._harnessed = harnessed = self._files.current()
            made = self._toolboxes(harnessed.config)
        if made.mcp is not None:
            made.mcp.refresh()
        return self._offer(harnessed.config, made.toolboxes)

    def circumstances(self, conversation_id: str, *, is_tainted: bool) -> Circumstances:
        config = self.harnessed().config
        rules = [permit.rule for permit in self.permits.permits()]
        # Of the configuration, what permits stands behind what a person answered; what forbids counts in any place.
        rules += [
            Rule(one.tool, one.pattern, one.decision == "allow") for one in config.permissions if one.decision != "ask"
        ]
        return Circumstances(
            self.permits.mode(conversation_id),
            tuple(rules),
            is_tainted,
            has_sandbox=working_sandbox() is not None,
        )

    def remember(self, rule: Rule) -> None:
        self.permits.remember(rule)

    def _offer(self, config: HarnessConfig, toolboxes: Sequence[Toolbox]) -> Offer:
        found: dict[str, Offered] = {}
        for toolbox in toolboxes:
            for spec in toolbox.specs():
                if config.is_on(spec.tool.name):
                    found.setdefault(spec.tool.name, Offered(spec, toolbox))
        experts = self._profile.expert_ids
        tools = {
            expert: self._fitting(config, [one for name, one in found.items() if config.is_offered(name, expert)])
            for expert in experts
        }
        heads = {expert: self._head(config, expert, tools[expert]) for expert in experts}
        return Offer(
            {expert: some for expert, some in tools.items() if some},
            {expert: text for expert, text in heads.items() if text},
            config.budgets.turn_tool_calls,
        )

    def _fitting(self, config: HarnessConfig, offered: Sequence[Offered]) -> tuple[Offered, ...]:
        """All of them, the most wanted first; those are shown whose descriptions fit."""
        room = min(config.budgets.tool_tokens, int(self._profile.context_tokens * _TOOL_SHARE))
        places = {name: place for place, name in enumerate(_FIRST)}
        ordered = sorted(offered, key=lambda one: places.get(one.spec.tool.name, len(places)))
        fitting: list[Offered] = []
        for one in ordered:
            tools = [*(other.spec.tool for other in fitting if other.is_shown), one.spec.tool]
            size = self._count("".join(part.text for part in system_content("", tools, self._style)))
            fitting.append(replace(one, is_shown=size <= room))
        return tuple(fitting)

    def _head(self, config: HarnessConfig, expert: str, offered: Sequence[Offered]) -> str:
        reads_skills = any(one.spec.tool.name == READ_SKILL and one.is_shown for one in offered)
        return head_text(config, expert, self._count, with_skills=reads_skills).text

    def _toolboxes(self, config: HarnessConfig) -> _Made:
        """Those there are, made anew where what they are made from has changed."""
        of = (config.folders, config.web, config.sandbox, config.budgets, dict(config.mcp_servers))
        if self._made is not None and self._made.of == of:
            return self._made
        old, self._made = self._made, None
        _close(old)
        files = FileToolbox(
            [Grant(Path(one.path).expanduser(), one.access) for one in config.folders],
            self._paths.home / "undo",
            [self._paths.home],
        )
        dates = [DateToolbox(self._dates, self._zone, self._now), CalendarFileToolbox(self._dates, self._zone, files)]
        repl = ReplToolbox(_offered, _call, self._propose, limits=_limits(config))
        mcp = self._mcp(config)
        experts = [(one.expert, one.description) for one in self._profile.experts]
        toolboxes: list[Toolbox] = [repl, files, *dates, NoteToolbox(self._notes), SearchToolbox(config.web.search)]
        toolboxes += [FetchToolbox(config.web.fetch), SkillToolbox(self.harnessed, self._count)]
        toolboxes += [DelegateToolbox(experts)] if len(experts) > 1 else []
        toolboxes += [mcp] if mcp is not None else []
        rest = tuple(toolboxes)
        toolboxes.append(
            SavedToolbox(
                self.saved,
                lambda: [spec for toolbox in rest for spec in toolbox.specs()],
                _limits(config),
                repl.budget_of,
            )
        )
        self._made = _Made(of, tuple(toolboxes), mcp, repl)
        return self._made

    def _mcp(self, config: HarnessConfig) -> McpToolbox | None:
        entries, _ = entries_of(config.mcp_servers)
        if not entries:
            return None
        mcp = McpToolbox(
            entries,
            ApprovalStore(self._paths.home / "mcp-approvals.json"),
            folder=self._paths.home / "mcp",
            environment=self._environment,
            secret_of=self._secret,
        )
        mcp.start()
        return mcp

    def _secret(self, name: object) -> str:
        raise UsageProblem(f"The secret {name} is not set.", "Set it in the environment of the host.")

    def _propose(self, invocation: Invocation, tool: SavedTool, is_tainted: bool) -> None:
        """A saved function waits for a person to approve it."""
        self.saved.add(
            tool.name,
            tool.source,
            tool.example,
            "model",
            conversation_id=invocation.conversation_id,
            is_tainted=is_tainted,
        )


def _offered(invocation: Invocation) -> Sequence[ToolSpec]:
    return () if invocation.others is None else invocation.others.specs


def _call(invocation: Invocation) -> ToolResult:
    if invocation.others is None:
        return ToolResult("No other tools can be called from here.", is_error=True, is_tainted=False)
    return invocation.others.call(invocation.call)


def _limits(config: HarnessConfig) -> Limits:
    return Limits(
        wall_s=config.budgets.tool_seconds,
        cpu_s=10 * config.sandbox.cpu_seconds,
        memory_bytes=config.sandbox.memory_mib * _MIB,
        threads=config.sandbox.processes,
        calls=config.budgets.block_tool_calls,
    )


def _close(made: _Made | None) -> None:
    if made is None:
        return
    if made.repl is not None:
        made.repl.close()
    if made.mcp is not None:
        made.mcp.close()
