"""Watch one run until it ends: what its trainer tells goes to a show, and signals to the trainer.

The first Ctrl+C, or a polite end of this process, asks the trainer to end as soon as it can; the next ends it at once.
Either costs the step under way and no more.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from types import FrameType
from typing import Final

from app.files import written
from app.output import OutputFailed
from app.stopping import heard_by
from app.training.outcome import Outcome, judge_end
from app.training.shows import Show
from app.training.trainer import Trainer, start_trainer
from engine.errors import AgentError
from local_training.runs.events import Ended, Event, Progress
from local_training.runs.folder import RunFolder, RunState, now

_LOG_TAIL_BYTES: Final = 4096


@dataclass(slots=True)
class Asked:
    """How often the user asked for an end."""

    times: int = 0


def supervise(run: RunFolder, command: Sequence[str], show: Show, *, go_on: str, language: str) -> Outcome:
    """Start `command`, a trainer for this run, and see it through. `go_on` is the command that resumes the run.

    Raises: DiskFull, AgentError when it cannot be started; OutputFailed, BrokenPipeError when nobody could read what
    was said, after the trainer was asked to end and did.
    """
    with written(run.path):
        for leftover in (run.pause, run.stop):
            leftover.unlink(missing_ok=True)
    # Until the trainer has loaded its libraries, the folder already says that somebody works on it.
    run.write_state(
        replace(run.read_state(), state="running", problem="", hint="", reason="", pid=os.getpid(), updated_at=now())
    )
    log_start = run.log.stat().st_size if run.log.exists() else 0
    with _counted_signals() as asked, start_trainer(command, run) as trainer:
        watch = _Watch(run, trainer, show, asked, go_on)
        ended = watch.until_end()
        code = trainer.wait()
    outcome = judge_end(
        ended,
        code,
        step=run.read_state().step,
        killed=watch.killed,
        last_words=_last_words(run, log_start),
        go_on=go_on,
        language=language,
    )
    if not outcome.was_told:
        _write_down(run, outcome)
    if watch.failure is not None:
        raise watch.failure
    return outcome


def ask_to_stop(run: RunFolder) -> None:
    """Ask whoever trains this run to end, also where it waits. Raises: OSError."""
    run.stop.touch()
    run.pause.unlink(missing_ok=True)


class _Watch:
    def __init__(self, run: RunFolder, trainer: Trainer, show: Show, asked: Asked, go_on: str) -> None:
        self._run = run
        self._trainer = trainer
        self._show = show
        self._asked = asked
        self._go_on = go_on
        self._answered = 0
        self._waits = False
        self.killed = False
        self.failure: OutputFailed | BrokenPipeError | None = None

    def until_end(self) -> Ended | None:
        """The trainer's last word, if it had one."""
        self._say(lambda: self._show.begin(str(self._run.path)))
        try:
            for event in self._trainer.events():
                if isinstance(event, Ended):
                    return event
                self._answer_signals()
                self._show_pause()
                self._pass_on(event)
        finally:
            self._say(self._show.end)
        return None

    def _pass_on(self, event: Event | None) -> None:
        if event is None:
            self._say(self._show.look)
        elif isinstance(event, Progress):
            self._say(lambda: self._show.progress(event))
        elif not isinstance(event, Ended):
            self._say(lambda: self._show.metrics(event))

    def _answer_signals(self) -> None:
        if self._answered and not self._run.stop.exists():
            self._stop()  # a trainer that was still loading takes what lies there when it begins for a leftover
        if self._answered == (times := self._asked.times):
            return
        if self._answered == 0:
            self._stop()
            self._say(lambda: self._show.stopping(self._go_on))
        if times > 1:
            self.killed = True
            self._trainer.kill()
        self._answered = times

    def _show_pause(self) -> None:
        if self._run.pause.exists() != self._waits:
            self._waits = not self._waits
            self._say(lambda: self._show.waiting(self._waits))

    def _say(self, words: Callable[[], None]) -> None:
        """Without anybody who reads, the run is asked to end: whoever started it is gone."""
        if self.failure is not None:
            return
        try:
            words()
        except (OutputFailed, BrokenPipeError) as failure:
            self.failure = failure
            self._stop()

    def _stop(self) -> None:
        try:
            ask_to_stop(self._run)
        except OSError:  # such as a full disk
            self._trainer.hang_up()


@contextmanager
def _counted_signals() -> Iterator[Asked]:
    """Count Ctrl+C and polite ends of the process instead of acting on them."""
    asked = Asked()

    def count(_number: int, _frame: FrameType | None) -> None:
        asked.times += 1

    with heard_by(count):
        yield asked


def _last_words(run: RunFolder, start: int) -> str:
    """The last line of the log that was written since it had `start` bytes."""
    try:
        with run.log.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(start, end - _LOG_TAIL_BYTES))
            lines = log.read().decode("utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _write_down(run: RunFolder, outcome: Outcome) -> None:
    """Let the folder say what its trainer could not. Where that fails too, the user hears it all the same."""
    known: RunState = run.read_state()
    with suppress(AgentError):
        run.write_state(
            replace(known, state=outcome.state, problem=outcome.problem, hint=outcome.hint, pid=0, updated_at=now())
        )
