"""One turn, top to bottom: open, route, view, answer, close. Everything a face sees comes out as events.

The agent holds no state of its own between turns; it is all in the store. Runs turns one after another.
"""

import random
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.errors import AgentError, BadText, ModelProblem, OutOfMemory, ScoringStopped, StoreProblem
from engine.events import TurnEvent
from engine.harness.message import router_request, shown_name, user_message
from engine.harness.prompt import Prompt
from engine.mixture import Mixture
from engine.personal import NoPersonalAdapters, Note, PersonalAdapters
from engine.router_model import route_scores
from engine.routing import router, timeline
from engine.running_turn import RunningTurn
from engine.runtime.protocol import NEVER, Finished, Prefilled, Request, Runtime, Stop, Token, Tokens
from engine.store import Store
from engine.summaries import Summaries, longest_summary_tokens
from engine.values import Attachment, Provenance, Route, TurnRecord, TurnState
from engine.views import OpenView, ViewBuilder

_LONG_MESSAGE_TOKENS: Final = 256
"""From this length on, regenerating an answer should not have to read the message again."""


@dataclass(frozen=True, slots=True)
class _Message:
    """What is to be said, and where in the tree. Without a parent it begins a branch of its own."""

    text: str
    conversation_id: str | None
    parent_turn_id: str | None
    provenance: Provenance
    pinned: str | None
    attachments: tuple[Attachment, ...] = ()
    follows_leaf: bool = False
    """The parent is whatever is the conversation's leaf once this turn's time has come."""


