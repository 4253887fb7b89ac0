"""The memories that are kept: written from what the user typed, recalled, judged, confirmed and forgotten.

Joins the writer, the store and the finder; decides nothing by itself that is not said there. What it is given to read
is the user's turn; it knows neither agents nor screens. Raises StoreProblem or one of its children when the disk fails.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Final

from engine.errors import UsageProblem
from engine.memory.checking import IsAlive, date_passed, link_dead, links, says_over, user_said_so
from engine.memory.concepts import Concepts, shipped_concepts
from engine.memory.embedding import Embedder, embedded, reads
from engine.memory.escaping import escaped
from engine.memory.finding import Finder
from engine.memory.lines import estimated_tokens, line
from engine.memory.values import Draft, Memory, MemoryKind, Recalled, TrustTier
from engine.memory.weighting import (
    DEFAULT_RULES,
    FIRST_VALIDATION,
    Event,
    WeightRules,
    earned_r0,
    first_r0,
    validation_after,
)
from engine.memory.writing.by_hand import as_written
from engine.memory.writing.frames import speaks_for_themselves
from engine.memory.writing.own_words import own_sentences
from engine.memory.writing.proposals import Proposal
from engine.memory.writing.proposing import Proposer, RuleProposer
from engine.memory.writing.reconciling import Outcome, reconcile
from engine.memory.writing.verifying import Refused, Said, verify
from engine.store import Store
from engine.store.memories import MemoryStore
from engine.store.memory_care import MemoryCare
from engine.store.memory_search import MemorySearch, Vector
from engine.values import Attachment, Provenance

RECALLED: Final = 8
RECALL_TOKENS: Final = 400
LOOKED_AT: Final = 4
"""For each memory that may be recalled, how many are looked at whether they are relevant."""
LEAST_RELEVANCE: Final = 0.05
"""A memory that is less relevant by itself is not recalled for a question."""
KNOWN_RELEVANCE: Final = 0.48
"""From this relevance on a memory is taken for an answer; where all are below it, it is honest to say that nothing is
known. Higher: more is said to be unknown that is known; lower: the other way round."""
ALIKE: Final = 12
"""How many memories a proposal is held against, of each way of finding them."""
EMBEDDED_AT_ONCE: Final = 32
DOUBTED: Final = 0.1
"""A memory that is believed less than this has failed a check already."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message of the user, and what its facts are held against."""

    turn_id: str
    message: str
    provenance: Provenance = "typed"
    attachments: Sequence[Attachment] = ()
    earlier: Sequence[str] = ()
    """The user's messages before it in this conversation, oldest first."""
    system_texts: Sequence[str] = ()
    recalled: Sequence[str] = ()
    """The texts of memories that the model read in this turn."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a message has changed."""

    written: tuple[Memory, ...] = ()
    merged: tuple[Memory, ...] = ()
    """Those that were there already and are believed more now."""
    superseded: tuple[int, ...] = ()
    doubted: tuple[Memory, ...] = ()
    """Those that the user has said are over."""
    refused: tuple[Refused, ...] = field(default=())


def is_known(recalled: Sequence[Recalled]) -> bool:
    """Whether what was recalled for a question is likely to hold its answer."""
    return any(one.relevance >= KNOWN_RELEVANCE for one in recalled)


