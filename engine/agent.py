"""One turn, top to bottom: open, route, view, answer, close. Everything a face sees comes out as events.

The agent holds no state of its own between turns; it is all in the store. Runs turns one after another.
"""

import random
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from engine.acting import Acting
from engine.answering import Answering
from engine.asides import Aside, aside
from engine.errors import (
    AgentError,
    BadText,
    ConversationBusy,
    HookForbids,
    ModelProblem,
    OutOfMemory,
    ScoringStopped,
    StoreProblem,
)
from engine.events import TurnEvent
from engine.folding import Folding
from engine.hands import Hands, NoHands, Offer, Remark
from engine.harness.message import router_request, shown_name, user_message
from engine.harness.prompt import with_hands
from engine.minding import Minding, unread
from engine.mixture import Mixture
from engine.personal import NoPersonalAdapters, Note, PersonalAdapters
from engine.remembering import NoMemory, Remembering
from engine.router_model import route_scores
from engine.routing import router, timeline
from engine.running_turn import RunningTurn
from engine.runtime.protocol import NEVER, Prefilled, Runtime, Stop
from engine.store import Store
from engine.summaries import Summaries, longest_summary_tokens
from engine.values import Attachment, Provenance, Route, TurnRecord, TurnState
from engine.views import OpenView, ViewBuilder

Steps = Generator[TurnEvent | Aside[Any], None, None]
"""Of a turn: what faces see, and work that it waits for while others may have the engine."""


@dataclass(frozen=True, slots=True)
class _Message:
    """What is to be said, and where in the tree. Without a parent it begins a branch of its own."""

    text: str
    conversation_id: str | None
    parent_turn_id: str | None
    provenance: Provenance
    pinned: str | None
    attachments: tuple[Attachment, ...] = ()
    attended: bool = False
    """A person is there to permit what tools would do."""
    follows_leaf: bool = False
    """The parent is whatever is the conversation's leaf once this turn's time has come."""
    is_repeated: bool = False
    """It was said before, and is answered once more: what there was to remember of it is remembered."""


