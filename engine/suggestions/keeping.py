"""The suggestions that are kept: looked for, made at most one at a time, answered, and what follows from an answer.

Joins the rules, the store and what they look at; decides nothing itself. Every method raises StoreProblem or one of its
children when the disk or the file fails.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from engine.errors import UsageProblem
from engine.harness.builtin.dates.occurrences import occurrences
from engine.jobs.keeping import KeptJobs
from engine.jobs.reading import stamp
from engine.jobs.values import NewJob, Schedule
from engine.memory.weighting import DEFAULT_RULES, WeightRules, validation_after
from engine.store import Store
from engine.store.dates import DateStore
from engine.store.memories import MemoryStore
from engine.store.suggestions import SuggestionStore
from engine.suggestions.choosing import choose, has_expired
from engine.suggestions.habits import habits
from engine.suggestions.rules import (
    AHEAD,
    ASKED_ABOUT,
    STALE_DAYS,
    due_events,
    due_memories,
    long_stretch,
    stale_memories,
)
from engine.suggestions.values import Candidate, Suggestion, SuggestionKind, Switches

HABITS_WITHIN: Final = timedelta(days=60)
_MOST_ASKED: Final = 500
_MOST_STALE: Final = 10
_TITLE_CHARACTERS: Final = 80


class KeptSuggestions:
    def __init__(self, store: Store, clock: Callable[[], datetime], zone: Callable[[], str]) -> None:
        """`clock` gives a moment with a zone, `zone` the name of the zone that the user is in."""
        self._suggestions = SuggestionStore(store.database)
        self._memories = MemoryStore(store.database, store.mender)
        self._dates = DateStore(store.database)
        self._jobs = KeptJobs(store.database)
        self._clock = clock
        self._zone = zone

    def look(self, most_a_day: int) -> Suggestion | None:
        """The one that is open, or one that is made now; None where there is nothing to suggest."""
        zone = self._zone()
        now = self._clock().astimezone(ZoneInfo(zone))
        past = self._expired(now)
        if open_one := next((one for one in past if one.state == "offered"), None):
            return open_one
        switches = self._suggestions.switches()
        if not switches.is_on or most_a_day <= 0:
            return None
        chosen = choose(
            self._candidates(now, zone),
            past,
            now,
            most_a_day=most_a_day,
            off=switches.off,
            counted=self._suggestions.counted(),
        )
        return None if chosen is None else self._suggestions.add(chosen, now)

    def page(self, limit: int) -> Sequence[Suggestion]:
        """The newest first, whatever became of them."""
        return self._suggestions.page(limit)

    def accept(self, suggestion_id: int, rules: WeightRules = DEFAULT_RULES) -> Suggestion:
        """Do what it suggests; the memory that it was made from is worth more then, by `rules`.

        Raises: UnknownName; UsageProblem where it was answered or its time is over.
        """
        suggestion = self._suggestions.get(suggestion_id)
        now = self._clock()
        if has_expired(suggestion, now):
            self._suggestions.answer(suggestion_id, "expired", now)
            raise UsageProblem(f"The time of suggestion {suggestion_id} is over.", "Nothing needs to be done.")
        if suggestion.state == "offered":
            self._carry_out(suggestion, now)
            if suggestion.about.memory_id is not None:
                self._memories.credit(suggestion.about.memory_id, rules.per_accepted_suggestion)
        return self._suggestions.answer(suggestion_id, "accepted", now)

    def dismiss(self, suggestion_id: int) -> Suggestion:
        """Raises: UnknownName; UsageProblem where it was answered."""
        return self._suggestions.answer(suggestion_id, "dismissed", self._clock())

    def switches(self) -> Switches:
        return self._suggestions.switches()

    def switch(self, kind: SuggestionKind | None, *, is_on: bool) -> Switches:
        """One kind, or all. What is switched off and still open is open no more."""
        self._suggestions.switch(kind, is_on=is_on)
        if not is_on:
            for one in self._suggestions.page():
                if one.state == "offered" and kind in (None, one.kind):
                    self._suggestions.answer(one.suggestion_id, "expired", self._clock())
        return self._suggestions.switches()

    def _expired(self, now: datetime) -> Sequence[Suggestion]:
        """What was suggested, with what is too late to answer told apart."""
        past = self._suggestions.page()
        late = [one for one in past if has_expired(one, now)]
        for one in late:
            self._suggestions.answer(one.suggestion_id, "expired", now)
        return self._suggestions.page() if late else past

    def _candidates(self, now: datetime, zone: str) -> list[Candidate]:
        asked = self._suggestions.asked(now - HABITS_WITHIN, _MOST_ASKED, now.tzinfo or ZoneInfo(zone))
        today, tomorrow = now.date(), (now + timedelta(days=1)).date()
        due = self._memories.due(today.isoformat(), tomorrow.isoformat())
        here = now.replace(tzinfo=None)
        near = occurrences(self._dates.near(here, here + AHEAD), now, now + AHEAD, ZoneInfo(zone))
        stale = self._memories.unconfirmed(ASKED_ABOUT, now - timedelta(days=STALE_DAYS), _MOST_STALE)
        return [
            *due_memories(due, now),
            *due_events(near, now),
            *habits(asked, [job.text for job in self._jobs.jobs()], zone),
            *stale_memories(stale, now),
            *long_stretch([one.at for one in asked], now),
        ]

    def _carry_out(self, suggestion: Suggestion, now: datetime) -> None:
        """Raises: UsageProblem."""
        facts = suggestion.facts
        match suggestion.kind:
            case "due":
                moment = datetime.fromisoformat(facts["remind_at"])
                self._make_job(suggestion, "reminder", Schedule("once", stamp(moment), self._zone()))
            case "habit":
                self._make_job(suggestion, "prompt", Schedule("cron", facts["cron"], facts["zone"]))
            case "stale":
                memory = self._memories.get(suggestion.about.memory_id or 0)
                validation = validation_after(memory.validation, "approved")
                self._memories.judge(memory.memory_id, validation, now, trusted=True)
            case "break":
                pass  # it is for the user to take

    def _make_job(self, suggestion: Suggestion, kind: str, schedule: Schedule) -> None:
        title = " ".join(suggestion.text.split())[:_TITLE_CHARACTERS]
        # Accepting is a click of the user, on their own words.
        self._jobs.add(
            NewJob(title, kind, suggestion.text, schedule),
            provenance="typed",
            request=f"suggestion-{suggestion.suggestion_id}",
            now=self._clock(),
        )
