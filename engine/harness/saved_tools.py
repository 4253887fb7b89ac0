"""Tools that a model or a person wrote: offered once a person has approved their source and everything they call.

A version that was approved is offered as long as nothing it reaches has changed; then it waits to be approved again. In
the conversation that saved it a function is there anyway, in its namespace. Runs each in a sandbox where nothing else
is, with those tools that its source names.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import Field

from engine.errors import AgentError, UsageProblem
from engine.harness.builtin.entries import Arguments, EntryToolbox, entry
from engine.harness.repl.reach import SAVED, approval_hash, spec_hash
from engine.harness.repl.running import Outside
from engine.harness.repl.saving import describe
from engine.harness.repl.session import run_saved
from engine.harness.repl.values import BlockResult, CallBudget, Limits, SavedTool
from engine.harness.repl.wording import as_text
from engine.harness.tool_calls import Tool
from engine.harness.tools.values import Invocation, Preview, ToolResult, ToolSpec
from engine.store.tools import ToolStore, ToolVersion

PROMOTE: Final = "promote_tool"


@dataclass(frozen=True, slots=True)
class KeptTool:
    """The newest version of a saved tool, as it stands among the tools there are."""

    version: ToolVersion
    tool: SavedTool | None
    """None where its source makes no tool any more."""
    problem: str
    """Why not; empty where it does."""
    hash_now: str
    """Of its source and everything it reaches now; empty where that cannot be said."""

    @property
    def is_offered(self) -> bool:
        return self.hash_now != "" and self.version.approved_hash == self.hash_now

    @property
    def has_changed(self) -> bool:
        """It was approved once, and something it reaches is another now."""
        return self.version.approved_hash not in ("", self.hash_now)


def keep(store: ToolStore, others: Sequence[ToolSpec]) -> Sequence[KeptTool]:
    """Every saved tool as it stands with the tools that were not saved here."""
    newest = store.newest()
    sources = {version.name: version.source for version in newest}
    specs = [spec for spec in others if spec.source != SAVED and spec.tool.name not in sources]
    offered = [*specs, *(_named(name) for name in sources)]
    hashes = {spec.tool.name: spec_hash(spec) for spec in specs}
    return tuple(_kept(version, sources, hashes, offered) for version in newest)


def _kept(
    version: ToolVersion, sources: Mapping[str, str], hashes: Mapping[str, str], offered: Sequence[ToolSpec]
) -> KeptTool:
    try:
        tool = describe(version.name, version.source, version.example, offered)
        return KeptTool(version, tool, "", approval_hash(version.name, sources, hashes))
    except UsageProblem as error:
        return KeptTool(version, None, error.problem, "")


def _named(name: str) -> ToolSpec:
    return ToolSpec(Tool(name), "program", changes=False, source=SAVED)


class PromoteTool(Arguments):
    """Ask the user to keep a saved function as a tool for all conversations."""

    name: str = Field(description="Name of the function that was given to save_tool.")


class SavedToolbox(EntryToolbox):
    """Those that are approved, and the tool that asks for approval."""

    def __init__(
        self,
        store: ToolStore,
        others: Callable[[], Sequence[ToolSpec]],
        limits: Limits,
        budget_of: Callable[[str], CallBudget | None] = lambda _: None,
    ) -> None:
        """`others` are the tools that were not saved here; `budget_of` a conversation's block that runs now."""
        self._store, self._others, self._limits, self._budget_of = store, others, limits, budget_of
        super().__init__([entry(PromoteTool, PROMOTE, "own_data", True, self._preview_promotion, self._promote)])

    def specs(self) -> Sequence[ToolSpec]:
        (promote,) = super().specs()
        kept = keep(self._store, self._others())
        offered = [_spec_of(one.tool) for one in kept if one.is_offered and one.tool is not None]
        return [replace(promote, must_ask=True), *offered]

    def preview(self, invocation: Invocation) -> Preview:
        if invocation.call.name == PROMOTE:
            return super().preview(invocation)
        tool = self._approved(invocation.call.name)
        return Preview(f"Run the saved tool {tool.name}", f"{invocation.call.arguments}\n\n{tool.source}")

    def run(self, invocation: Invocation) -> ToolResult:
        if invocation.call.name == PROMOTE:
            return super().run(invocation)
        try:
            tool = self._approved(invocation.call.name)
            arguments: Mapping[str, Any] = json.loads(invocation.call.arguments)
        except (AgentError, ValueError) as error:
            return ToolResult(str(error), is_error=True, is_tainted=False)
        is_tainted = False

        def answer(call: Any) -> ToolResult:
            nonlocal is_tainted
            assert invocation.others is not None
            result = invocation.others.call(call)
            is_tainted = is_tainted or result.is_tainted
            return result

        others = invocation.others.specs if invocation.others is not None else ()
        budget = self._budget_of(invocation.conversation_id) or CallBudget(self._limits.calls)
        result = run_saved(tool, arguments, Outside(others, answer, budget, invocation.stop), self._limits)
        return ToolResult(said(result), is_error=result.ending != "finished", is_tainted=is_tainted)

    def _approved(self, name: str) -> SavedTool:
        """Raises: UsageProblem where it is not approved as it stands."""
        for one in keep(self._store, self._others()):
            if one.version.name == name and one.is_offered and one.tool is not None:
                return one.tool
        raise UsageProblem(f"The saved tool `{name:.80}` is not approved as it is now.", f"Ask for it with {PROMOTE}.")

    def _preview_promotion(self, asked: PromoteTool, invocation: Invocation) -> Preview:
        kept = self._waiting(asked.name)
        return Preview(f"Keep {kept.version.name} as a tool", approval_text(kept, keep(self._store, self._others())))

    def _promote(self, asked: PromoteTool, invocation: Invocation) -> ToolResult:
        kept = self._waiting(asked.name)
        self._store.approve(kept.version.name, kept.version.version, kept.hash_now)
        return ToolResult(f"{kept.version.name} is a tool from the next turn on.", is_tainted=False)

    def _waiting(self, name: str) -> KeptTool:
        """Raises: UnknownName, UsageProblem where there is nothing to approve."""
        self._store.get(name)
        kept = next(one for one in keep(self._store, self._others()) if one.version.name == name)
        if kept.problem:
            raise UsageProblem(f"{name} cannot be a tool: {kept.problem}", "Save it anew.")
        if kept.is_offered:
            raise UsageProblem(f"{name} is a tool already.", "Call it.")
        return kept


