"""How the interview of the first day stands. Lives in the store's database; raises StoreProblem as the store does."""

from datetime import datetime
from typing import Literal

from engine.store.database import Database

InterviewState = Literal["new", "offered", "declined", "done"]
"""new: nobody was asked yet. offered: asked whether they want it, once, without an answer. declined: for good."""


class InterviewStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self) -> InterviewState:
        with self._database.reading() as connection:
            row = connection.execute("SELECT state FROM interviews").fetchone()
        state: InterviewState = "new" if row is None else row["state"]
        return state

    def settle(self, state: InterviewState, now: datetime) -> None:
        """It stands so from now on."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM interviews")
            connection.execute(
                "INSERT INTO interviews (state, since) VALUES (?, ?)", [state, now.isoformat(timespec="microseconds")]
            )
