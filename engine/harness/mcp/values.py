"""How long a server may take, how it is, and what it means that one failed. Values only."""

from dataclasses import dataclass
from typing import Final, Literal

from engine.errors import AgentError
from engine.harness.mcp.listing import Listing

State = Literal["waiting", "starting", "running", "ended"]
"""Waiting is not started yet."""

MOST_MESSAGE_BYTES: Final = 8 * 1024 * 1024
"""Of one message from a server; what is longer is passed over, and its call fails."""


class ServerFailed(AgentError):
    """An MCP server did not start, ended, or does not keep to the protocol."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds that a server may take."""

    start_s: float = 60.0
    """Until it has listed its tools; launchers may have to fetch the program first."""
    list_s: float = 10.0
    call_s: float = 60.0
    """Without a sign of progress."""
    call_most_s: float = 900.0
    """However much progress it reports."""
    stop_s: float = 2.0
    """To end by itself once its input is closed, and as long again once it is asked to."""


@dataclass(frozen=True, slots=True)
class Health:
    """How a server is; replaced whole, so that any thread may read it at any time."""

    state: State = "waiting"
    problem: str = ""
    """Why it ended, or what is wrong with it; empty when nothing is."""
    listing: Listing | None = None
    """Its tools as last read; kept when it ends, so that a call can start it again."""
    is_stale: bool = False
    """It said that its tools changed, or did not list them when asked, so `listing` no longer counts."""
    process_id: int | None = None
    progress: str = ""
    """What it last said of a running call."""
