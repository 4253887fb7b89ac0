"""The decision about one call: run it, ask, or refuse, and why. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from engine.harness.permissions.rules import Mode, Rule
from engine.harness.tool_calls import ToolCall
from engine.harness.tools.values import Reach, ToolSpec

Verdict = Literal["run", "ask", "refuse"]
_QUIET: Final[frozenset[Reach]] = frozenset({"nothing", "own_data", "files"})
"""What may be read without asking: files only within folders that a person has granted."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    mode: Mode
    rules: Sequence[Rule] = ()
    is_tainted: bool = False
    """Whether the conversation holds text of others, which may have asked for the call."""
    has_sandbox: bool = True
    without_sandbox: Literal["ask", "deny"] = "ask"
    """What becomes of programs where there is none."""
    can_ask: bool = True
    """Whether there is a face with a person before it."""


@dataclass(frozen=True, slots=True)
class Decision:
    verdict: Verdict
    reason: str
    """forbidden, plan, no_sandbox, leaves_tainted, allowed, quiet, auto, changes, reaches, or nobody."""


def decide(spec: ToolSpec, call: ToolCall, circumstances: Circumstances) -> Decision:
    """What is forbidden stays so whatever else is said; the floor asks whatever was permitted; then rules, then mode.

    Where nobody can be asked, what would be asked for is refused.
    """
    decision = _decide(spec, call, circumstances)
    if decision.verdict == "ask" and not circumstances.can_ask:
        return Decision("refuse", "nobody")
    return decision


def _decide(spec: ToolSpec, call: ToolCall, circumstances: Circumstances) -> Decision:
    covering = [rule for rule in circumstances.rules if rule.covers(call)]
    if any(not rule.allows for rule in covering):
        return Decision("refuse", "forbidden")
    if circumstances.mode == "plan" and spec.changes:
        return Decision("refuse", "plan")
    if (floor := _floor(spec, circumstances)) is not None:
        return floor
    if covering:
        return Decision("run", "allowed")
    if not spec.changes and spec.reach in _QUIET:
        return Decision("run", "quiet")
    if circumstances.mode == "auto":
        return Decision("run", "auto")
    return Decision("ask", "changes" if spec.changes else "reaches")


def _floor(spec: ToolSpec, circumstances: Circumstances) -> Decision | None:
    """What no mode and no remembered answer permits by itself."""
    if spec.must_ask:
        return Decision("ask", "changes")
    if spec.reach == "program" and not circumstances.has_sandbox:
        return Decision("ask" if circumstances.without_sandbox == "ask" else "refuse", "no_sandbox")
    # Text of others that asks for a request to the outside may want to carry something out with it.
    if spec.reach == "network" and circumstances.is_tainted:
        return Decision("ask", "leaves_tainted")
    return None
