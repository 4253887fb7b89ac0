"""A LoRA update of one weight, as every file format of this package gives and takes it. Knows no file."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np

from engine.errors import BadModelFile

T = TypeVar("T")
Array = np.ndarray[Any, Any]
"""Of float16 or float32."""
DataType = Literal["f16", "f32", "q8_0"]
"""How weights are stored in a GGUF adapter."""


@dataclass(frozen=True, slots=True)
class LoraPair:
    """The update (alpha / r) · B A of one weight of shape (O, I)."""

    a_rI: Array
    b_Or: Array
    alpha: float

    @property
    def rank(self) -> int:
        return int(self.a_rI.shape[0])


Pairs = Mapping[str, LoraPair]
"""By the name of the weight, in whichever naming the function says."""


def check_values(name: str, pair: LoraPair) -> None:
    """Raises: BadModelFile when the halves do not belong together or a value is infinite or no number."""
    if pair.a_rI.ndim != 2 or pair.b_Or.ndim != 2 or pair.a_rI.shape[0] != pair.b_Or.shape[1]:
        raise BadModelFile(
            f"The halves of {name} do not belong together: {list(pair.a_rI.shape)} and {list(pair.b_Or.shape)}.",
            "Get the adapter again, or save it anew.",
        )
    if not (np.isfinite(pair.a_rI).all() and np.isfinite(pair.b_Or).all()):
        raise BadModelFile(
            f"{name} holds values that are infinite or no numbers.", "Its training went wrong; take an earlier state."
        )


def common_alpha(pairs: Pairs) -> float:
    """The alpha that most pairs have, so that the fewest values change when all are given one."""
    return most_common(pair.alpha for pair in pairs.values())


def with_alpha(pair: LoraPair, alpha: float) -> LoraPair:
    """The same update written with another alpha: the difference goes into B. Equal alphas change no value."""
    if pair.alpha == alpha:
        return pair
    with np.errstate(over="ignore"):  # whoever stores the values refuses those that are infinite
        b_Or = pair.b_Or.astype(np.float32) * np.float32(pair.alpha / alpha)
    return replace(pair, b_Or=b_Or, alpha=alpha)


def most_common(values: Iterable[T]) -> T:
    """Of equally common ones the first."""
    return Counter(values).most_common(1)[0][0]
