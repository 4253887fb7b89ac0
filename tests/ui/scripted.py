"""A Client that plays prepared turns: it yields their events one by one, and a `Gate` among them waits for the test."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event as Flag
from threading import Lock
from typing import Any

from engine.errors import AgentError
from engine.events import Event, Notice, Reading, RouteChosen, TextDelta, TurnClosed, TurnEvent, TurnOpened
from engine.harness.approvals import Answer, Approval
from engine.harness.permissions import Mode
from engine.runtime.protocol import Usage
from engine.signals.values import Correction, CorrectionKind, Signal, SignalKind, SignalSource
from engine.store.interviews import InterviewState
from engine.store.permits import Permit
from engine.suggestions.values import Suggestion, SuggestionState
from engine.values import (
    About,
    Attachment,
    CallRecord,
    Conversation,
    ConversationCopy,
    Merged,
    Provenance,
    Rating,
    Route,
    SearchHit,
    Timing,
    TurnRecord,
    TurnState,
)
from ui.adapter_shelf import AdapterShelf
from ui.memory_shelf import MemoryShelf

GATE_TIMEOUT_S = 20.0
ROUTE = Route("L2", "best", {"L0": -4.0, "L1": -5.0, "L2": -2.2, "L3": -6.5})
USAGE = Usage(prompt_tokens=1244, reused_tokens=1204, completion_tokens=40, prefill_ms=90.0, decode_ms=3252.0)


class Gate:
    """Holds a turn until the test opens it, or until the turn is stopped."""

    def __init__(self) -> None:
        self._open = Flag()

    def open(self) -> None:
        self._open.set()

    def wait(self, stopped: Flag) -> None:
        for _ in range(int(GATE_TIMEOUT_S / 0.01)):
            if self._open.wait(0.01) or stopped.is_set():
                return
        raise AssertionError("the test never opened this gate")


@dataclass(frozen=True, slots=True)
class Script:
    """What one turn does. `steps`: texts are deltas, the rest are gates and unnumbered events."""

    steps: tuple["str | Gate | Event", ...] = ()
    route: Route | None = ROUTE
    before_open: Gate | None = None
    refused: AgentError | None = None
    """Raised instead of opening the turn."""
    broken: BaseException | None = None
    """Raised after the steps instead of closing the turn."""
    state: TurnState = "answered"
    problem: str = ""
    hint: str = ""
    final_text: str | None = None
    """What the closing event says when it is not simply the deltas."""
    ignores_stop: bool = False


@dataclass(slots=True)
class Call:
    """One call that the screen made: its name and what it gave."""

    name: str
    text: str = ""
    conversation_id: str | None = None
    turn_id: str | None = None
    expert: str | None = None
    provenance: Provenance | None = None
    attachments: tuple[Attachment, ...] = ()
    value: object = None
    """The rating, the offset of a list, or that a message was off the record."""


@dataclass
class ScriptedClient:
    scripts: list[Script] = field(default_factory=list)
    stored: dict[str, list[TurnRecord]] = field(default_factory=dict)
    """Conversation → the turns of its branch in use."""
    others: list[TurnRecord] = field(default_factory=list)
    """Turns of branches that are not in use, oldest first."""
    hits: dict[str, list[SearchHit]] = field(default_factory=dict)
    """Query → what is found."""
    calls: list[Call] = field(default_factory=list)
    what_answers: About = field(
        default_factory=lambda: About("A small base", "CPU, 1 thread (a processor)", "there is no GPU")
    )
    known_experts: Sequence[tuple[str, str]] = (("L0", "talk"), ("L1", "act"), ("L2", "code"), ("L3", "interfaces"))
    known_profiles: Sequence[tuple[str, str]] = (("starter", "Small"), ("tall", "Large"))
    titles: dict[str, str] = field(default_factory=dict)
    """Conversation → the title it was given."""
    profile_gate: Gate | None = None
    """Holds every change of the profile until the test opens it."""
    management_error: AgentError | None = None
    """Raised by every call that is not a turn."""
    shelf: AdapterShelf | None = None
    """The adapters, of a test that looks at them."""
    memories: MemoryShelf | None = None
    """Likewise."""
    replies: list[tuple[str, str]] = field(default_factory=list)
    """(approval id, answer) of what was answered."""
    on_reply: Callable[[], None] = lambda: None
    signed: dict[int, Signal] = field(default_factory=dict)
    """What was said of answers, by number."""
    suggested: list[Suggestion] = field(default_factory=list)
    looked: int = 0
    """How often it was asked for suggestions."""
    interview: InterviewState = "done"
    idle_gate: Gate | None = None
    idle_error: AgentError | None = None

    def __post_init__(self) -> None:
        self._stopped = Flag()
        self._turn = Lock()
        self._turn_count = 0
        self._last_signal_id = 0
        self._turns = [record for path in self.stored.values() for record in path]
        """Of all branches of all conversations, oldest first."""
        kept = {record.turn_id for record in self._turns}
        self._turns.extend(record for record in self.others if record.turn_id not in kept)
        self._turns.sort(key=lambda record: record.created_at)

    def will(self, *steps: "str | Gate | Event", **script: Any) -> None:
        """Prepare the next turn."""
        self.scripts.append(replace(Script(steps), **script))

    def names(self) -> list[str]:
        return [call.name for call in self.calls]

    def last(self, name: str) -> Call:
        """The newest call of this name."""
        return next(call for call in reversed(self.calls) if call.name == name)

    def ask(
        self,
        text: str,
        *,
        conversation_id: str | None = None,
        parent_turn_id: str | None = None,
        expert: str | None = None,
        provenance: Provenance = "typed",
        attachments: Sequence[Attachment] = (),
        off_record: bool = False,
    ) -> Generator[TurnEvent, None, None]:
        self.calls.append(
            Call(
                "ask",
                text,
                conversation_id,
                parent_turn_id,
                expert,
                provenance,
                attachments=tuple(attachments),
                value=off_record or None,
            )
        )
        conversation_id = conversation_id or f"c{len(self.stored) + 1}"
        before = self.stored.setdefault(conversation_id, [])
        if parent_turn_id is not None:
            before = self._path_to(parent_turn_id)
        yield from self._play(text, conversation_id, before, tuple(attachments))

    def regenerate(self, turn_id: str, *, expert: str | None = None) -> Generator[TurnEvent, None, None]:
        self.calls.append(Call("regenerate", turn_id=turn_id, expert=expert))
        old = self._find(turn_id)
        yield from self._play(old.user_text, old.conversation_id, self._path_to(old.parent_turn_id), old.attachments)

    def edit(
        self, turn_id: str, text: str, *, expert: str | None = None, provenance: Provenance = "typed"
    ) -> Generator[TurnEvent, None, None]:
        self.calls.append(Call("edit", text, turn_id=turn_id, expert=expert, provenance=provenance))
        old = self._find(turn_id)
        yield from self._play(text, old.conversation_id, self._path_to(old.parent_turn_id), old.attachments)

    def stop(self) -> None:
        self.calls.append(Call("stop"))
        self._stopped.set()

    def idle(self) -> None:
        self.calls.append(Call("idle"))
        if self.idle_gate is not None:
            self.idle_gate.wait(self._stopped)
        if self.idle_error is not None:
            raise self.idle_error

    @property
    def tools(self) -> "ScriptedClient":
        return self

    @property
    def suggestion_shelf(self) -> "ScriptedClient":
        return self

    def suggestions(self) -> Sequence[Suggestion]:
        self.looked += 1
        if self.management_error is not None:
            raise self.management_error
        return [one for one in self.suggested if one.state == "offered"]

    def accept_suggestion(self, suggestion_id: int) -> Suggestion:
        return self._answer_suggestion(suggestion_id, "accepted")

    def dismiss_suggestion(self, suggestion_id: int) -> Suggestion:
        return self._answer_suggestion(suggestion_id, "dismissed")

    def _answer_suggestion(self, suggestion_id: int, state: SuggestionState) -> Suggestion:
        self._manage(state, value=suggestion_id)
        (answered,) = (replace(one, state=state) for one in self.suggested if one.suggestion_id == suggestion_id)
        self.suggested = [answered]
        return answered

    @property
    def interview_shelf(self) -> "ScriptedClient":
        return self

    def interview_state(self) -> InterviewState:
        return self.interview

    def settle_interview(self, state: InterviewState) -> None:
        self.interview = state

    def answer_interview(self, answers: Mapping[str, str], language: str = "en") -> Sequence[str]:
        self._manage("answer_interview", text=language, value=dict(answers))
        return tuple(answers)

    def approvals(self) -> Sequence[Approval]:
        return ()

    def reply(self, approval_id: str, answer: Answer) -> None:
        self._manage("reply", text=answer, turn_id=approval_id)
        self.replies.append((approval_id, answer))
        self.on_reply()

    def mode(self, conversation_id: str) -> Mode:
        return "ask"

    def set_mode(self, conversation_id: str, mode: Mode) -> None:
        self._manage("set_mode", text=mode, conversation_id=conversation_id)

    def permits(self) -> Sequence[Permit]:
        return ()

    def forget_permit(self, permission_id: int) -> None:
        self._manage("forget_permit", value=permission_id)

    def about(self) -> About:
        return self.what_answers

    def experts(self) -> Sequence[tuple[str, str]]:
        self._manage("experts")
        return self.known_experts

    def profiles(self) -> Sequence[tuple[str, str]]:
        self._manage("profiles")
        return self.known_profiles

    def use_profile(self, name: str) -> About:
        self._manage("use_profile", text=name)
        if self.profile_gate is not None:
            self.profile_gate.wait(Flag())
        self.what_answers = replace(self.what_answers, base=f"The base of {name}", profile=name)
        return self.what_answers

    def conversations(self, *, limit: int = 50, offset: int = 0) -> Sequence[Conversation]:
        self._manage("conversations", value=offset)
        return [self._conversation(key) for key in self.stored][offset : offset + limit]

    def conversation(self, conversation_id: str) -> Conversation:
        self._manage("conversation")
        return self._conversation(conversation_id)

    def path(self, conversation_id: str) -> Sequence[TurnRecord]:
        self._manage("path")
        return list(self.stored[conversation_id])

    def tree(self, conversation_id: str) -> Sequence[TurnRecord]:
        self._manage("tree")
        return self._all_of(conversation_id)

    def siblings(self, turn_id: str) -> Sequence[TurnRecord]:
        self._manage("siblings")
        record = self._find(turn_id)
        return [
            other for other in self._all_of(record.conversation_id) if other.parent_turn_id == record.parent_turn_id
        ]

    def select(self, turn_id: str) -> None:
        self._manage("select", turn_id=turn_id)
        record = self._find(turn_id)
        branch = self._path_to(turn_id)
        while children := [other for other in self._turns if other.parent_turn_id == branch[-1].turn_id]:
            branch.append(children[-1])
        self.stored[record.conversation_id] = branch

    def search(self, query: str, *, limit: int = 20) -> Sequence[SearchHit]:
        self._manage("search", text=query)
        return self.hits.get(query, [])[:limit]

    def rename(self, conversation_id: str, title: str) -> None:
        self._manage("rename", text=title, conversation_id=conversation_id)
        self.titles[conversation_id] = title

    def rate(self, turn_id: str, rating: Rating) -> None:
        self._manage("rate", turn_id=turn_id, value=rating)
        self._put(replace(self._find(turn_id), rating=rating))

    def correct(
        self, turn_id: str, text: str, kind: CorrectionKind = "correction", provenance: Provenance = "typed"
    ) -> Signal:
        self._manage("correct", text=text, turn_id=turn_id, provenance=provenance, value=kind)
        return self._sign(turn_id, kind, text, provenance)

    def pick(self, turn_id: str) -> None:
        self._manage("pick", turn_id=turn_id)
        self._sign(turn_id, "pick", "", "user")

    def signals(
        self,
        *,
        limit: int = 50,
        before: int | None = None,
        kinds: Sequence[SignalKind] = (),
        expert: str | None = None,
        conversation_id: str | None = None,
    ) -> Sequence[Signal]:
        self._manage("signals", value=before)
        below = self._last_signal_id + 1 if before is None else before
        here = {record.turn_id for record in self._turns if record.conversation_id == conversation_id}
        found = [
            signal
            for signal in sorted(self.signed.values(), key=lambda signal: -signal.signal_id)
            if signal.signal_id < below
            and (not kinds or signal.kind in kinds)
            and (conversation_id is None or signal.turn_id in here)
        ]
        return found[:limit]

    def corrections(self, expert: str | None = None) -> Sequence[Correction]:
        self._manage("corrections")
        return ()

    def erase_signal(self, signal_id: int) -> None:
        self._manage("erase_signal", value=signal_id)
        del self.signed[signal_id]

    def confirm_signal(self, signal_id: int) -> Signal:
        self._manage("confirm_signal", value=signal_id)
        self.signed[signal_id] = replace(self.signed[signal_id], is_tainted=False)
        return self.signed[signal_id]

    def _sign(self, turn_id: str, kind: SignalKind, text: str, source: SignalSource) -> Signal:
        self._last_signal_id += 1
        number, is_tainted = self._last_signal_id, source not in ("user", "typed")
        signal = Signal(number, turn_id, kind, 0.0, text, None, source, is_tainted, "2026-01-01T00:00:00+00:00")
        self.signed[number] = signal
        return signal

    def export_conversation(self, conversation_id: str) -> ConversationCopy:
        self._manage("export_conversation", conversation_id=conversation_id)
        return ConversationCopy(self._conversation(conversation_id), tuple(self._all_of(conversation_id)))

    def merge_conversation(self, copy: ConversationCopy) -> Merged:
        is_new = self.import_conversation(copy)
        return Merged(copy.conversation.conversation_id, is_new, len(copy.turns) * is_new, 0)

    def import_conversation(self, copy: ConversationCopy) -> bool:
        self._manage("import_conversation", conversation_id=copy.conversation.conversation_id)
        conversation_id = copy.conversation.conversation_id
        if conversation_id in self.stored:
            return False
        self._turns.extend(replace(record, provenance="imported") for record in copy.turns)
        leaf = copy.conversation.leaf_turn_id
        self.stored[conversation_id] = self._path_to(leaf)
        self.titles[conversation_id] = copy.conversation.title
        return True

    def close(self) -> None:
        self.calls.append(Call("close"))

    def _manage(self, name: str, **given: Any) -> None:
        self.calls.append(Call(name, **given))
        if self.management_error is not None:
            raise self.management_error

    def _conversation(self, conversation_id: str) -> Conversation:
        shown = conversation(conversation_id, self.stored[conversation_id])
        return replace(shown, title=self.titles.get(conversation_id, shown.title))

    def _all_of(self, conversation_id: str) -> list[TurnRecord]:
        return [record for record in self._turns if record.conversation_id == conversation_id]

    def _find(self, turn_id: str) -> TurnRecord:
        for record in self._turns:
            if record.turn_id == turn_id:
                return record
        raise AssertionError(f"no turn {turn_id}")

    def _path_to(self, turn_id: str | None) -> list[TurnRecord]:
        """The turns down to this one; none for None."""
        path: list[TurnRecord] = []
        while turn_id is not None:
            record = self._find(turn_id)
            path.insert(0, record)
            turn_id = record.parent_turn_id
        return path

    def _put(self, changed: TurnRecord) -> None:
        """Replace a stored turn by another state of itself."""
        for records in (self._turns, *self.stored.values()):
            for position, record in enumerate(records):
                if record.turn_id == changed.turn_id:
                    records[position] = changed

    def _play(
        self, text: str, conversation_id: str, before: list[TurnRecord], attachments: tuple[Attachment, ...]
    ) -> Generator[TurnEvent, None, None]:
        """One turn of the script; its record is stored as the new end of `before`."""
        with self._turn:
            script = self.scripts.pop(0) if self.scripts else Script(("An answer.",))
            self._stopped.clear()
            if script.before_open is not None:
                script.before_open.wait(Flag())
            if script.refused is not None:
                raise script.refused
            self._turn_count += 1
            parent_turn_id = before[-1].turn_id if before else None
            record = turn(f"t{self._turn_count}", conversation_id, text, parent_turn_id, attachments=attachments)
            self._turns.append(replace(record, state="running"))
            self.stored[conversation_id] = [*before, self._turns[-1]]
            for event in self._events(script, record):
                if isinstance(event, TurnClosed):
                    self._put(replace(record, state=event.state, answer_text=event.text, route=event.route))
                yield event

    def _events(self, script: Script, record: TurnRecord) -> Generator[TurnEvent, None, None]:
        turn_id, number, said = record.turn_id, 0, ""
        yield TurnOpened(
            turn_id=turn_id,
            number=number,
            conversation_id=record.conversation_id,
            parent_turn_id=record.parent_turn_id,
            user_text=record.user_text,
            attachments=tuple(attachment.name for attachment in record.attachments),
        )
        if script.route is not None:
            number += 1
            yield RouteChosen(turn_id=turn_id, number=number, route=script.route)
        for step in script.steps:
            if isinstance(step, Gate):
                step.wait(Flag() if script.ignores_stop else self._stopped)
            if self._stopped.is_set() and not script.ignores_stop:
                break
            if isinstance(step, Gate):
                continue
            number += 1
            if isinstance(step, str):
                said += step
                yield TextDelta(turn_id=turn_id, number=number, text=step)
            else:
                yield replace(step, turn_id=turn_id, number=number)
        if script.broken is not None:
            raise script.broken
        was_stopped = self._stopped.is_set() and not script.ignores_stop
        yield closing(turn_id, number + 1, record.conversation_id, script, said, was_stopped)


def closing(
    turn_id: str, number: int, conversation_id: str, script: Script, said: str, was_stopped: bool
) -> TurnClosed:
    return TurnClosed(
        turn_id=turn_id,
        number=number,
        conversation_id=conversation_id,
        state="stopped" if was_stopped else script.state,
        text=said if script.final_text is None else script.final_text,
        route=script.route,
        usage=USAGE,
        usage_other=Usage(),
        timing=Timing(),
        context_tokens=8192,
        problem=script.problem,
        hint=script.hint,
    )


def turn(
    turn_id: str,
    conversation_id: str,
    user_text: str,
    parent_turn_id: str | None = None,
    *,
    state: TurnState = "answered",
    answer_text: str = "",
    problem: str = "",
    hint: str = "",
    provenance: Provenance = "typed",
    attachments: tuple[Attachment, ...] = (),
    rating: Rating = 0,
    calls: tuple[CallRecord, ...] = (),
) -> TurnRecord:
    return TurnRecord(
        turn_id=turn_id,
        conversation_id=conversation_id,
        parent_turn_id=parent_turn_id,
        state=state,
        user_text=user_text,
        answer_text=answer_text,
        provenance=provenance,
        created_at="2026-03-04T05:06:07Z",
        route=ROUTE,
        usage=USAGE,
        problem=problem,
        hint=hint,
        attachments=attachments,
        rating=rating,
        calls=calls,
    )


def conversation(conversation_id: str, path: list[TurnRecord]) -> Conversation:
    return Conversation(
        conversation_id=conversation_id,
        title=path[0].user_text if path else "",
        profile="starter",
        created_at="2026-03-04T05:06:07Z",
        updated_at="2026-03-04T05:06:07Z",
        leaf_turn_id=path[-1].turn_id if path else None,
        turn_count=len(path),
    )


def reading(done: int, total: int, *, phase: str = "answer", reused: int = 0) -> Reading:
    return Reading(turn_id="", number=0, phase=phase, done=done, total=total, reused=reused)


def notice(code: str, **values: object) -> Notice:
    return Notice(turn_id="", number=0, code=code, values=values)
