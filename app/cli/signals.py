"""The verb signals: see, add, confirm and erase what was said of answers."""

import os
import sys
from typing import Final, Literal, get_args

import click

from app.cli.options import home_option, json_option, paths_of
from app.text_input import argument_text, expert_label, question

Kind = Literal["thumb", "correction", "edit", "pick", "suggestion"]
_NO_ANSWER: Final = ("No better answer was given.", 'Write it after the verb: macaron signals add "…".')

number_argument = click.argument("number", metavar="NUMBER", type=click.IntRange(1, 2**62))


@click.group()
def signals() -> None:
    """What you said of answers: thumbs, better answers, edited answers and picks between two.

    NUMBER is that of a signal, as the list shows it.
    """


@signals.command(name="list")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(get_args(Kind)), help="Only these kinds.")
@click.option("--expert", type=expert_label, metavar="L2", help="Only those about answers of this expert.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000))
@click.option("--before", type=click.IntRange(1, 2**62), metavar="NUMBER", help="Go on below this one.")
@json_option
@home_option
def signals_list(
    kinds: tuple[Kind, ...], expert: str | None, limit: int, before: int | None, as_json: bool, home: str | None
) -> int:
    """List signals, the newest first."""
    from app.signals import run_list

    return run_list(paths_of(home), os.environ, kinds=kinds, expert=expert, limit=limit, before=before, as_json=as_json)


@signals.command(name="show")
@number_argument
@json_option
@home_option
def signals_show(number: int, as_json: bool, home: str | None) -> int:
    """Show a signal with its question and answer."""
    from app.signals import run_show

    return run_show(paths_of(home), os.environ, number, as_json=as_json)


@signals.command(name="add")
@click.argument("text", type=argument_text, required=False)
@click.option("--turn", "turn_id", type=argument_text, metavar="ID", help="The turn it is about; default: the last.")
@click.option("--edit", is_flag=True, help="TEXT is the answer as you have edited it.")
@json_option
@home_option
def signals_add(text: str | None, turn_id: str | None, edit: bool, as_json: bool, home: str | None) -> int:
    """Note TEXT as the answer that should have been given, word for word.

    Without TEXT it is read from standard input; then it counts as pasted and waits to be confirmed.
    """
    from app.signals import run_add

    return run_add(
        paths_of(home),
        os.environ,
        question(text, sys.stdin, _NO_ANSWER),
        turn_id=turn_id,
        kind="edit" if edit else "correction",
        is_pasted=text is None or text == "-",
        as_json=as_json,
    )


@signals.command(name="confirm")
@number_argument
@json_option
@home_option
def signals_confirm(number: int, as_json: bool, home: str | None) -> int:
    """Let a signal teach that holds text you did not type."""
    from app.signals import run_confirm

    return run_confirm(paths_of(home), os.environ, number, as_json=as_json)


@signals.command(name="erase")
@click.argument("numbers", metavar="NUMBER...", nargs=-1, required=True, type=click.IntRange(1, 2**62))
@json_option
@home_option
def signals_erase(numbers: tuple[int, ...], as_json: bool, home: str | None) -> int:
    """Erase signals: their text is gone, and they count no more."""
    from app.signals import run_erase

    return run_erase(paths_of(home), os.environ, numbers, as_json=as_json)
