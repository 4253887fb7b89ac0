"""A lesson in words: what would be learned, where it is, what came of it. Pure: values in, lines out.

What models and users wrote is made harmless here and cut, one line each.
"""

from collections.abc import Iterator
from typing import Final

from ui.durations import duration_text
from ui.inert import display_line
from ui.strings import say
from ui.teaching import Compared, Proposal, Taught, TeachProgress

FOLLOWS, FAILS = "✓", "✗"
_CELLS: Final = 96


def mark(follows: bool) -> str:
    """Before an answer: whether it is as the user wants it."""
    return FOLLOWS if follows else FAILS


def proposal_lines(proposal: Proposal, language: str) -> Iterator[str]:
    yield say("teach.proposal", language, count=proposal.corrections, expert=proposal.expert)
    for change in proposal.changes:
        yield say("teach.proposal.change", language, change=display_line(change))
    yield say("teach.proposal.examples", language)
    for one in proposal.corrected:
        yield say("teach.proposal.asked", language, text=display_line(one.prompt, _CELLS))
        yield say("teach.proposal.before", language, text=display_line(one.before, _CELLS))
        yield say("teach.proposal.after", language, text=display_line(one.after, _CELLS))
    yield how_line(proposal, language)


def how_line(proposal: Proposal, language: str) -> str:
    """How long it takes, and what will and what will not happen."""
    return say("teach.proposal.how", language, minutes=f"{proposal.minutes:g}")


def progress_text(progress: TeachProgress, language: str) -> str:
    phase = say(f"teach.phase.{progress.phase}", language)
    text = say("teach.progress", language, phase=phase, done=progress.done, total=progress.total)
    shown = text if progress.total else phase
    if progress.seconds_left is None:
        return shown
    return f"{shown} · {say('teach.left', language, time=duration_text(progress.seconds_left, language))}"


def running_line(expert: str, progress: TeachProgress, language: str, *, is_stopping: bool) -> str:
    """A lesson that goes on beside something else."""
    text = say("teach.stopping", language) if is_stopping else progress_text(progress, language)
    return say("teach.running", language, expert=display_line(expert), progress=text)


def over_line(taught: Taught, language: str) -> str:
    """A lesson that is over, for who does other things."""
    outcome = say(f"teach.over.{taught.decision}", language)
    return say("teach.over", language, expert=display_line(taught.expert), outcome=outcome)


def standing_line(taught: Taught, language: str) -> str:
    """Whether it answers, where it could; empty where it cannot."""
    if taught.decision != "passed":
        return ""
    return say("teach.answers" if taught.is_in_use else "teach.waits", language)


def undone_line(taught: Taught, changed: bool, language: str) -> str:
    """`changed`: whether it had still answered."""
    return say("teach.undone" if changed else "teach.nothing_to_undo", language, expert=display_line(taught.expert))


def taught_lines(taught: Taught, language: str) -> Iterator[str]:
    """All of it, for a page of text."""
    figures = figures_line(taught, language)
    if figures:
        yield figures
    if taught.compared:
        yield say("teach.compared", language)
        for one in taught.compared:
            yield from _compared_lines(one, language)
    yield from verdict_lines(taught, language)
    yield say("teach.minutes", language, minutes=f"{taught.minutes:.1f}")


def figures_line(taught: Taught, language: str) -> str:
    """How many held-out answers were as they should be, with the interval; empty where none was tested."""
    if not taught.items:
        return ""
    return say(
        "teach.result",
        language,
        items=taught.items,
        before=taught.right_before,
        after=taught.right_after,
        share=f"{100 * taught.right_after / taught.items:.0f} %",
        low=f"{100 * taught.low:.0f} %",
        high=f"{100 * taught.high:.0f} %",
        p=f"{taught.p_value:.2g}",
    )


def verdict_lines(taught: Taught, language: str) -> Iterator[str]:
    """What was decided, and why."""
    yield say(f"teach.{taught.decision}", language)
    for reason in taught.reasons:
        if reason:
            yield say("teach.reason", language, reason=display_line(reason))


def _compared_lines(one: Compared, language: str) -> Iterator[str]:
    yield say("teach.compared.prompt", language, text=display_line(one.prompt, _CELLS))
    for key, text, follows in (("before", one.before, one.follows_before), ("after", one.after, one.follows_after)):
        yield say(f"teach.compared.{key}", language, mark=mark(follows), text=display_line(text, _CELLS))
