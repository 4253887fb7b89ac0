"""Make a damaged search index anew: once, told, and only after everything that was said was found to be whole.

Knows neither how the index is made nor what is looked at; these are `index` and `damage`.
"""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Concatenate, Final, ParamSpec, Protocol, TypeVar

import engine.store.damage as damage
import engine.store.index as index
import engine.store.repairs as repairs
from engine.errors import DatabaseDamaged
from engine.store.database import Database

MENDED: Final = "The search index was damaged. It has been made anew from the messages; none is lost."


class IndexMender:
    def __init__(self, database: Database) -> None:
        """Mends at once what the database or a first look at the index is suspicious of. Raises: DatabaseDamaged."""
        self._database = database
        self._mending = threading.Lock()
        self._repairs: list[str] = []
        if suspicion := database.suspicion or self._first_look():
            self.mend(suspicion, 0)

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was put in order since the start, as sentences for the user."""
        return tuple(self._repairs)

    @property
    def is_useless(self) -> bool:
        """Whether it is known already that mending cannot help."""
        return self._database.is_given_up

    def mend(self, problem: str, known_repairs: int) -> None:
        """Make the index anew, unless another thread has since `known_repairs`.

        Raises: DatabaseDamaged when it is not only the index, or when it was mended so often that the disk is to blame.
        """
        with self._mending:
            if len(self._repairs) > known_repairs:
                return
            now = datetime.now(UTC)
            with self._database.mending() as connection:
                if content := damage.content_problem(connection):
                    raise self._database.damaged(content)
                if repairs.recent(connection, now) >= repairs.MOST_A_DAY:
                    raise self._database.damaged(f"its search index is damaged again and again ({problem})")
                index.rebuild(connection)
                repairs.record(connection, "search index", problem, now)
            self._repairs.append(MENDED)

    def rebuild(self) -> None:
        """Make the index anew because somebody wants it. Raises: DatabaseDamaged when messages are damaged."""
        with self._mending, self._database.mending() as connection:
            if content := damage.content_problem(connection):
                raise self._database.damaged(content)
            index.rebuild(connection)

    def _first_look(self) -> str:
        try:
            with self._database.reading() as connection:
                return "" if index.answers(connection) else "it is missing"
        except DatabaseDamaged as error:
            return str(error)


class HasMender(Protocol):
    mender: IndexMender


S = TypeVar("S", bound=HasMender)
P = ParamSpec("P")
T = TypeVar("T")


def with_a_sound_index(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """For methods that use the search index: when it turns out to be damaged, it is made anew and they run again."""

    @wraps(method)
    def again_if_mended(self: S, /, *arguments: P.args, **options: P.kwargs) -> T:
        before = len(self.mender.repairs)
        try:
            return method(self, *arguments, **options)
        except DatabaseDamaged as error:
            if self.mender.is_useless:
                raise
            self.mender.mend(str(error), before)
            return method(self, *arguments, **options)

    return again_if_mended
