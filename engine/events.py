"""What a turn tells its faces, in order. Versioned, numbered, JSON-able; nothing in here is needed to go on.

Back from a face go only the stop flag and, to an approval, a decision.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from engine.runtime.protocol import Usage
from engine.values import CallState, Route, Timing, TurnState

EVENT_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """`number` counts from 0 within its turn, so that a face can resume after a gap."""

    turn_id: str
    number: int

    def to_json(self) -> dict[str, Any]:
        return {"v": EVENT_VERSION, "event": type(self).__name__, **asdict(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOpened(Event):
    """The user's message is committed; nothing has been computed yet."""

    conversation_id: str
    parent_turn_id: str | None
    user_text: str
    attachments: tuple[str, ...] = ()
    """Names of the files that go with the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteChosen(Event):
    route: Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(Event):
    """Something the user should know although the turn goes on, such as code "folded"."""

    code: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Event):
    """Progress of the prompt: `done` of `total` tokens, `reused` of them free. phase: summary or answer."""

    phase: str
    done: int
    total: int
    reused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta(Event):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(Event):
    """The expert wants a tool; nothing has run yet. `call` counts from 1 within its turn."""

    call: int
    tool: str
    arguments: str
    """A JSON object as text."""
    source: str = ""
    """Who brought the tool; empty for what the program itself comes with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked(Event):
    """The call waits for a person. `Client.reply` with the id answers it; a stop of the turn rejects it."""

    call: int
    approval_id: str
    tool: str
    source: str
    reason: str
    """Why it is asked for, as `engine.harness.permissions.Decision` has it."""
    pattern: str
    """What "always" and "never" would cover."""
    title: str
    detail: str
    """The exact command, code, address or diff, whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReturned(Event):
    """What came of the call; the expert reads `text` and goes on."""

    call: int
    tool: str
    state: CallState
    text: str
    is_tainted: bool
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnClosed(Event):
    """Always the last event, whatever happened. `state` is answered, stopped, failed, or interrupted when the agent's
    process was lost on the way."""

    conversation_id: str
    state: TurnState
    text: str
    route: Route | None
    usage: Usage
    usage_other: Usage
    timing: Timing
    context_tokens: int
    """Size of the context this view may fill; usage.prompt_tokens + usage.completion_tokens of it are in use."""
    problem: str = ""
    hint: str = ""
    adapter: str = ""
    """Hash of the personal adapter that answered; empty where the expert answered as it came."""


TurnEvent = (
    TurnOpened | RouteChosen | Notice | Reading | TextDelta | ToolCalled | ApprovalAsked | ToolReturned | TurnClosed
)
