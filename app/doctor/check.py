"""One finding of the doctor. Knows no check."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "bad"]


@dataclass(frozen=True, slots=True)
class Check:
    """`hint` says what to do where it is not ok. A warning is something to know; bad is what keeps it from working."""

    name: str
    level: Level
    detail: str
    hint: str = ""


def ok(name: str, detail: str) -> Check:
    return Check(name, "ok", detail)


def warning(name: str, detail: str, hint: str) -> Check:
    return Check(name, "warning", detail, hint)


def bad(name: str, detail: str, hint: str) -> Check:
    return Check(name, "bad", detail, hint)
