"""Parameters of one reward, read strictly: wrong types and unknown names are refused, with the name of the reward."""

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from local_training.rewards.values import RewardProblem

_Choice = TypeVar("_Choice", bound=str)


class Parameters:
    """Take them one by one; `finish` then refuses what nobody took. All methods raise RewardProblem."""

    def __init__(self, reward: str, values: Mapping[str, Any]) -> None:
        self._reward = reward
        self._values = values
        self._taken: set[str] = set()

    def given(self, name: str) -> Any:
        """The value as it is; None where it is missing."""
        self._taken.add(name)
        return self._values.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        value = self.given(name)
        value = default if value is None else value
        if not isinstance(value, str) or (value == "" and default is None):
            raise self.problem(f"`{name}` must be a text")
        return value

    def texts(self, name: str, *, least: int = 1) -> tuple[str, ...]:
        """A text, or a list of texts."""
        value = self.given(name)
        listed = [value] if isinstance(value, str) else [] if value is None and least == 0 else value
        if not isinstance(listed, list) or not all(isinstance(one, str) and one.strip() for one in listed):
            raise self.problem(f"`{name}` must be a text or a list of texts, none of them empty")
        if len(listed) < least:
            raise self.problem(f"`{name}` must have at least {least}")
        return tuple(listed)

    def number(
        self, name: str, default: float | None = None, *, least: float = -math.inf, most: float = math.inf
    ) -> float:
        value = self.given(name)
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.problem(f"`{name}` must be a number")
        if not least <= value <= most:
            raise self.problem(f"`{name}` must be a number from {least:g} to {most:g}")
        return float(value)

    def whole(self, name: str, default: int | None = None, *, least: int = 0, most: int = 1_000_000) -> int:
        value = self.given(name)
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.problem(f"`{name}` must be a whole number from {least} to {most}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.given(name)
        value = default if value is None else value
        if not isinstance(value, bool):
            raise self.problem(f"`{name}` must be true or false")
        return value

    def choice(self, name: str, options: tuple[_Choice, ...], default: _Choice | None = None) -> _Choice:
        value = self.given(name)
        value = default if value is None else value
        for option in options:
            if value == option:
                return option
        raise self.problem(f"`{name}` must be one of {', '.join(options)}")

    def finish(self) -> None:
        unknown = sorted(self._values.keys() - self._taken)
        if unknown:
            raise self.problem(f"there is no parameter `{', '.join(unknown):.80}`")

    def problem(self, reason: str) -> RewardProblem:
        return RewardProblem(f"reward `{self._reward}`: {reason}", "Correct the task's `reward`.")