class KeptMemories:
    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        *,
        concepts: Concepts | None = None,
        rules: WeightRules = DEFAULT_RULES,
    ) -> None:
        """Without an embedder memories are found by their words alone."""
        self.store = MemoryStore(store.database, store.mender)
        self.care = MemoryCare(store.database)
        self.rules = rules
        self._embedder = embedder
        self._search = MemorySearch(store.database, store.mender)
        self._finder = Finder(self._search, embedder, concepts or shipped_concepts(), rules)

    @property
    def is_paused(self) -> bool:
        """The user wants nothing remembered of what they say, in any conversation, until they resume; what is known
        already is still recalled."""
        return self.care.paused_since() is not None

    # Writing

    def learn(self, spoken: Spoken, now: datetime, today: date, proposer: Proposer | None = None) -> Kept:
        """Write what the user says about themselves; nothing where they quote, ask, play a part or are a guest.

        `today` is the day where the user is. While memory is paused nothing is written.
        """
        if self.is_paused:
            return Kept()
        sentences = own_sentences(spoken.message, spoken.provenance, spoken.attachments)
        if not sentences or not speaks_for_themselves(spoken.message, spoken.earlier):
            return Kept()
        kept = Kept(doubted=self._doubted(sentences, now))
        said = Said(spoken.message, sentences, spoken.system_texts, spoken.recalled)
        for proposal in (proposer or RuleProposer()).propose(sentences, today):
            verdict = verify(proposal, said)
            if isinstance(verdict, Refused):
                kept = replace(kept, refused=(*kept.refused, verdict))
            else:
                kept = self._keep(verdict, spoken.turn_id, now, kept)
        return kept

    def write(self, draft: Draft, now: datetime, supersedes: Sequence[int] = ()) -> Memory:
        """As it is, such as after a person has said so. Raises: BadText, UnknownName."""
        draft = replace(draft, text=escaped(draft.text), evidence=escaped(draft.evidence))
        vector = self._finder.vector_of(draft.text) if draft.state == "active" else None
        return self._add(draft, now, supersedes, vector)

    def approve(self, memory_id: int, now: datetime) -> Memory:
        """The user has looked at one that waited: it may be recalled from now on, in the place of what cannot hold
        beside it. Raises: UnknownName, UsageProblem."""
        waiting = self.store.get(memory_id)
        replaced = [memory.memory_id for memory in self.store.in_slot(waiting.slot)]
        vector = self._finder.vector_of(waiting.text)
        validation, least_r0 = validation_after(waiting.validation, "approved"), first_r0("confirmed")
        self.store.approve(memory_id, validation, least_r0, now, vector)
        self.store.supersede(replaced, memory_id)
        self._finder.added(memory_id, vector)
        self._finder.removed(replaced)
        return self.store.get(memory_id)

    def edit(
        self, memory_id: int, text: str, now: datetime, kind: MemoryKind | None = None, due_on: str | None = None
    ) -> Memory:
        """Say it otherwise, which approves one that waited; the old wording is kept as history. What is not given stays
        as it is. Raises: UnknownName, BadText, UsageProblem."""
        old = self.store.get(memory_id)
        if old.state not in ("active", "pending"):
            raise UsageProblem(f"Memory {memory_id} is {old.state}.", "Edit one that is active or waits.")
        due_on = old.due_on if due_on is None else due_on
        wanted = as_written(text, now.date(), kind or old.kind, due_on, old.slot)
        draft = Draft(
            wanted.text,
            wanted.kind,
            wanted.text,
            old.turn_id,
            "confirmed",
            max(old.r0, first_r0("confirmed")),
            wanted.slot,
            wanted.due_on,
            source=old.source,
        )
        beside = [memory.memory_id for memory in self.store.in_slot(wanted.slot) if memory.memory_id != memory_id]
        edited = self.write(draft, now, supersedes=(memory_id, *beside))
        self.judge(memory_id, "edited", now)
        return edited

    def forget(self, memory_id: int) -> None:
        """Its text, its evidence and all traces of them here are gone. Raises: UnknownName."""
        gone = [memory.memory_id for memory in self.store.history(memory_id)]
        self.store.forget(memory_id)
        self.are_gone(gone)

    def are_gone(self, memory_ids: Collection[int]) -> None:
        """They were forgotten in the store: they are found no more."""
        self._finder.removed(memory_ids)

    def reconciled(self, proposal: Proposal) -> Outcome:
        """What would become of it beside what is remembered; nothing is changed."""
        return reconcile(proposal, *self._known(proposal, self._finder.vector_of(proposal.text)))

    # Recalling

    def recall(
        self,
        question: str,
        now: datetime,
        *,
        most: int = RECALLED,
        tokens: int = RECALL_TOKENS,
        least_relevance: float = LEAST_RELEVANCE,
        vector: Vector | None = None,
    ) -> tuple[Recalled, ...]:
        """What is known that may answer the question, the best first; nothing where nothing is known.

        `tokens` is what the lines of all of them may take; one that is too long for what is left makes room for
        shorter ones. `vector` spares the embedding of the question.
        """
        ranked = self._finder.find(question, now, LOOKED_AT * most, vector)
        best = [one for one in ranked if one.relevance >= least_relevance][: 2 * most]
        memories = self.store.get_all([one.memory_id for one in best])
        found, left = list[Recalled](), tokens
        for one in best:
            memory = memories.get(one.memory_id)
            if memory is None or (taken := estimated_tokens(line(memory))) > left or len(found) == most:
                continue
            left -= taken
            found.append(Recalled(memory, one.score, one.relevance))
        return tuple(found)

    def reads(self, question: str) -> bool:
        """Whether memories are found for it by their meaning, and not by their words alone."""
        return self._embedder is not None and reads(self._embedder, question)

    def used(self, memory_ids: Collection[int], now: datetime, tool_successes: int = 0) -> None:
        """They went into a turn that is stored, in which so many tools did what they were called for."""
        turns = self.store.turns_with(memory_ids)
        gains = {
            memory_id: earned_r0(0.0, tool_successes, turns.get(memory_id, 1), rules=self.rules)
            - earned_r0(0.0, 0, turns.get(memory_id, 1) - 1, rules=self.rules)
            for memory_id in memory_ids
        }
        self.store.use(gains, now)

    # Judging

    def judge(self, memory_id: int, event: Event, now: datetime) -> Memory:
        """Something happened to a memory: it is believed more or less. Raises: UnknownName."""
        validation = validation_after(self.store.get(memory_id).validation, event)
        return self.store.judge(memory_id, validation, now, trusted=event == "approved")

    def check(self, now: datetime, today: date, is_alive: IsAlive | None = None, most: int = 50) -> tuple[Memory, ...]:
        """Hold memories against the world: plans whose day is over, and links, where `is_alive` is given. Each is
        doubted once. The memories that were doubted now."""
        past = self.store.due("", today.isoformat())
        events = {memory: date_passed(memory, today) for memory in past}
        if is_alive is not None:
            events |= {memory: link_dead(memory, is_alive) for memory in self.store.page(most) if links(memory.text)}
        return tuple(
            self.judge(memory.memory_id, event, now)
            for memory, event in events.items()
            if event == "check_failed" and memory.validation > DOUBTED
        )

    # Embedding anew

    def embed_some(self, most: int = EMBEDDED_AT_ONCE) -> int:
        """Give memories that have no vector by today's embedder one, at most so many; how many are still without."""
        if self._embedder is None:
            return 0
        name = self._embedder.name
        waiting = self._search.unembedded(name, most)
        if waiting:
            vectors = embedded(self._embedder, [text for _, text in waiting])
            by_number = {memory_id: vector for (memory_id, _), vector in zip(waiting, vectors, strict=True)}
            for memory_id in self._search.put_vectors(list(by_number.items())):
                self._finder.embedded(memory_id, by_number[memory_id])
        return self._search.count_unembedded(name)

    # One proposal

    def _keep(self, proposal: Proposal, turn_id: str, now: datetime, kept: Kept) -> Kept:
        vector = self._finder.vector_of(proposal.text)
        known, cosines = self._known(proposal, vector)
        outcome = reconcile(proposal, known, cosines)
        for replaced in outcome.supersedes:
            self.judge(replaced, "contradicted", now)
        if outcome.merged_into is not None and self.store.get(outcome.merged_into).turn_id == turn_id:
            return kept  # it was written from this message a moment ago, which makes it no surer
        if outcome.merged_into is not None:
            memory = self.judge(outcome.merged_into, "said_again", now)
            for replaced in outcome.supersedes:
                self.judge(replaced, "contradicted", now)
            return replace(kept, merged=(*kept.merged, memory))
        memory = self._add(_draft_of(proposal, turn_id), now, outcome.supersedes, vector)
        return replace(kept, written=(*kept.written, memory), superseded=(*kept.superseded, *outcome.supersedes))

    def _known(self, proposal: Proposal, vector: Vector | None) -> tuple[list[Memory], Mapping[int, float]]:
        """The active memories that it may repeat or replace."""
        slots = dict.fromkeys(slot for slot in (proposal.slot, *proposal.takes_over) if slot)
        known = {memory.memory_id: memory for slot in slots for memory in self.store.in_slot(slot)}
        asked = (proposal.text, " ".join(sorted(proposal.ends)))
        alike = [memory_id for text in asked if text for memory_id in self._finder.alike(text, vector, ALIKE)]
        known |= self.store.get_all([memory_id for memory_id in alike if memory_id not in known])
        active = [memory for memory in known.values() if memory.state == "active"]
        return active, self._finder.cosines([memory.memory_id for memory in active], vector)

    def _add(self, draft: Draft, now: datetime, supersedes: Sequence[int], vector: Vector | None) -> Memory:
        memory = self.store.add(
            draft,
            self._finder.terms_of(draft.text, draft.slot),
            now,
            validation=FIRST_VALIDATION,
            supersedes=supersedes,
            vector=vector,
        )
        if draft.state == "active":
            self._finder.added(memory.memory_id, vector)
        if supersedes:
            self._finder.removed(supersedes)
        return memory

    def _doubted(self, sentences: Sequence[str], now: datetime) -> tuple[Memory, ...]:
        """Memories about what a sentence says is over."""
        doubted = list[Memory]()
        for sentence in filter(says_over, sentences):
            vector = self._finder.vector_of(sentence)
            for memory in self.store.get_all(self._finder.alike(sentence, vector, ALIKE)).values():
                event = user_said_so(memory, sentence)
                if event is not None and memory.state == "active" and memory.validation > DOUBTED:
                    doubted.append(self.judge(memory.memory_id, event, now))
        return tuple(doubted)


def _draft_of(proposal: Proposal, turn_id: str) -> Draft:
    trust: TrustTier = "typed" if proposal.author == "rule" else "inferred"
    return Draft(
        proposal.text,
        proposal.kind,
        proposal.evidence,
        turn_id,
        trust,
        first_r0(trust, is_asked_for=proposal.is_asked_for),
        proposal.slot,
        proposal.due_on,
    )