class Agent:
    def __init__(
        self,
        runtime: Runtime,
        store: Store,
        mixture: Mixture,
        *,
        personal: PersonalAdapters | None = None,
        hands: Hands | None = None,
        memory: Remembering | None = None,
        new_seed: Callable[[], int] = lambda: random.getrandbits(32),
    ) -> None:
        """Before every turn `personal` is asked which adapters are stacked on the experts, `hands` what they may do
        beside talking, and `memory` what is known of the user; after it `memory` hears what was said.
        """
        self._runtime = runtime
        self._store = store
        self._profile = mixture.profile
        self._personal = personal or NoPersonalAdapters()
        self._hands = hands or NoHands()
        self._minding = Minding(memory or NoMemory(), runtime, store)
        self._bare = mixture.harness
        """Without what hands add to it."""
        self._offer = Offer()
        self._untold: list[Note] = []
        self._unremarked: list[Remark] = []
        self._new_seed = new_seed
        self._one_turn = threading.Lock()
        self._aside: set[str] = set()
        """Conversations whose turn waits for something that is no work of the engine."""
        self._use(mixture)

    def current_mixture(self) -> Mixture:
        """As it answers now, for work beside the turns. Not while a turn runs."""
        self._look_up()
        return self._mixture

    def turn(
        self,
        text: str,
        *,
        conversation_id: str | None = None,
        parent_turn_id: str | None = None,
        expert: str | None = None,
        provenance: Provenance = "typed",
        attachments: Sequence[Attachment] = (),
        attended: bool = True,
        stop: Stop = NEVER,
    ) -> Steps:
        """Say `text` after the conversation's leaf or after `parent_turn_id`, to the expert the router chooses.

        `attachments` are files that go with it: the expert reads them, the router only their names.

        `attended`: a person is there to permit what tools would do; otherwise that is refused.
        `expert`, or a leading `@L2 `, pins one. The last event is a TurnClosed, also when the turn failed or was
        stopped. Closing the generator stops the turn. An Aside among the events is work to be done before the next one,
        while other turns may run.

        Raises: BadText, UnknownName, ContextOverflow, ConversationBusy, before anything is stored.
        """
        pinned, said = self._addressed(text, expert)
        follows_leaf = conversation_id is not None and parent_turn_id is None
        files = checked_attachments(attachments)
        yield from self._say(
            _Message(said, conversation_id, parent_turn_id, provenance, pinned, files, attended, follows_leaf), stop
        )

    def regenerate(
        self, turn_id: str, *, expert: str | None = None, attended: bool = True, stop: Stop = NEVER
    ) -> Steps:
        """Answer the same message once more, as a sibling; this also retries failed and interrupted turns."""
        old = self._store.turn(turn_id)
        if expert is None and old.route is not None and old.route.reason == "pinned":
            expert = old.route.expert
        yield from self._say(
            _Message(
                old.user_text,
                old.conversation_id,
                old.parent_turn_id,
                old.provenance,
                expert,
                old.attachments,
                attended,
                is_repeated=True,
            ),
            stop,
        )

    def edit(
        self,
        turn_id: str,
        text: str,
        *,
        expert: str | None = None,
        provenance: Provenance = "typed",
        attended: bool = True,
        stop: Stop = NEVER,
    ) -> Steps:
        """Say something else instead, as a sibling; the files of the old message go with it."""
        old = self._store.turn(turn_id)
        pinned, said = self._addressed(text, expert)
        yield from self._say(
            _Message(said, old.conversation_id, old.parent_turn_id, provenance, pinned, old.attachments, attended), stop
        )

    def idle(self, conversation_id: str, stop: Stop = NEVER) -> None:
        """Write the summaries that another expert's next turn would wait for, and fold a view that is nearly full; then
        ask the model what there is to remember of what was said, where it is good enough for that. Ends early when
        `stop` is set.
        """
        leaf = self._store.conversation(conversation_id).leaf_turn_id
        if leaf is None or not self._one_turn.acquire(blocking=False):
            return
        try:
            self._look_up()
            path = self._store.path(leaf)
            for turn in reversed(path):
                if stop.is_set():
                    return
                if timeline.is_readable(turn) and turn.summary is None and self._views.has_others(turn):
                    for _ in self._summaries.write(turn, stop):
                        pass
            if not stop.is_set():
                self._folding.ahead(conversation_id, path, stop)
            self._minding.reflect(self._mixture, stop)
        finally:
            self._one_turn.release()

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Nothing is read, answered or summed up while the block runs; turns that were set aside wait on."""
        with self._one_turn:
            yield

    # One turn

    def _addressed(self, text: str, expert: str | None) -> tuple[str | None, str]:
        """(the expert that is pinned, the text without the address)."""
        pinned, said = router.parse_pin(checked_text(text), self._profile.expert_ids)
        return expert or pinned, said

    def _say(self, message: _Message, stop: Stop) -> Steps:
        if message.pinned is not None:
            self._profile.expert(message.pinned)
        self._views.check_fits(message.text, message.attachments)
        with self._one_turn:
            if message.conversation_id in self._aside:
                raise ConversationBusy(
                    "A turn of this conversation waits for an approval or a tool.",
                    "Answer it, or stop that turn first.",
                )
            parent_turn_id = message.parent_turn_id
            if message.follows_leaf and message.conversation_id is not None:
                parent_turn_id = self._store.conversation(message.conversation_id).leaf_turn_id
            record = self._store.open_turn(
                message.text,
                conversation_id=message.conversation_id,
                parent_turn_id=parent_turn_id,
                profile=self._profile.name,
                provenance=message.provenance,
                attachments=message.attachments,
            )
            with closing(self._run(RunningTurn(record, time.perf_counter()), message, stop)) as steps:
                for step in steps:
                    if isinstance(step, Aside):
                        yield from self._set_aside(step, record.conversation_id)
                    else:
                        yield step

    def _set_aside(self, step: Aside[Any], conversation_id: str) -> Steps:
        """Let others have their turn until this step is done."""
        self._aside.add(conversation_id)
        self._one_turn.release()
        try:
            yield step
        finally:
            self._one_turn.acquire()
            self._aside.discard(conversation_id)

    def _run(self, turn: RunningTurn, message: _Message, stop: Stop) -> Steps:
        """Every way out of here closes the turn in the store, exactly once."""
        state: TurnState = "failed"
        error: AgentError | None = None
        try:
            yield turn.opened()
            yield from self._route_and_answer(turn, message, stop)
            state = "answered" if turn.reason in ("eos", "stop", "length") else "stopped"
        except ScoringStopped:
            state = "stopped"
        except AgentError as failure:
            error = failure
        except (GeneratorExit, KeyboardInterrupt):
            state = "stopped"
            raise
        finally:
            answer = turn.answer(state, error)
            self._store.close_turn(answer)
        self._count(turn, state)
        if not message.is_repeated:
            yield from self._minding.remember(turn, answer, self._mixture, self._offer.memory)
        if self._offer.hooks.are_at("after_turn"):
            facts = {
                "conversation": turn.record.conversation_id,
                "turn": turn.record.turn_id,
                "state": state,
                "text": answer.text,
            }
            # It is bounded by its own time; the turn is over, and what stops it need not stop this.
            if problem := (yield from aside(partial(self._offer.hooks.run, "after_turn", facts, NEVER))):
                yield turn.notice("hook_failed", problem=problem)
        yield turn.closed(answer, self._profile.context_tokens)

    def _route_and_answer(self, turn: RunningTurn, message: _Message, stop: Stop) -> Steps:
        record = turn.record
        path = self._store.path(record.parent_turn_id) if record.parent_turn_id else ()
        left_out = self._look_up()
        if self._offer.hooks.are_at("before_turn"):
            facts = {"conversation": record.conversation_id, "turn": record.turn_id, "text": record.user_text}
            problem = yield from aside(partial(self._offer.hooks.run, "before_turn", facts, stop))
            if problem:
                raise HookForbids(
                    f"A hook of yours forbids this turn: {problem}.", "Ask otherwise, or see harness.toml."
                )
            # Other turns may have run meanwhile.
            left_out = self._look_up()
        route = self._route(turn, path, message.pinned, stop)
        yield turn.routed(route)
        for note in (*self._untold, *(note for note in left_out if note.expert == route.expert)):
            yield _notice(turn, note)
        self._untold.clear()
        for remark in self._unremarked:
            yield turn.notice(remark.code, subject=remark.subject, problem=remark.problem, hint=remark.hint)
        self._unremarked.clear()
        acting = Acting(
            turn,
            route.expert,
            self._offer,
            self._hands,
            self._store,
            stop,
            is_tainted=_is_tainted(turn, path),
            attended=message.attended,
            consult=partial(self._answering.consult, turn, stop=stop),
        )
        while True:
            try:
                yield from self._answer(turn, path, acting, stop)
                return
            except (ModelProblem, OutOfMemory) as error:
                unusable = self._leave_out(route.expert, error)
                if turn.completion or unusable is None:
                    raise
            yield _notice(turn, unusable)

    def _answer(self, turn: RunningTurn, path: Sequence[TurnRecord], acting: Acting, stop: Stop) -> Steps:
        record, expert = turn.record, acting.expert
        message = user_message(record.user_text, record.attachments)
        # Other turns may run while this one waits, and change what answers from then on.
        views, summaries, answering = self._views, self._summaries, self._answering
        known = self._minding.recall(record, path, message, views, self._offer.memory)
        view = views.open(record.conversation_id, path, expert, message, [one.line for one in known])
        if view.newly_folded:
            yield turn.notice("folded", turns=view.newly_folded, **_what_is_left(view))
        for other in views.needs_summary(view):
            for done in summaries.write(other, stop):
                if isinstance(done, Prefilled):
                    yield turn.reading("summary", done)
                else:
                    turn.usage_other += done.usage
            if stop.is_set():
                turn.reason = "stopped"
                return
            path = tuple(self._store.turn(t.turn_id) if t.turn_id == other.turn_id else t for t in path)
        turn.recalled = unread(known, view, path)
        if turn.recalled:
            yield turn.notice("recalled", memories=[[one.memory_id, one.line] for one in turn.recalled])
        lines = [one.line for one in turn.recalled]
        yield from answering.answer(turn, expert, view, views.prompt(view, path, message, lines), acting, stop)

    def _route(self, turn: RunningTurn, path: Sequence[TurnRecord], pinned: str | None, stop: Stop) -> Route:
        text = turn.record.user_text
        facts: dict[str, Any] = {
            "experts": self._profile.expert_ids,
            "pinned": pinned,
            "surface": router.is_surface(text),
        }
        scores = None
        if router.needs_scores(**facts):
            request = router_request(text, turn.record.attachments)
            asked = route_scores(turn.record.turn_id, request, self._runtime, self._mixture, stop)
            scores = asked.scores
            turn.usage_other += asked.usage
            turn.traces.append(asked.trace)
        return router.choose(
            scores=scores,
            default=self._profile.route.default,
            margin_nats=self._profile.route.margin_nats,
            current=timeline.current_expert(path),
            **facts,
        )

    # Adapters

    def _use(self, mixture: Mixture) -> None:
        """Which experts share a view depends on their adapters; what the views hold does not."""
        self._mixture = mixture
        longest = longest_summary_tokens(mixture)
        self._views = ViewBuilder(self._store, mixture, self._runtime, longest_summary_tokens=longest)
        self._summaries = Summaries(self._runtime, self._store, mixture, self._views, self._new_seed)
        self._folding = Folding(self._runtime, mixture, self._views, self._new_seed)
        self._answering = Answering(self._runtime, mixture, self._views, self._new_seed)

    def _look_up(self) -> Sequence[Note]:
        """Take the adapters and the tools that count from now on; which adapters were left out. What else there is to
        say waits for a turn."""
        self._take(self._hands.current())
        found = self._personal.current()
        adapters = {expert: found.adapters[expert] for expert in self._profile.expert_ids if expert in found.adapters}
        if adapters != self._mixture.personal:
            self._use(replace(self._mixture, personal=adapters))
        self._untold += [note for note in found.notes if note.code != "adapter_left_out"]
        return [note for note in found.notes if note.code == "adapter_left_out"]

    def _take(self, offer: Offer) -> None:
        """Other texts or tools are another harness: views begin anew then, and no weights are read."""
        if offer.heads != self._offer.heads or offer.shown() != self._offer.shown():
            harness = with_hands(self._bare, offer.heads, offer.shown())
            if harness.version != self._mixture.harness.version:
                self._use(replace(self._mixture, harness=harness))
        self._unremarked = [one for one in self._unremarked if one in offer.remarks]
        self._unremarked += [one for one in offer.remarks if one not in self._offer.remarks]
        self._offer = offer

    def _leave_out(self, expert: str, error: AgentError) -> Note | None:
        """Go on without the personal adapter that may be what the runtime could not use: this expert's, then any."""
        personal = self._mixture.personal
        suspect = expert if expert in personal else next(iter(personal), None)
        if suspect is None:
            return None
        adapter = personal[suspect]
        self._personal.leave_out(adapter, error.problem)
        rest = {name: other for name, other in personal.items() if name != suspect}
        self._use(replace(self._mixture, personal=rest))
        return Note("adapter_left_out", suspect, adapter.content_hash, error.problem)

    def _count(self, turn: RunningTurn, state: TurnState) -> None:
        """Tell whom a turn was answered by. A count that cannot be written is no reason to lose the answer."""
        adapter = self._mixture.personal.get(turn.route.expert) if turn.route else None
        if adapter is not None and state in ("answered", "failed"):
            with suppress(StoreProblem):
                self._personal.answered(adapter, turn.record.turn_id)


