"""Bases in words: sizes, verdicts, rows of a list, progress. Pure; prints nothing."""

from collections.abc import Sequence
from typing import Final

from app.models.download import Step
from app.models.fit import Fit, Machine
from ui.durations import duration_text
from ui.inert import cell_width
from ui.sizes import size_text
from ui.strings import say


def machine_line(machine: Machine, language: str) -> str:
    memory, free = size_text(machine.memory_bytes), size_text(machine.free_memory_bytes)
    if machine.is_unified:
        return say("machine.unified", language, memory=memory, free=free)
    if machine.gpu:
        gpu_free = size_text(machine.free_gpu_bytes)
        return say("machine.gpu", language, memory=memory, free=free, gpu=machine.gpu, gpu_free=gpu_free)
    return say("machine.cpu", language, memory=memory, free=free)


def fit_line(fit: Fit, language: str) -> str:
    """The verdict and the numbers behind it."""
    why = say(f"fit.why.{fit.reason}", language, need=size_text(fit.need.total), room=size_text(fit.room_bytes))
    return say("fit.line", language, verdict=say(f"fit.{fit.verdict}", language), why=why)


def fit_parts_line(fit: Fit, language: str) -> str:
    need = fit.need
    return say(
        "fit.parts",
        language,
        weights=size_text(need.weights),
        tokens=f"{fit.context_tokens:,}",
        kv=size_text(need.kv),
        state=size_text(need.state),
        compute=size_text(need.compute),
        margin=size_text(need.margin),
    )


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines with aligned columns; the last column is as long as it likes."""
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)][:-1]
    return [
        "  ".join(
            [*(cell + " " * (width - cell_width(cell)) for cell, width in zip(row, widths, strict=False)), row[-1]]
        )
        for row in rows
    ]


class Meter:
    """How fast a download goes and how long it will take, from what it told in the last seconds."""

    WINDOW_S: Final = 20.0

    def __init__(self) -> None:
        self._seen: list[tuple[float, int]] = []

    def take(self, now_s: float, done: int) -> None:
        if self._seen and done < self._seen[-1][1]:
            self._seen.clear()
        self._seen.append((now_s, done))
        while len(self._seen) > 2 and now_s - self._seen[0][0] > self.WINDOW_S:
            self._seen.pop(0)

    @property
    def bytes_per_s(self) -> float | None:
        """None until there is something to reckon with."""
        if len(self._seen) < 2:
            return None
        (first_s, first), (last_s, last) = self._seen[0], self._seen[-1]
        return (last - first) / (last_s - first_s) if last_s > first_s else None

    def seconds_left(self, total: int) -> float | None:
        rate = self.bytes_per_s
        return (total - self._seen[-1][1]) / rate if rate else None


def step_line(step: Step, meter: Meter, language: str) -> str:
    """Where a download is."""
    done, total = size_text(step.done), size_text(step.total)
    rate, left = meter.bytes_per_s, meter.seconds_left(step.total)
    if step.stage == "fetching" and rate and left is not None:
        rate_text, left_text = size_text(rate), duration_text(left, language)
        return say("pull.fetching", language, done=done, total=total, rate=rate_text, left=left_text)
    key = "pull.starting" if step.stage == "fetching" else f"pull.{step.stage}"
    return say(key, language, done=done, total=total, note=step.note)