def said(result: BlockResult) -> str:
    """What it returned alone, where it printed nothing: another tool may go on with it."""
    is_plain = result.ending == "finished" and not result.output and result.value is not None
    return result.value or "" if is_plain else as_text(result)


def approval_text(kept: KeptTool, all_kept: Sequence[KeptTool]) -> str:
    """All that a person approves: the source, what it can reach, and the sources of the saved tools among that."""
    tool = kept.tool
    assert tool is not None
    by_name = {one.version.name: one for one in all_kept}
    lines = [f"version {kept.version.version}", f"calls: {', '.join(tool.tools) or 'no other tool'}"]
    lines += [f"imports: {', '.join(tool.imports) or 'nothing'}"]
    lines += [f"can run code its text does not show, by: {', '.join(tool.hidden)}"] if tool.hidden else []
    lines += ["made where text of others was at hand"] if kept.version.is_tainted else []
    parts = ["\n".join(lines), tool.source, f"example:\n{tool.example}"]
    parts += [f"# which calls {name}:\n{by_name[name].version.source}" for name in tool.tools if name in by_name]
    return "\n\n".join(parts)


def _spec_of(tool: SavedTool) -> ToolSpec:
    return ToolSpec(Tool(tool.name, tool.description, tool.parameters), "program", changes=False, source=SAVED)