def checked_text(text: str) -> str:
    """Raises: BadText when there is nothing to say or it is not valid Unicode (bytes that were not UTF-8)."""
    if not text.strip():
        raise BadText("The message is empty.", "Write something to say.")
    _check_unicode(text, "The message")
    return text


def checked_attachments(attachments: Sequence[Attachment]) -> tuple[Attachment, ...]:
    """The files under names of one line. Raises: BadText for one whose text is not valid Unicode."""
    for attachment in attachments:
        _check_unicode(attachment.text, f"The attached file `{shown_name(attachment.name)}`")
    return tuple(Attachment(shown_name(attachment.name), attachment.text) for attachment in attachments)


def _check_unicode(text: str, what: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadText(
            f"{what} is not valid UTF-8 (at character {error.start + 1}).", "Save or send the text as UTF-8."
        ) from error


def _notice(turn: RunningTurn, note: Note) -> TurnEvent:
    values = {"expert": note.expert, "adapter": note.content_hash[:12]}
    return turn.notice(note.code, **values, **({"problem": note.problem} if note.problem else {}))


def _what_is_left(view: OpenView) -> dict[str, Any]:
    """Of turns that are not read any more: the lines that stand for them, and how many pinned ones have no room."""
    lines = [{"kind": line.kind, "text": line.text} for line in view.epoch.memory.lines]
    return {"lines": lines, "moved_out": len(view.moved_out)}


def _is_tainted(turn: RunningTurn, path: Sequence[TurnRecord]) -> bool:
    """Whether anything that the expert may read holds text that the user did not type."""
    turns = (*path, turn.record)
    return any(
        one.provenance != "typed" or one.attachments or any(call.is_tainted for call in one.calls) for one in turns
    )
