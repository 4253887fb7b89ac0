"""`macaron history forget`: what would go, the question, what has gone and what is left. Runs no model."""

from collections.abc import Callable
from dataclasses import asdict

from app.forgetting.opening import open_forgetter
from app.history import language_of
from app.output import ProgressLine, print_json, print_text
from app.paths import Paths
from engine.forgetting import Wanted
from ui.forgetting import forgotten_lines, preview_lines
from ui.strings import say

Ask = Callable[[str], bool]
_KEPT = 0
"""Exit code when the person said no: that is an answer, not a failure."""


def run_forget(
    paths: Paths,
    target: str,
    span: str | None,
    *,
    is_everywhere: bool,
    only_preview: bool,
    ask: Ask | None,
    as_json: bool,
) -> int:
    """`ask` None takes it for agreed.

    Raises: UnknownName, BadText, UsageProblem, ConversationBusy, HomeBusy, DiskFull, StoreProblem, AgentError.
    """
    language = language_of(paths)
    wanted = Wanted(target, span or "", is_everywhere)
    progress = ProgressLine()
    with open_forgetter(paths) as forgetter:
        if only_preview or ask is not None:
            found = forgetter.preview_forgetting(wanted)
            if as_json:
                print_json(asdict(found))
                return 0
            for line in preview_lines(found, language):
                print_text(line)
            if only_preview or not found.places:
                return 0
            if ask is not None and not ask(say("forget.ask", language)):
                print_text(say("forget.kept", language))
                return _KEPT
        progress.show(_working(paths, language))
        try:
            done = forgetter.forget(wanted)
        finally:
            progress.clear()
    if as_json:
        print_json(asdict(done))
        return 0
    for line in forgotten_lines(done, language):
        print_text(line)
    return 0


def _working(paths: Paths, language: str) -> str:
    """How long it takes goes by the size of the database, all of which is written anew."""
    size_bytes = paths.database.stat().st_size if paths.database.exists() else 0
    return say("forget.writing_anew", language, size=f"{size_bytes / 2**20:,.0f}")
