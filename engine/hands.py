"""What an expert may do beside talking: its tools, the texts it works under, the bounds, and who permits what.

The seam between the agent and the program that gives it hands. Runs nothing itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from engine.harness.approvals import Approvals
from engine.harness.hooks import NO_HOOKS, Hooks
from engine.harness.permissions import Circumstances, Rule
from engine.harness.tool_calls import Tool
from engine.harness.tool_calls.looping import MOST_CALLS
from engine.harness.tools.values import Toolbox, ToolSpec
from engine.remembering import DEFAULT_LIMITS, RecallLimits

RESULT_TOKENS: Final = 2048
TOOL_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool and who runs it."""

    spec: ToolSpec
    toolbox: Toolbox
    is_shown: bool = True
    """Whether the expert reads of it. One that is not shown is there for other tools, such as a block of Python."""


RemarkCode = Literal[
    "harness_wrong", "folder_waits", "folder_changed", "server_waits", "server_tools_wait", "server_failed"
]


@dataclass(frozen=True, slots=True)
class Remark:
    """Something of the configuration that a person should know or decide; told as a notice of that code."""

    code: RemarkCode
    subject: str
    """The folder or server; of a mistake, where it is."""
    problem: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """All that is in force for one turn. It stays so until the turn is over, whatever is changed meanwhile."""

    tools: Mapping[str, tuple[Offered, ...]] = field(default_factory=dict)
    """By expert; those of one expert have different names."""
    heads: Mapping[str, str] = field(default_factory=dict)
    """By expert: what is added to its system text."""
    most_calls: int = MOST_CALLS
    """Of one turn."""
    result_tokens: int = RESULT_TOKENS
    """What of one result the expert reads, at most."""
    tool_seconds: float = TOOL_SECONDS
    """After so long no more tools are called in a turn; what a person takes to answer does not count."""
    thinking_tokens: int | None = None
    """Of one turn, for thoughts before its answers; None for as many as there is room for."""
    remarks: tuple[Remark, ...] = ()
    """Each is told when it is new."""
    hooks: Hooks = NO_HOOKS
    memory: RecallLimits = DEFAULT_LIMITS
    """What of what is remembered stands in front of a message."""

    def of(self, expert: str) -> tuple[Offered, ...]:
        return self.tools.get(expert, ())

    def shown(self) -> Mapping[str, tuple[Tool, ...]]:
        """The tools as the experts see them."""
        return {
            expert: tuple(one.spec.tool for one in offered if one.is_shown) for expert, offered in self.tools.items()
        }


class Hands(Protocol):
    """Thread-safe."""

    @property
    def approvals(self) -> Approvals: ...

    def current(self) -> Offer:
        """Cheap; asked before every turn."""
        ...

    def circumstances(self, conversation_id: str, *, is_tainted: bool) -> Circumstances:
        """Under which a call of this conversation is judged now."""
        ...

    def remember(self, rule: Rule) -> None:
        """What a person has permitted or forbidden for good. Raises: StoreProblem."""
        ...


class NoHands:
    """Of an agent that only talks."""

    def __init__(self) -> None:
        self.approvals = Approvals()

    def current(self) -> Offer:
        return Offer()

    def circumstances(self, conversation_id: str, *, is_tainted: bool) -> Circumstances:
        return Circumstances("plan", can_ask=False)

    def remember(self, rule: Rule) -> None:
        """Nothing is ever asked."""


def names_of(offered: Sequence[Offered]) -> Mapping[str, Offered]:
    return {one.spec.tool.name: one for one in offered}
