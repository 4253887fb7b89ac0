"""The verb train: run a recipe, go on with a run, let it wait, end it, report it, list all."""

import os
from pathlib import Path

import click

from app.cli.options import home_option, json_option, paths_of, profile_option

run_argument = click.argument("run", metavar="RUN", type=click.Path(path_type=Path))


@click.group()
def train() -> None:
    """Training runs: learn an adapter from a recipe, on this machine.

    RUN is the name of a run in the home, or its folder.
    """


@train.command(name="run")
@click.argument("recipe", metavar="RECIPE", type=click.Path(path_type=Path))
@click.option("--out", metavar="FOLDER", type=click.Path(path_type=Path), help="Folder of the run; default: a new one.")
@json_option
@profile_option
@home_option
def train_run(recipe: Path, out: Path | None, as_json: bool, profile: str | None, home: str | None) -> int:
    """Begin a run of RECIPE, a TOML file or the name of one that comes with the program, and show it until it ends.

    Ctrl+C ends it as soon as it can, a second Ctrl+C at once. Either way the steps that are done are kept, and
    `macaron train resume` goes on with them. Exit code 0 when it finished, 130 when it was stopped.
    """
    from app.training.running import run_recipe

    return run_recipe(paths_of(home), os.environ, recipe, out=out, profile=profile, as_json=as_json)


@train.command(name="resume")
@run_argument
@json_option
@home_option
def train_resume(run: Path, as_json: bool, home: str | None) -> int:
    """Go on with RUN from its last step, whether it was stopped, failed or was killed."""
    from app.training.running import resume_run

    return resume_run(paths_of(home), os.environ, run, as_json=as_json)


@train.command(name="pause")
@run_argument
@click.option("--off", is_flag=True, help="Let it go on.")
@json_option
@home_option
def train_pause(run: Path, off: bool, as_json: bool, home: str | None) -> int:
    """Let RUN wait where it is, within seconds, and keep its place in memory; --off lets it go on."""
    from app.training.control import pause_run

    return pause_run(paths_of(home), os.environ, run, off=off, as_json=as_json)


@train.command(name="stop")
@run_argument
@json_option
@home_option
def train_stop(run: Path, as_json: bool, home: str | None) -> int:
    """Ask RUN to end as soon as it can. The steps that are done are kept."""
    from app.training.control import stop_run

    return stop_run(paths_of(home), os.environ, run, as_json=as_json)


@train.command(name="report")
@run_argument
@click.option("--open", "opens", is_flag=True, help="Open it in the browser.")
@json_option
@home_option
def train_report(run: Path, opens: bool, as_json: bool, home: str | None) -> int:
    """Write the report of RUN, one HTML file with its curves, also while it goes on."""
    from app.training.control import report_run

    return report_run(paths_of(home), os.environ, run, opens=opens, as_json=as_json)


@train.command(name="list")
@json_option
@home_option
def train_list(as_json: bool, home: str | None) -> int:
    """List the runs of the home: state, steps, and how the newest held-out answers were."""
    from app.training.control import list_runs

    return list_runs(paths_of(home), os.environ, as_json=as_json)
