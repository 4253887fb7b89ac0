"""The verb memory interview: five questions of the first day, answered at the terminal or by a script."""

import os

import click

from app.cli.options import home_option, json_option, paths_of
from app.text_input import argument_text


@click.command()
@click.option(
    "--answer",
    "answers",
    type=argument_text,
    multiple=True,
    metavar="TOPIC=TEXT",
    help="An answer about name, answers, region, work or avoid; may be given several times. Nothing is asked then.",
)
@json_option
@home_option
def interview(answers: tuple[str, ...], as_json: bool, home: str | None) -> int:
    """Answer five short questions: what to call you, how to answer, where you are, what you work on, what to avoid.

    An empty answer skips one. Asked again, an answer takes the place of the one before. Without a terminal the answers
    are read from standard input, one a line.
    """
    from app.interview.commands import run_interview

    given = dict(answer.partition("=")[::2] for answer in answers)
    return run_interview(paths_of(home), os.environ, given, as_json=as_json)
