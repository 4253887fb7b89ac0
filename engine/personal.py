"""The seam between a turn and whoever knows which personal adapters answer now.

A turn asks once, at its beginning, so that it runs under one set of adapters from route to close. Knows no table, no
file and no rule of promotion.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from engine.runtime.protocol import AdapterRef

NoteCode = Literal["adapter_left_out", "canary_rolled_back", "canary_promoted"]


@dataclass(frozen=True, slots=True)
class Note:
    """Something the user should know of an adapter of `expert`; told as a notice of that code."""

    code: NoteCode
    expert: str
    content_hash: str
    problem: str = ""
    """Of an adapter that was left out: why."""


@dataclass(frozen=True, slots=True)
class Personal:
    """What is stacked on the experts for one turn, by expert, and what there is to say of it."""

    adapters: Mapping[str, AdapterRef] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


class PersonalAdapters(Protocol):
    def current(self) -> Personal:
        """What answers from now on. Adapters whose file is missing or changed are left out, with a note.

        Raises: StoreProblem.
        """
        ...

    def leave_out(self, adapter: AdapterRef, problem: str) -> None:
        """The runtime could not use it: leave it out until it is promoted anew or the program starts again."""
        ...

    def answered(self, adapter: AdapterRef, turn_id: str) -> None:
        """A turn was closed that this adapter answered. Raises: StoreProblem."""
        ...


class NoPersonalAdapters:
    """Every expert answers as it came."""

    def current(self) -> Personal:
        return Personal()

    def leave_out(self, adapter: AdapterRef, problem: str) -> None:
        """There is none to leave out."""

    def answered(self, adapter: AdapterRef, turn_id: str) -> None:
        """There is none that could have answered."""


class Uncounted:
    """Personal adapters as they answer now, without a count: what is off the record speaks neither for nor against
    them."""

    def __init__(self, adapters: PersonalAdapters) -> None:
        self._adapters = adapters

    def current(self) -> Personal:
        return self._adapters.current()

    def leave_out(self, adapter: AdapterRef, problem: str) -> None:
        self._adapters.leave_out(adapter, problem)

    def answered(self, adapter: AdapterRef, turn_id: str) -> None:
        """It is nobody's affair."""
