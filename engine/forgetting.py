"""What a user wants forgotten, and what became of it, as values. Knows no table, no file and no rule."""

from dataclasses import dataclass
from typing import Final, Literal

MARK: Final = "[forgotten]"
"""What stands where something was forgotten."""

PlaceKind = Literal[
    "messages",
    "files",
    "calls",
    "titles",
    "problems",
    "summaries",
    "signals",
    "memories",
    "views",
    "segments",
    "traces",
    "notes",
    "events",
    "jobs",
    "job_runs",
    "tools",
    "permissions",
    "lessons",
    "runs",
    "adapters",
    "other_files",
]
"""Where text or tokens lie. files: those that went with a message; other_files: of the home."""

RemainingKind = Literal["backup", "put_aside", "export", "file"]
"""put_aside: what a restore replaced. file: of the user's own, in the home."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be forgotten: a turn or a conversation, of these only `span` where one is given; or a memory."""

    target: str = ""
    """Id of a turn or of a conversation; empty for a memory, and for a span wherever it is."""
    span: str = ""
    """Words of it, in whatever case and with whatever spaces; empty for all of it."""
    is_everywhere: bool = False
    """The span also where it has nothing to do with the target: in other conversations, notes, dates, jobs, tools."""
    memory_id: int = 0
    """0: no memory."""


@dataclass(frozen=True, slots=True)
class Place:
    kind: PlaceKind
    count: int


@dataclass(frozen=True, slots=True)
class Retired:
    """An adapter that was made from it: retired for good, and its file is gone."""

    content_hash: str
    profile: str
    expert: str
    was_answering: bool
    corrections: int = 0
    """What is left to teach its expert anew from."""


@dataclass(frozen=True, slots=True)
class Remaining:
    """A copy that this program does not touch."""

    kind: RemainingKind
    path: str
    made_at: str
    """ISO 8601, UTC; empty where that is not known."""
    command: str
    """What removes it."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What goes, or has gone where `is_done`."""

    places: tuple[Place, ...] = ()
    """Those where there was something."""
    adapters: tuple[Retired, ...] = ()
    elsewhere: tuple[Place, ...] = ()
    """Where the same words were said apart from it; they stay."""
    remaining: tuple[Remaining, ...] = ()
    conversations: tuple[str, ...] = ()
    """Those whose views begin anew."""
    memory_ids: tuple[int, ...] = ()
    is_done: bool = False
    is_scrubbed: bool = False
    """The pages of the database and its log hold nothing of it any more; otherwise the next start sees to it."""
