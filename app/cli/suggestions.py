"""The verb suggestions: list, accept, dismiss, and switch on and off what the agent suggests by itself."""

import os
from typing import Literal

import click

from app.cli.options import home_option, json_option, paths_of

Kind = Literal["due", "habit", "stale", "break"]
_kind_option = click.option("--kind", type=click.Choice(["due", "habit", "stale", "break"]), help="Only of this kind.")


@click.group()
def suggestions() -> None:
    """What is suggested: a reminder, a job for a habit, a memory to confirm, a break. Seldom, and with its reason."""


@suggestions.command(name="list")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 200))
@json_option
@home_option
def suggestions_list(limit: int, as_json: bool, home: str | None) -> int:
    """List the one that is open and those before it, the newest first."""
    from app.suggestions.commands import run_list

    return run_list(paths_of(home), os.environ, limit, as_json=as_json)


@suggestions.command(name="accept")
@click.argument("number", type=click.IntRange(1))
@json_option
@home_option
def suggestions_accept(number: int, as_json: bool, home: str | None) -> int:
    """Do what it suggests."""
    from app.suggestions.commands import run_answer

    return run_answer(paths_of(home), os.environ, number, accepts=True, as_json=as_json)


@suggestions.command(name="dismiss")
@click.argument("number", type=click.IntRange(1))
@json_option
@home_option
def suggestions_dismiss(number: int, as_json: bool, home: str | None) -> int:
    """Not that. Twice in a row, and its kind is quiet until it is switched on again."""
    from app.suggestions.commands import run_answer

    return run_answer(paths_of(home), os.environ, number, accepts=False, as_json=as_json)


@suggestions.command(name="off")
@_kind_option
@json_option
@home_option
def suggestions_off(kind: Kind | None, as_json: bool, home: str | None) -> int:
    """Suggest nothing any more, or nothing of one kind."""
    from app.suggestions.commands import run_switch

    return run_switch(paths_of(home), os.environ, kind, is_on=False, as_json=as_json)


@suggestions.command(name="on")
@_kind_option
@json_option
@home_option
def suggestions_on(kind: Kind | None, as_json: bool, home: str | None) -> int:
    """Suggest again; what was dismissed twice may come again."""
    from app.suggestions.commands import run_switch

    return run_switch(paths_of(home), os.environ, kind, is_on=True, as_json=as_json)
