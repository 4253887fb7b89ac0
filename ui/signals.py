"""What is shown of signals, in words. Pure: values in, lines out; knows no screen."""

from collections.abc import Iterable
from typing import Final, cast

from engine.signals.values import CorrectionKind, Signal, SignalKind
from ui.inert import display_line
from ui.strings import say

MAX_TEXT_CELLS: Final = 60
NOTED: Final[tuple[SignalKind, ...]] = ("correction", "edit")
"""Those that are marked at their answer."""
MOST_MARKED: Final = 1000
"""Answers of a conversation that are marked, the newest."""


def kind_words(signal: Signal, language: str) -> str:
    """What the user did, such as `thumb down`."""
    if signal.kind == "thumb":
        key = "thumb_up" if signal.value > 0 else "thumb_down" if signal.value < 0 else "thumb_none"
    elif signal.kind == "pick":
        key = "pick" if signal.value == 1 else "went_on"
    elif signal.kind == "suggestion":
        key = "suggestion_accepted" if signal.value > 0 else "suggestion_dismissed"
    else:
        key = signal.kind
    return say(f"signal.{key}", language)


def state_words(signal: Signal, language: str) -> str:
    """Empty where it may teach as it is."""
    return say("signal.tainted", language) if signal.is_tainted else ""


def signal_line(signal: Signal, language: str) -> str:
    """One signal in a list: day, kind, whether it waits, and the beginning of its text."""
    parts = (
        display_line(signal.created_at[:10]),
        kind_words(signal, language),
        state_words(signal, language),
        display_line(signal.text, MAX_TEXT_CELLS),
    )
    return " · ".join(part for part in parts if part)


def noted_key(signal: Signal) -> str:
    """The key of what is said when a better answer was noted."""
    if signal.is_tainted:
        return "signal.noted.tainted"
    return "signal.noted.edit" if signal.kind == "edit" else "signal.noted"


def noted_kinds(signals: Iterable[Signal]) -> dict[str, CorrectionKind]:
    """Turn → how its answer was corrected last. `signals` are of `NOTED`, the newest first."""
    kinds: dict[str, CorrectionKind] = {}
    for signal in signals:
        kinds.setdefault(signal.turn_id, cast(CorrectionKind, signal.kind))
    return kinds


def noted_mark(kind: CorrectionKind | None, language: str) -> str:
    """What stands at an answer that was corrected; empty at others."""
    return say(f"turn.noted.{kind}", language) if kind is not None else ""
