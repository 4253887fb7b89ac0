"""What every part of the chat stands on: its widgets, its client, the lines at the foot, and how something is said.

`ChatScreen` is put together in layers, each in a file of its own: this one, `talking` (a turn from start to end),
`branching` (conversations and their branches), `answering` (experts and profiles), `correcting` (what the user says of
answers), `teaching` (lessons), `suggesting` (what the agent asks by itself), and `chat` (keys and commands).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as Flag
from time import monotonic

from textual.app import ComposeResult
from textual.screen import Screen

from engine.errors import AgentError
from engine.values import About
from ui.branches import Position
from ui.client import Client
from ui.present import Status, display_line, error_lines, status_parts, working_parts
from ui.strings import say, say_count
from ui.teaching import Teacher
from ui.terminal.keys import Keymap, foot
from ui.terminal.prompt import PromptBox, Sending
from ui.terminal.status import KeysLine, StatusLine
from ui.terminal.transcript import Transcript
from ui.terminal.turn_view import TurnView

STATUS_EVERY_S = 0.5
_FOOTS = {
    "ready": (
        ("Enter", "foot.send"),
        ("chat.new", "foot.new"),
        ("chat.history", "foot.history"),
        ("chat.edit", "foot.edit"),
        ("chat.regenerate", "foot.again"),
        ("chat.expert", "foot.expert"),
        ("app.help", "foot.help"),
        ("app.quit", "foot.quit"),
    ),
    "running": (
        ("app.escape", "foot.stop"),
        ("PgUp/PgDn", "foot.scroll"),
        ("app.help", "foot.help"),
        ("app.palette", "foot.actions"),
        ("app.quit", "foot.quit"),
    ),
    "aimed": (
        ("Enter", "foot.send"),
        ("composer.newline", "foot.newline"),
        ("app.escape", "foot.cancel"),
        ("app.help", "foot.help"),
    ),
    "selected": (
        ("turn.edit", "foot.edit"),
        ("turn.regenerate", "foot.again"),
        ("turn.branch", "foot.branch"),
        ("turn.copy", "foot.copy"),
        ("turn.thumb_up turn.thumb_down", "foot.thumb"),
        ("chat.previous_version chat.next_version", "foot.version"),
        ("app.escape", "foot.back"),
    ),
}
"""What the user is doing → the keys that work then."""


@dataclass(slots=True)
class RunningTurn:
    """What the screen knows of the turn that runs."""

    view: TurnView | None
    """None until a regeneration has opened."""
    sending: Sending | None = None
    """What goes back to the prompt if the turn is refused; None for a regeneration."""
    makes_version: bool = False
    """Whether other turns may get one more version by it."""
    started_at: float = field(default_factory=monotonic)
    stop_wanted: Flag = field(default_factory=Flag)
    opened: bool = False
    was_lost: bool = False
    """Whether the agent's process went away on the way."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How a chat begins."""

    language: str
    keymap: Keymap
    folder: Path
    """Where files are attached from and exported to."""
    conversation_id: str | None = None
    expert: str | None = None
    notices: tuple[str, ...] = ()
    """What the user should know before anything is said, as sentences."""
    teacher: Teacher | None = None
    """None where nothing can be taught."""
    off_record: bool = False
    """The first conversation is kept nowhere."""


class ChatBase(Screen[None]):
    help_topic = "chat"

    def __init__(self, client: Client, options: ChatOptions) -> None:
        super().__init__()
        self._client = client
        self._language = options.language
        self._keymap = options.keymap
        self._folder = options.folder
        self._notices = options.notices
        self.conversation_id = options.conversation_id
        self.off_record = options.off_record
        """Whether this conversation is kept nowhere."""
        self.pinned = options.expert
        self.running: RunningTurn | None = None
        self.about: About | None = None
        """What answers; None until the base is loaded."""
        self.loading_profile = ""
        """The profile that is being changed to; empty while none is."""
        self._waiting_since: float | None = None
        """Since when the base is being loaded; None while it is not."""
        self._status = Status()
        self._branch: Position = (1, 1)
        """The last version that was chosen on the branch in use."""

        self._transcript = Transcript(self._language, self._keymap)
        self._prompt = PromptBox(self._language, self._keymap, self._folder)
        self.composer = self._prompt.composer
        self._status_line = StatusLine()
        self._keys = KeysLine()

    def compose(self) -> ComposeResult:
        yield self._transcript
        yield self._prompt
        yield self._status_line
        yield self._keys

    @property
    def selected(self) -> TurnView | None:
        """The turn that the user has selected."""
        focused = self.focused
        return focused if isinstance(focused, TurnView) else None

    def _target(self, nothing_key: str) -> tuple[str, TurnView] | None:
        """The turn that an action is about, the selected or the last one; None, which is said, where there is none."""
        turns = self._transcript.turns
        view = self.selected or (turns[-1] if turns else None)
        if view is None or view.turn_id is None:
            self.say_briefly(nothing_key)
            return None
        return view.turn_id, view

    # What is said.

    def say_briefly(self, key: str, **values: object) -> None:
        """One line in the place of the keys, for a moment."""
        self._keys.show_briefly(say(key, self._language, **values))

    async def note(self, key: str, **values: object) -> None:
        """Some lines behind the conversation, until the next ones."""
        await self._transcript.note(say(key, self._language, **values))

    async def show_error(self, error: AgentError) -> None:
        await self._transcript.note("\n".join(error_lines(error.problem, error.hint, self._language)), failed=True)

    def _refuse_while_busy(self) -> bool:
        """Whether something runs that must end first; it is said what."""
        if self.running is not None:
            self.say_briefly("busy", stop=self._keymap.first("app.escape"))
        elif self.loading_profile:
            self.say_briefly("busy.profile")
        return self.running is not None or bool(self.loading_profile)

    # The lines at the foot.

    def _tick(self) -> None:
        if self.running is not None or self._waiting_since is not None:
            self._refresh()

    def _refresh(self) -> None:
        """Bring the status line and the line of keys up to date."""
        self._keys.show_keys(foot(_FOOTS[self._mode()], self._keymap, self._language))
        self._status_line.show(tuple(self._status_parts()))

    def _status_parts(self) -> Sequence[str]:
        running = self.running
        # A turn that has closed has no phase, although its thread may need another moment.
        if running is not None and self._status.phase:
            parts = working_parts(self._status, self.pinned, monotonic() - running.started_at, self._language)
            is_stopping = running.stop_wanted.is_set()
            return (say("phase.stopping", self._language), *parts[1:]) if is_stopping else parts
        if self._waiting_since is not None:
            return (self._waiting_line(monotonic() - self._waiting_since), *self._also())
        return status_parts(self._status, self.pinned, self._language, also=self._also())

    def _waiting_line(self, seconds: float) -> str:
        phase = say("phase.loading", self._language)
        if self.loading_profile:
            phase = say("profile.loading", self._language, name=display_line(self.loading_profile, 40))
        return say("progress.seconds", self._language, phase=phase, seconds=int(seconds))

    def _also(self) -> tuple[str, ...]:
        """What stands in the status line beside the last turn: the branch, and the files that wait to be sent."""
        place, count = self._branch
        branch = say("status.branch", self._language, place=place, count=count) if count > 1 else ""
        attached = self._prompt.attached_count
        files = say_count("attach.status", self._language, attached) if attached else ""
        off_record = say("status.off_record", self._language) if self.off_record else ""
        return tuple(part for part in (off_record, branch, files) if part)

    def _mode(self) -> str:
        if self.running is not None:
            return "running"
        if self.selected is not None:
            return "selected"
        return "aimed" if self._prompt.is_aimed else "ready"
