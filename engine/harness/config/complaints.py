"""What is wrong with one file of the configuration: where, why, and what to do. A value; raises and shows nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import UsageProblem


@dataclass(frozen=True, slots=True)
class Complaint:
    """One mistake in one file. The rest of the configuration may be in use all the same."""

    file: str
    """Path as a person would look for it."""
    problem: str
    """A sentence."""
    hint: str
    line: int | None = None
    """From 1; None where the mistake has no line, as when the file is too long."""
    key: str = ""
    """Dotted path of the key, such as "budgets.turn_seconds"."""

    @property
    def text(self) -> str:
        """Place and problem in one line."""
        line = f", line {self.line}" if self.line is not None else ""
        key = f", `{self.key}`" if self.key else ""
        return f"{self.file}{line}{key}: {self.problem}"


def as_error(complaints: Sequence[Complaint]) -> UsageProblem:
    """The error that tells of all of `complaints`, for the caller to raise."""
    hints = dict.fromkeys(complaint.hint for complaint in complaints)
    return UsageProblem(" ".join(complaint.text for complaint in complaints), " ".join(hints))
