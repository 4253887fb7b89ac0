"""The verb memory: see, search, add, edit, forget, review, hand out and take in what is remembered; pause it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, get_args

import click

from app.cli.options import home_option, json_option, paths_of
from app.output import is_terminal
from app.text_input import argument_text, question
from engine.errors import UsageProblem

# As in `engine.memory.values`, which is not imported before a verb runs.
Kind = Literal["preference", "fact", "relation", "plan", "instruction"]
Trust = Literal["confirmed", "typed", "inferred", "tainted"]
State = Literal["active", "pending", "superseded"]
_NO_TEXT: Final = ("Nothing to remember was given.", 'Write it after the verb: macaron memory add "I like tea".')

NUMBER = click.IntRange(1, 2**62)
number_argument = click.argument("number", metavar="NUMBER", type=NUMBER)
limit_option = click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000))
kind_option = click.option("--kind", type=click.Choice(get_args(Kind)), help="What it is; default: as its words say.")
due_option = click.option("--due", type=argument_text, metavar="DAY", help="The day of a plan, such as 2026-12-24.")


@click.group()
def memory() -> None:
    """What is remembered of you: list, search, add, edit, forget, review, export and import it; pause it.

    NUMBER is that of a memory, as the list shows it.
    """


@memory.command(name="list")
@click.option("--state", "states", multiple=True, type=click.Choice(get_args(State)), help="Default: active.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(get_args(Kind)), help="Only these kinds.")
@click.option("--trust", "trusts", multiple=True, type=click.Choice(get_args(Trust)), help="Only what is so sure.")
@limit_option
@click.option("--before", type=NUMBER, metavar="NUMBER", help="Go on below this one.")
@json_option
@home_option
def memory_list(
    states: tuple[State, ...],
    kinds: tuple[Kind, ...],
    trusts: tuple[Trust, ...],
    limit: int,
    before: int | None,
    as_json: bool,
    home: str | None,
) -> int:
    """List memories, the newest first."""
    from app.memory.commands import run_list

    return run_list(
        paths_of(home),
        os.environ,
        states=states or ("active",),
        kinds=kinds,
        trusts=trusts,
        limit=limit,
        before=before,
        as_json=as_json,
    )


@memory.command(name="search")
@click.argument("words", type=argument_text, nargs=-1, required=True)
@limit_option
@json_option
@home_option
def memory_search(words: tuple[str, ...], limit: int, as_json: bool, home: str | None) -> int:
    """Search memories, in English or Chinese: what a question would bring up, then what holds the words."""
    from app.memory.commands import run_search

    return run_search(paths_of(home), os.environ, " ".join(words), limit, as_json=as_json)


@memory.command(name="show")
@number_argument
@json_option
@home_option
def memory_show(number: int, as_json: bool, home: str | None) -> int:
    """Show a memory: your words that say so, where it comes from, what it is worth, and what it took the place of."""
    from app.memory.commands import run_show

    return run_show(paths_of(home), os.environ, number, as_json=as_json)


@memory.command(name="add")
@click.argument("text", type=argument_text, required=False)
@kind_option
@due_option
@json_option
@home_option
def memory_add(text: str | None, kind: Kind | None, due: str | None, as_json: bool, home: str | None) -> int:
    """Remember TEXT, which you say of yourself. What cannot hold beside it is replaced.

    Without TEXT it is read from standard input; then it counts as pasted and waits for your review.
    """
    from app.memory.commands import run_add

    return run_add(
        paths_of(home),
        os.environ,
        question(text, sys.stdin, _NO_TEXT),
        kind=kind,
        due_on=due or "",
        is_pasted=text is None or text == "-",
        as_json=as_json,
    )


@memory.command(name="edit")
@number_argument
@click.argument("text", type=argument_text, required=False)
@kind_option
@due_option
@json_option
@home_option
def memory_edit(
    number: int, text: str | None, kind: Kind | None, due: str | None, as_json: bool, home: str | None
) -> int:
    """Say a memory otherwise: TEXT takes its place, under a new number, and the old wording is kept as history."""
    from app.memory.commands import run_edit

    if text is None and kind is None and due is None:
        raise UsageProblem("Nothing was given that should change.", "Give a text, --kind or --due.")
    return run_edit(paths_of(home), os.environ, number, text, kind=kind, due_on=due, as_json=as_json)


@memory.command(name="forget")
@click.argument("numbers", metavar="NUMBER...", nargs=-1, required=True, type=NUMBER)
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@home_option
def memory_forget(numbers: tuple[int, ...], yes: bool, as_json: bool, home: str | None) -> int:
    """Forget memories for good, with what they took the place of."""
    from app.memory.commands import run_forget

    return run_forget(paths_of(home), os.environ, numbers, _ask(yes=yes, as_json=as_json), as_json=as_json)


@memory.command(name="review")
@click.option("--approve", "approved", multiple=True, type=NUMBER, metavar="NUMBER", help="Remember this one.")
@click.option("--reject", "rejected", multiple=True, type=NUMBER, metavar="NUMBER", help="Forget this one.")
@json_option
@home_option
def memory_review(approved: tuple[int, ...], rejected: tuple[int, ...], as_json: bool, home: str | None) -> int:
    """Look at what waits for you, one after the other: approve, edit, reject or skip it."""
    from app.memory.reviewing import Reviewer, run_decide, run_review

    if approved or rejected:
        return run_decide(paths_of(home), os.environ, approved, rejected, as_json=as_json)
    reviewer = None
    if is_terminal(sys.stdin) and not as_json:
        letters = click.Choice(["a", "e", "r", "s", "q"])
        reviewer = Reviewer(
            lambda asked: click.prompt(asked, type=letters, show_choices=False),
            lambda asked, text: click.prompt(asked, default=text),
        )
    return run_review(paths_of(home), os.environ, reviewer, as_json=as_json)


@memory.command(name="export")
@click.option("--output", metavar="PATH", help="A file; default: standard output.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@json_option
@home_option
def memory_export(output: str | None, force: bool, as_json: bool, home: str | None) -> int:
    """Write all memories as lines of JSON that can be imported."""
    from app.memory.transfer import run_export

    return run_export(paths_of(home), os.environ, output, force=force, as_json=as_json)


@memory.command(name="import")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@json_option
@home_option
def memory_import(file: Path, as_json: bool, home: str | None) -> int:
    """Take memories from an exported file; they wait for your review. What is known already is left out."""
    from app.memory.transfer import run_import

    return run_import(paths_of(home), os.environ, file, as_json=as_json)


@memory.command(name="pause")
@json_option
@home_option
def memory_pause(as_json: bool, home: str | None) -> int:
    """Remember nothing of what you say from now on, in any conversation. What is known is still used."""
    from app.memory.commands import run_pause

    return run_pause(paths_of(home), os.environ, is_paused=True, as_json=as_json)


@memory.command(name="resume")
@json_option
@home_option
def memory_resume(as_json: bool, home: str | None) -> int:
    """Remember again what you say of yourself."""
    from app.memory.commands import run_pause

    return run_pause(paths_of(home), os.environ, is_paused=False, as_json=as_json)


@memory.command(name="report")
@json_option
@home_option
def memory_report(as_json: bool, home: str | None) -> int:
    """How memories stand: what waits, contradicts, repeats, is past, faded or never used, and what to do about it."""
    from app.memory.commands import run_report

    return run_report(paths_of(home), os.environ, as_json=as_json)


def _ask(*, yes: bool, as_json: bool) -> Callable[[str], bool] | None:
    """How to ask, or None where it is agreed. Raises: UsageProblem where nobody can be asked."""
    if yes:
        return None
    if as_json or not is_terminal(sys.stdin):
        raise UsageProblem("Nobody is there to be asked.", "Add --yes to do it without a question.")
    return click.confirm