class Agent:
    def __init__(
        self,
        runtime: Runtime,
        store: Store,
        mixture: Mixture,
        *,
        personal: PersonalAdapters | None = None,
        new_seed: Callable[[], int] = lambda: random.getrandbits(32),
    ) -> None:
        """`personal` is asked at the beginning of every turn which adapters are stacked on the experts."""
        self._runtime = runtime
        self._store = store
        self._profile = mixture.profile
        self._personal = personal or NoPersonalAdapters()
        self._untold: list[Note] = []
        self._new_seed = new_seed
        self._one_turn = threading.Lock()
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
        stop: Stop = NEVER,
    ) -> Generator[TurnEvent, None, None]:
        """Say `text` after the conversation's leaf or after `parent_turn_id`, to the expert the router chooses.

        `attachments` are files that go with it: the expert reads them, the router only their names.

        `expert`, or a leading `@L2 `, pins one. The last event is a TurnClosed, also when the turn failed or was
        stopped. Closing the generator stops the turn.

        Raises: BadText, UnknownName, ContextOverflow, before anything is stored.
        """
        pinned, said = self._addressed(text, expert)
        follows_leaf = conversation_id is not None and parent_turn_id is None
        files = checked_attachments(attachments)
        yield from self._say(
            _Message(said, conversation_id, parent_turn_id, provenance, pinned, files, follows_leaf), stop
        )

    def regenerate(
        self, turn_id: str, *, expert: str | None = None, stop: Stop = NEVER
    ) -> Generator[TurnEvent, None, None]:
        """Answer the same message once more, as a sibling; this also retries failed and interrupted turns."""
        old = self._store.turn(turn_id)
        if expert is None and old.route is not None and old.route.reason == "pinned":
            expert = old.route.expert
        yield from self._say(
            _Message(old.user_text, old.conversation_id, old.parent_turn_id, old.provenance, expert, old.attachments),
            stop,
        )

    def edit(
        self,
        turn_id: str,
        text: str,
        *,
        expert: str | None = None,
        provenance: Provenance = "typed",
        stop: Stop = NEVER,
    ) -> Generator[TurnEvent, None, None]:
        """Say something else instead, as a sibling; the files of the old message go with it."""
        old = self._store.turn(turn_id)
        pinned, said = self._addressed(text, expert)
        yield from self._say(
            _Message(said, old.conversation_id, old.parent_turn_id, provenance, pinned, old.attachments), stop
        )

    def idle(self, conversation_id: str, stop: Stop = NEVER) -> None:
        """Write the summaries that another expert's next turn would wait for. Ends early when `stop` is set."""
        leaf = self._store.conversation(conversation_id).leaf_turn_id
        if leaf is None or not self._one_turn.acquire(blocking=False):
            return
        try:
            self._look_up()
            for turn in reversed(self._store.path(leaf)):
                if stop.is_set():
                    return
                if timeline.is_readable(turn) and turn.summary is None and self._views.has_others(turn):
                    for _ in self._summaries.write(turn, stop):
                        pass
        finally:
            self._one_turn.release()

    # One turn

    def _addressed(self, text: str, expert: str | None) -> tuple[str | None, str]:
        """(the expert that is pinned, the text without the address)."""
        pinned, said = router.parse_pin(checked_text(text), self._profile.expert_ids)
        return expert or pinned, said

    def _say(self, message: _Message, stop: Stop) -> Iterator[TurnEvent]:
        if message.pinned is not None:
            self._profile.expert(message.pinned)
        self._views.check_fits(message.text, message.attachments)
        with self._one_turn:
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
            yield from self._run(RunningTurn(record, time.perf_counter()), message.pinned, stop)

    def _run(self, turn: RunningTurn, pinned: str | None, stop: Stop) -> Iterator[TurnEvent]:
        """Every way out of here closes the turn in the store, exactly once."""
        state: TurnState = "failed"
        error: AgentError | None = None
        try:
            yield turn.opened()
            yield from self._route_and_answer(turn, pinned, stop)
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
        yield turn.closed(answer, self._profile.context_tokens)

    def _route_and_answer(self, turn: RunningTurn, pinned: str | None, stop: Stop) -> Iterator[TurnEvent]:
        record = turn.record
        path = self._store.path(record.parent_turn_id) if record.parent_turn_id else ()
        left_out = self._look_up()
        route = self._route(turn, path, pinned, stop)
        yield turn.routed(route)
        for note in (*self._untold, *(note for note in left_out if note.expert == route.expert)):
            yield _notice(turn, note)
        self._untold.clear()
        while True:
            try:
                yield from self._answer(turn, path, route.expert, stop)
                return
            except (ModelProblem, OutOfMemory) as error:
                unusable = self._leave_out(route.expert, error)
                if turn.completion or unusable is None:
                    raise
            yield _notice(turn, unusable)

    def _answer(self, turn: RunningTurn, path: Sequence[TurnRecord], expert: str, stop: Stop) -> Iterator[TurnEvent]:
        record = turn.record
        message = user_message(record.user_text, record.attachments)
        view = self._views.open(record.conversation_id, path, expert, message)
        if view.newly_folded:
            yield turn.notice("folded", turns=view.newly_folded)
        for other in self._views.needs_summary(view):
            for done in self._summaries.write(other, stop):
                if isinstance(done, Prefilled):
                    yield turn.reading("summary", done)
                else:
                    turn.usage_other += done.usage
            if stop.is_set():
                turn.reason = "stopped"
                return
            path = tuple(self._store.turn(t.turn_id) if t.turn_id == other.turn_id else t for t in path)
        yield from self._generate(turn, expert, view, self._views.prompt(view, path, message), stop)

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

    def _generate(
        self, turn: RunningTurn, expert: str, view: OpenView, prompt: Prompt, stop: Stop
    ) -> Iterator[TurnEvent]:
        sampling = replace(self._profile.sampling, seed=self._new_seed())
        request = Request(
            prompt.tokens,
            self._profile.max_answer_tokens,
            self._mixture.stack(expert),
            sampling,
            cache_key=f"{turn.record.conversation_id}/{view.epoch.expert}",
            snapshot_at=(*prompt.boundaries, *_before_long_message(prompt.tokens, prompt.boundaries)),
        )
        for piece in self._runtime.generate([request], stop):
            match piece:
                case Prefilled():
                    yield turn.reading("answer", piece)
                case Token(token=token, text=text):
                    turn.completion.append(token)
                    yield from turn.said(text)
                case Finished(reason=reason, usage=usage, text=text):
                    turn.reason, turn.usage = reason, usage
                    yield from turn.said(text)
        if turn.reason == "length":
            yield turn.notice("length", tokens=turn.usage.completion_tokens)
        if turn.completion:
            completion, turn_id = tuple(turn.completion), turn.record.turn_id
            own = completion[:-1] if turn.reason == "eos" else completion
            turn.segments = self._views.segments(view, prompt, turn_id, own)
            turn.traces.append(self._mixture.trace(turn_id, "answer", expert, prompt.tokens, completion, sampling.seed))
            adapter = self._mixture.personal.get(expert)
            turn.adapter = adapter.content_hash if adapter is not None else ""

    # Adapters

    def _use(self, mixture: Mixture) -> None:
        """Which experts share a view depends on their adapters; what the views hold does not."""
        self._mixture = mixture
        longest = longest_summary_tokens(mixture)
        self._views = ViewBuilder(self._store, mixture, self._runtime, longest_summary_tokens=longest)
        self._summaries = Summaries(self._runtime, self._store, mixture, self._views, self._new_seed)

    def _look_up(self) -> Sequence[Note]:
        """Take the adapters that answer from now on; what was left out. What else there is to say waits for a turn."""
        found = self._personal.current()
        adapters = {expert: found.adapters[expert] for expert in self._profile.expert_ids if expert in found.adapters}
        if adapters != self._mixture.personal:
            self._use(replace(self._mixture, personal=adapters))
        self._untold += [note for note in found.notes if note.code != "adapter_left_out"]
        return [note for note in found.notes if note.code == "adapter_left_out"]

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


def _before_long_message(tokens: Tokens, boundaries: Sequence[int]) -> tuple[int, ...]:
    """The last position before the answer, when the new message is long."""
    start = boundaries[-1] if boundaries else 0
    return (len(tokens) - 1,) if len(tokens) - start > _LONG_MESSAGE_TOKENS else ()
