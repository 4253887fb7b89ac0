"""`macaron suggestions`: what is suggested and what became of it, for people and for scripts."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

from app.jobs.opening import open_jobs_of_host
from app.models.wording import table
from app.output import print_json, print_text
from app.paths import Paths
from app.settings import language_of
from app.suggestions.opening import open_suggestions
from engine.suggestions.values import Suggestion, SuggestionKind, Switches
from ui import suggestions as wording
from ui.inert import display_line
from ui.strings import say

_MAKES_JOBS: Final[tuple[SuggestionKind, ...]] = ("due", "habit")
_HEADS = ("number", "day", "state", "question")


def run_list(paths: Paths, environment: Mapping[str, str], limit: int, *, as_json: bool) -> int:
    """Looks for something to suggest first. Raises: HomeBusy, StoreProblem."""
    with open_suggestions(paths) as shelf:
        shelf.suggestions()
        found, switches = shelf.past_suggestions(limit=limit), shelf.suggestion_switches()
    if as_json:
        print_json({"suggestions": [asdict(one) for one in found], **asdict(switches)})
        return 0
    language = language_of(paths.settings, environment)
    if found:
        heads = [say(f"suggestions.list.{head}", language) for head in _HEADS]
        for line in table([heads, *(_row(one, language) for one in found)]):
            print_text(line.rstrip())
    else:
        print_text(say("suggestions.none", language))
    for one in found:
        if one.state == "offered":
            print_text(f"\n{wording.reason(one, language)}. {wording.way_off(one, language)}")
    _print_off(switches, language)
    return 0


def run_answer(
    paths: Paths, environment: Mapping[str, str], suggestion_id: int, *, accepts: bool, as_json: bool
) -> int:
    """Where a job comes of it, a host is started if none runs.

    Raises: UnknownName, UsageProblem where it is answered or too late, AgentError.
    """
    with open_suggestions(paths) as shelf:
        answer = shelf.accept_suggestion if accepts else shelf.dismiss_suggestion
        suggestion = answer(suggestion_id)
    if accepts and suggestion.kind in _MAKES_JOBS:
        with open_jobs_of_host(paths):
            pass  # a host runs from now on, which the job needs
    if as_json:
        print_json(asdict(suggestion))
    else:
        print_text(wording.outcome(suggestion, language_of(paths.settings, environment)))
    return 0


def run_switch(
    paths: Paths, environment: Mapping[str, str], kind: SuggestionKind | None, *, is_on: bool, as_json: bool
) -> int:
    """Raises: HomeBusy, StoreProblem."""
    with open_suggestions(paths) as shelf:
        switches = shelf.switch_suggestions(is_on, kind)
    if as_json:
        print_json(asdict(switches))
        return 0
    language = language_of(paths.settings, environment)
    if kind is not None:
        print_text(say(f"suggestions.kind_{'on' if is_on else 'off'}", language, kind=kind))
    elif is_on:
        print_text(say("suggestions.on", language))
    _print_off(switches, language)
    return 0


def _print_off(switches: Switches, language: str) -> None:
    if not switches.is_on:
        print_text(say("suggestions.is_off", language))
    elif switches.off:
        print_text(say("suggestions.kinds_off", language, kinds=", ".join(switches.off)))


def _row(suggestion: Suggestion, language: str) -> list[str]:
    return [
        str(suggestion.suggestion_id),
        display_line(suggestion.made_at[:10]),
        say(f"suggestions.state.{suggestion.state}", language),
        wording.question(suggestion, language),
    ]
