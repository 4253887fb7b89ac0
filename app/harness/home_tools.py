"""The tools of a home, under the configuration in force: what each works on, and what a person has permitted.

Needs no model and no profile. Programs run behind some of them, so close it.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from app.credentials import server_secret
from app.harness.loading import HarnessFiles
from app.jobs.zones import local_zone_name
from app.paths import Paths
from engine.errors import UnknownName, UsageProblem
from engine.harness.approvals import Approvals
from engine.harness.builtin.dates.toolbox import DateToolbox
from engine.harness.builtin.dates.transfer import CalendarFileToolbox
from engine.harness.builtin.files.grants import Grant
from engine.harness.builtin.files.toolbox import FileToolbox
from engine.harness.builtin.notes import NoteToolbox
from engine.harness.builtin.web.toolboxes import FetchToolbox, SearchToolbox
from engine.harness.config import FolderTrust, HarnessConfig, Harnessed, SecretName
from engine.harness.hooks import Hooks
from engine.harness.mcp import McpToolbox
from engine.harness.mcp.approvals import ApprovalStore
from engine.harness.mcp.entries import Entry, EntryProblem, entries_of
from engine.harness.permissions import Circumstances, Rule
from engine.harness.repl.toolbox import ReplToolbox
from engine.harness.repl.values import Limits, SavedTool
from engine.harness.sandbox import working_sandbox
from engine.harness.saved_tools import SavedToolbox
from engine.harness.tools.values import Invocation, Toolbox, ToolResult, ToolSpec
from engine.jobs.times import zone_named
from engine.store.database import Database
from engine.store.dates import DateStore
from engine.store.notes import NoteStore
from engine.store.permits import PermitStore
from engine.store.tools import ToolStore

_MIB: Final = 1 << 20
_LATELY: Final = timedelta(days=90)
APPROVALS_FILE: Final = "mcp-approvals.json"


@dataclass(frozen=True, slots=True)
class Toolboxes:
    """Made from a part of the configuration; made anew when that changes."""

    made_of: tuple[object, ...]
    repl: ReplToolbox
    mcp: McpToolbox
    refused: tuple[EntryProblem, ...]
    """Servers of the configuration that are not used as they are."""
    all: tuple[Toolbox, ...]

    def specs(self) -> Sequence[ToolSpec]:
        """Of those that were not saved here."""
        return [spec for toolbox in self.all if not isinstance(toolbox, SavedToolbox) for spec in toolbox.specs()]

    def close(self) -> None:
        self.repl.close()
        self.mcp.close()


class HomeTools:
    """Thread-safe."""

    def __init__(
        self,
        paths: Paths,
        database: Database,
        *,
        approvals: Approvals | None = None,
        environment: Mapping[str, str] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
        zone: ZoneInfo | None = None,
    ) -> None:
        self.approvals = approvals or Approvals()
        self.permits = PermitStore(database)
        self.saved = ToolStore(database)
        self._paths = paths
        self._files = HarnessFiles(paths.home)
        self._environment = dict(os.environ if environment is None else environment)
        self._dates, self._notes = DateStore(database), NoteStore(database)
        self._zone, self._now = zone or zone_named(local_zone_name()), now
        self._lock = threading.Lock()
        self._made: Toolboxes | None = None

    def close(self) -> None:
        with self._lock:
            made, self._made = self._made, None
        if made is not None:
            made.close()

    def forget(self, conversation_id: str) -> None:
        """End what a conversation has in its Python namespace."""
        with self._lock:
            if self._made is not None:
                self._made.repl.forget(conversation_id)

    def harnessed(self) -> Harnessed:
        """The configuration in force now: the home's, and that of granted folders which are trusted.

        Raises: UsageProblem for a harness.toml that is wrong from the beginning.
        """
        own = self._files.current()
        folders = [Path(one.path).expanduser() for one in own.config.folders]
        return self._files.current(folders) if folders else own

    def folders(self) -> Sequence[FolderTrust]:
        """Those that wait for trust, then those that are trusted. Raises: UsageProblem."""
        waiting = [
            FolderTrust(one.place, "changed" if one.was_trusted else "waiting", one.source.content_hash, one.files())
            for one in self.harnessed().waiting
        ]
        places = {one.place for one in waiting}
        trusted = [place for place in self._files.trusted_places() if place not in places]
        return (*waiting, *(FolderTrust(place, "trusted") for place in trusted))

    def trust_folder(self, place: str, content_hash: str) -> None:
        """Raises: UnknownName; UsageProblem where it holds something else now; DiskFull, AgentError."""
        found = next((one for one in self.harnessed().waiting if one.place == place), None)
        if found is None:
            raise UnknownName(f"{place} does not wait to be trusted.", "See `macaron tools folders`.")
        if found.source.content_hash != content_hash:
            raise UsageProblem(f"What {place} brings has changed meanwhile.", "Look at it again and decide anew.")
        self._files.trust(found)

    def distrust_folder(self, place: str) -> None:
        """Raises: UnknownName, UsageProblem, DiskFull, AgentError."""
        if not self._files.distrust(Path(place)):
            raise UnknownName(f"{place} is not trusted.", "See `macaron tools folders`.")

    def toolboxes(self, config: HarnessConfig) -> Toolboxes:
        """Those there are; what runs behind others that are no more is ended."""
        made_of = (config.folders, config.web, config.sandbox, config.budgets, dict(config.mcp_servers))
        with self._lock:
            if self._made is None or self._made.made_of != made_of:
                old, self._made = self._made, None
                if old is not None:
                    old.close()
                self._made = self._make(config, made_of)
            return self._made

    def uses(self) -> Mapping[str, int]:
        """How often each tool was run with success lately."""
        return self.saved.uses((self._now() - _LATELY).astimezone(UTC).isoformat())

    def hooks(self, config: HarnessConfig) -> Hooks:
        return Hooks(config, self._environment, str(self._paths.home))

    def circumstances(self, conversation_id: str, config: HarnessConfig, *, is_tainted: bool) -> Circumstances:
        """Rules of the configuration stand beside what a person answered; what forbids counts in either."""
        rules = [permit.rule for permit in self.permits.permits()]
        rules += [
            Rule(one.tool, one.pattern, one.decision == "allow") for one in config.permissions if one.decision != "ask"
        ]
        mode, has_sandbox = self.permits.mode(conversation_id), working_sandbox() is not None
        return Circumstances(mode, tuple(rules), is_tainted, has_sandbox, config.sandbox.without)

    def _make(self, config: HarnessConfig, made_of: tuple[object, ...]) -> Toolboxes:
        grants = [Grant(Path(one.path).expanduser(), one.access) for one in config.folders]
        files = FileToolbox(grants, self._paths.undo, [self._paths.home])
        limits = _limits(config)
        repl = ReplToolbox(_specs_of_others, _call_of_another, self._propose, limits=limits)
        entries, refused = entries_of(config.mcp_servers)
        mcp = self._servers(entries)
        rest = (
            repl,
            files,
            DateToolbox(self._dates, self._zone, self._now),
            CalendarFileToolbox(self._dates, self._zone, files),
            NoteToolbox(self._notes),
            SearchToolbox(config.web.search),
            FetchToolbox(config.web.fetch),
            mcp,
        )
        saved = SavedToolbox(
            self.saved, lambda: [spec for toolbox in rest for spec in toolbox.specs()], limits, repl.budget_of
        )
        return Toolboxes(made_of, repl, mcp, refused, (*rest, saved))

    def _servers(self, entries: Sequence[Entry]) -> McpToolbox:
        return McpToolbox(
            entries,
            ApprovalStore(self._paths.home / APPROVALS_FILE),
            folder=self._paths.home / "mcp",
            environment=self._environment,
            secret_of=self._secret,
        )

    def _secret(self, name: SecretName) -> str:
        """Raises: NoKeyring; UsageProblem where it is not set."""
        if name.kind == "keyring":
            return server_secret(name.name)
        if secret := self._environment.get(name.name, ""):
            return secret
        raise UsageProblem(f"The variable {name.name} is not set.", "Set it where the host is started.")

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


def _specs_of_others(invocation: Invocation) -> Sequence[ToolSpec]:
    return () if invocation.others is None else invocation.others.specs


def _call_of_another(invocation: Invocation) -> ToolResult:
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
