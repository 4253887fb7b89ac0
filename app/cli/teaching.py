"""The verb teach: learn from corrections, see whether that made answers better, and undo it."""

import os
import sys
from collections.abc import Callable

import click

from app.cli.options import home_option, paths_of, profile_option
from app.output import is_terminal
from app.text_input import argument_text, expert_label
from engine.errors import UsageProblem


@click.command()
@click.option("--expert", type=expert_label, metavar="L2", help="Whose answers were corrected; default: the most.")
@click.option("--minutes", default=10.0, show_default=True, type=click.FloatRange(2, 600), help="Longest time.")
@click.option("--lesson", type=argument_text, metavar="LESSON", help="One that was proposed or taught before.")
@click.option("--propose", "only_propose", is_flag=True, help="Only say what would be learned.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--use/--no-use", default=True, help="Let it answer where the gate passes it, on trial.")
@click.option("--undo", "undoes", is_flag=True, help="Take back LESSON, or the newest that answers.")
@click.option("--list", "lists", is_flag=True, help="List all lessons.")
@click.option("--threads", type=click.IntRange(1, 512), metavar="N", help="CPU threads; default: the setting.")
@click.option("--language", type=click.Choice(["en", "zh"]), help="Language of what is said.")
@click.option("--follow-input", is_flag=True, help="End when standard input is closed.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON objects, one a line, for scripts.")
@profile_option
@home_option
def teach(
    expert: str | None,
    minutes: float,
    lesson: str | None,
    only_propose: bool,
    yes: bool,
    use: bool,
    undoes: bool,
    lists: bool,
    threads: int | None,
    language: str | None,
    follow_input: bool,
    as_json: bool,
    profile: str | None,
    home: str | None,
) -> int:
    """Learn from your corrections: at least eight better answers become a lesson, taught and tested in minutes.

    It says what would change and asks; then an adapter for that expert is trained and tested on prompts it never saw.
    Only where the gate finds it better, and nothing worse, does it answer, on trial. Ctrl+C ends it and changes
    nothing. Exit code 0 whatever the gate says, 1 when it failed, 130 when it was stopped.
    """
    if sum((only_propose, undoes, lists)) > 1:
        raise UsageProblem("--propose, --undo and --list exclude each other.", "Give one of them.")
    from app.teaching.running import run_list, run_teach, run_undo

    paths = paths_of(home)
    if lists:
        return run_list(paths, os.environ, as_json=as_json)
    if undoes:
        return run_undo(paths, os.environ, lesson, as_json=as_json)
    return run_teach(
        paths,
        os.environ,
        lesson=lesson,
        profile=profile,
        expert=expert,
        minutes=minutes,
        language=language,
        ask=None if only_propose else _ask(yes=yes, as_json=as_json),
        use=use,
        only_propose=only_propose,
        threads=threads,
        as_json=as_json,
        follows_input=follow_input,
    )


def _ask(*, yes: bool, as_json: bool) -> Callable[[str], bool] | None:
    """How to ask, or None where it is agreed. Raises: UsageProblem where nobody can be asked."""
    if yes:
        return None
    if as_json or not is_terminal(sys.stdin):
        raise UsageProblem("Nobody is there to be asked.", "Add --yes, or only look with --propose.")
    return click.confirm
