"""The verb adapters: bring in, list, compare, use, take back, hand out and remove adapters."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

import click

from app.cli.options import home_option, json_option, paths_of, profile_option
from app.output import is_terminal
from app.text_input import argument_text, expert_label
from engine.errors import UsageProblem

yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
adapter_argument = click.argument("adapter", metavar="ADAPTER", type=argument_text)

State = Literal["factory", "candidate", "canary", "champion", "retired"]


@click.group()
def adapters() -> None:
    """Adapters: bring in, list, compare, use, take back, hand out and remove LoRA adapters.

    ADAPTER is the beginning of an adapter's hash, as the list shows it.
    """


@adapters.command(name="import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--type",
    "data_type",
    default="f16",
    show_default=True,
    type=click.Choice(["f16", "q8_0", "f32"]),
    help="How weights of a PEFT adapter are stored; q8_0 takes half the room of f16.",
)
@click.option("--expert", type=expert_label, metavar="L2", help="Expert it is for, where nothing beside it says so.")
@json_option
@profile_option
@home_option
def adapters_import(
    path: Path,
    data_type: Literal["f16", "q8_0", "f32"],
    expert: str | None,
    as_json: bool,
    profile: str | None,
    home: str | None,
) -> int:
    """Check that the adapter PATH fits the base of the profile, keep it in the home, and list it as a candidate.

    PATH is a folder that PEFT saved, which is converted, a GGUF adapter, which is copied as it is, or a training run:
    its name or its folder.
    """
    from app.adapters.importing import run_import

    return run_import(
        paths_of(home), os.environ, path, profile=profile, data_type=data_type, as_json=as_json, expert=expert
    )


@adapters.command(name="list")
@click.option("--expert", type=expert_label, metavar="L2", help="Only those of this expert.")
@click.option("--state", type=click.Choice(get_args(State)), help="Only those in this state.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000))
@click.option("--after", type=argument_text, metavar="ADAPTER", help="Go on behind this one, the last of a list.")
@json_option
@home_option
def adapters_list(
    expert: str | None, state: State | None, limit: int, after: str | None, as_json: bool, home: str | None
) -> int:
    """List adapters, the newest first."""
    from app.adapters.listing import run_list

    return run_list(paths_of(home), os.environ, expert=expert, state=state, limit=limit, after=after, as_json=as_json)


@adapters.command(name="show")
@adapter_argument
@json_option
@home_option
def adapters_show(adapter: str, as_json: bool, home: str | None) -> int:
    """Show all that is known of ADAPTER: where it came from, how it did, when it was used."""
    from app.adapters.listing import run_show

    return run_show(paths_of(home), os.environ, adapter, as_json=as_json)


@adapters.command(name="diff")
@adapter_argument
@click.argument("other", metavar="OTHER", type=argument_text)
@json_option
@home_option
def adapters_diff(adapter: str, other: str, as_json: bool, home: str | None) -> int:
    """Show in what ADAPTER and OTHER differ: origin, sources, and figures of their evaluations."""
    from app.adapters.listing import run_diff

    return run_diff(paths_of(home), os.environ, adapter, other, as_json=as_json)


@adapters.command(name="promote")
@adapter_argument
@click.option("--canary", is_flag=True, help="On trial: for the next 20 turns, and for good when they are liked.")
@yes_option
@json_option
@home_option
def adapters_promote(adapter: str, canary: bool, yes: bool, as_json: bool, home: str | None) -> int:
    """Let ADAPTER answer for its expert from the next turn on, whatever the gate says of it.

    What the gate said, or that it was never asked, is told with the question; ask it with `macaron eval --gate`.
    """
    from app.adapters.changing import run_promote

    ask = _ask(yes=yes, as_json=as_json)
    return run_promote(paths_of(home), os.environ, adapter, ask, as_json=as_json, canary=canary)


@adapters.command(name="rollback")
@click.argument("expert", metavar="EXPERT", type=expert_label, required=False)
@click.option("--factory", is_flag=True, help="Straight to how the expert came, without any adapter grown here.")
@json_option
@profile_option
@home_option
def adapters_rollback(expert: str | None, factory: bool, as_json: bool, profile: str | None, home: str | None) -> int:
    """Go back to what answered for EXPERT before, from the next turn on."""
    from app.adapters.changing import run_rollback

    return run_rollback(paths_of(home), os.environ, expert, profile=profile, to_factory=factory, as_json=as_json)


@adapters.command(name="export")
@adapter_argument
@click.option("--output", metavar="PATH", help="A .gguf file, or a folder; default: the working folder.")
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
@json_option
@home_option
def adapters_export(adapter: str, output: str | None, force: bool, as_json: bool, home: str | None) -> int:
    """Write the file of ADAPTER and, beside it, a JSON file with where it came from."""
    from app.adapters.exporting import run_export

    return run_export(paths_of(home), os.environ, adapter, output=output, force=force, as_json=as_json)


@adapters.command(name="remove")
@click.argument("adapter", metavar="[ADAPTER]", type=argument_text, required=False)
@click.option("--retired", is_flag=True, help="All that have retired, but the last five champions of every expert.")
@yes_option
@json_option
@home_option
def adapters_remove(adapter: str | None, retired: bool, yes: bool, as_json: bool, home: str | None) -> int:
    """Delete ADAPTER, which must not be in use: its file and all that is known of it."""
    from app.adapters.changing import run_remove, run_remove_unused

    if (adapter is None) != retired:
        raise UsageProblem("Nothing, or two things, were named to be removed.", "Name an adapter, or give --retired.")
    paths, ask = paths_of(home), _ask(yes=yes, as_json=as_json)
    if adapter is None:
        return run_remove_unused(paths, os.environ, ask, as_json=as_json)
    return run_remove(paths, os.environ, adapter, ask, as_json=as_json)


def _ask(*, yes: bool, as_json: bool) -> Callable[[str], bool] | None:
    """How to ask, or None where it is agreed. Raises: UsageProblem where nobody can be asked."""
    if yes:
        return None
    if as_json or not is_terminal(sys.stdin):
        raise UsageProblem("Nobody is there to be asked.", "Add --yes to do it without a question.")
    return click.confirm
