"""The verb eval: measure an expert or an adapter, or ask the gate about one."""

import os
from pathlib import Path
from typing import Literal

import click

from app.cli.options import home_option, json_option, paths_of, profile_option
from app.text_input import argument_text, expert_label
from engine.errors import UsageProblem


@click.command(name="eval")
@click.argument("adapter", metavar="[ADAPTER]", type=argument_text, required=False)
@click.option("--expert", type=expert_label, metavar="L2", help="Expert to measure, where no adapter is named.")
@click.option(
    "--suite", "suites", multiple=True, metavar="NAME", type=argument_text, help="Only this suite; repeatable."
)
@click.option(
    "--against", type=click.Choice(["factory", "champion"]), help="Measure this too and show what changed from it."
)
@click.option("--gate", is_flag=True, help="Run everything, ask the gate about ADAPTER, and keep what it says.")
@click.option(
    "--rules", type=click.Choice(["night", "teach"]), help="Of the gate: those of a night (default), or of a lesson."
)
@click.option(
    "--target",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Folder with suites of what ADAPTER was trained for; without it the gate cannot pass any.",
)
@click.option("--threads", type=click.IntRange(1, 512), metavar="N", help="CPU threads; default: the setting.")
@json_option
@profile_option
@home_option
def evaluate(
    adapter: str | None,
    expert: str | None,
    suites: tuple[str, ...],
    against: Literal["factory", "champion"] | None,
    gate: bool,
    rules: Literal["night", "teach"] | None,
    target: Path | None,
    threads: int | None,
    as_json: bool,
    profile: str | None,
    home: str | None,
) -> int:
    """Measure how good ADAPTER is, or the expert as it answers now: what it gets right in suites of short tasks.

    With --gate the exit code is 0 when ADAPTER passed and 1 when it did not; `macaron adapters show` tells it later.
    Ctrl+C stops; what was measured of champion and factory is remembered.
    """
    if gate and (suites or against):
        raise UsageProblem(
            "The gate runs every suite against champion and factory.", "Leave out --suite and --against."
        )
    if not gate and (rules or target):
        raise UsageProblem("--rules and --target are the gate's.", "Add --gate, or leave them out.")
    from app.evaluation.running import Asked, run_gate, run_measure

    asked = Asked(adapter, expert, profile, threads, as_json)
    if gate:
        return run_gate(paths_of(home), os.environ, asked, rules=rules or "night", target=target)
    return run_measure(paths_of(home), os.environ, asked, names=suites, against=against)
