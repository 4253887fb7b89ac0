"""`macaron memory interview`: five questions at the terminal, or answers of a script."""

import sys
from collections.abc import Mapping
from dataclasses import asdict

import click

from app.interview.opening import open_interview
from app.output import is_terminal, print_json, print_text
from app.paths import Paths
from app.settings import language_of
from engine.memory.interviewing import QUESTIONS, Topic
from ui.inert import display_line
from ui.interview import asked
from ui.strings import say, say_count


def run_interview(paths: Paths, environment: Mapping[str, str], given: Mapping[str, str], *, as_json: bool) -> int:
    """Ask what is not `given` by topic; where anything is given, only that.

    Raises: UsageProblem, BadText, HomeBusy, StoreProblem.
    """
    language = language_of(paths.settings, environment)
    answers = given or {question.topic: _answer(question.topic, language) for question in QUESTIONS}
    with open_interview(paths) as shelf:
        kept = shelf.answer_interview(answers, language)
    if as_json:
        print_json({"memories": [asdict(memory) for memory in kept]})
        return 0
    for memory in kept:
        print_text(display_line(memory.text))
    print_text(say_count("interview.kept", language, len(kept)) if kept else say("interview.nothing", language))
    return 0


def _answer(topic: Topic, language: str) -> str:
    """One line; from a person at the terminal, or the next line of standard input. Blank where there is none."""
    if is_terminal(sys.stdin):
        return str(click.prompt(asked(topic, language), default="", show_default=False, err=True))
    return sys.stdin.readline() if sys.stdin is not None else ""
