"""The verb jobs: reminders and prompts at set times; list, show, add, run, enable, disable and remove them."""

import os
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import click

from app.cli.options import home_option, json_option, paths_of
from app.text_input import argument_text, expert_label
from engine.errors import UsageProblem

if TYPE_CHECKING:
    from engine.jobs.values import Schedule

number_argument = click.argument("number", metavar="NUMBER", type=click.IntRange(1, 2**62))


@click.group()
def jobs() -> None:
    """Jobs: reminders, and prompts for an expert, at set times; what became of them.

    NUMBER is that of a job, as the list shows it. Jobs need a host that runs; add, enable and run start one.
    """


@jobs.command(name="list")
@json_option
@home_option
def jobs_list(as_json: bool, home: str | None) -> int:
    """List jobs, the next one first. Reads only, and waits for no job that runs."""
    from app.jobs.commands import run_list

    return run_list(paths_of(home), os.environ, as_json=as_json)


@jobs.command(name="show")
@number_argument
@json_option
@home_option
def jobs_show(number: int, as_json: bool, home: str | None) -> int:
    """Show a job and its last runs."""
    from app.jobs.commands import run_show

    return run_show(paths_of(home), os.environ, number, as_json=as_json)


@jobs.command(name="add")
@click.argument("text", type=argument_text, default="")
@click.option("--at", "at", type=argument_text, metavar="TIME", help='Once, such as "2026-12-24 18:00".')
@click.option("--in", "delay", type=argument_text, metavar="LENGTH", help="Once, so long from now, such as 20m.")
@click.option("--every", type=argument_text, metavar="LENGTH", help="Again and again, such as 2h or 1h30m.")
@click.option("--cron", type=argument_text, metavar="FIELDS", help='Five cron fields, such as "30 8 * * mon-fri".')
@click.option("--zone", type=argument_text, metavar="ZONE", help="Time zone it goes by; default: this machine's.")
@click.option(
    "--kind", type=argument_text, metavar="KIND", default="reminder", show_default=True, help="reminder or prompt."
)
@click.option("--expert", type=expert_label, metavar="L2", help="Ask this expert; makes it a prompt.")
@click.option("--title", type=argument_text, metavar="TEXT", default="", help="Default: the beginning of TEXT.")
@click.option(
    "--missed",
    default="once",
    show_default=True,
    type=click.Choice(["skip", "once", "all"]),
    help="What becomes of times at which no host ran.",
)
@click.option("--most", default=10, show_default=True, type=click.IntRange(1, 50), help="Of --missed all: the last N.")
@json_option
@home_option
def jobs_add(
    text: str,
    at: str | None,
    delay: str | None,
    every: str | None,
    cron: str | None,
    zone: str | None,
    kind: str,
    expert: str | None,
    title: str,
    missed: Literal["skip", "once", "all"],
    most: int,
    as_json: bool,
    home: str | None,
) -> int:
    """Remind of TEXT, or ask an expert TEXT, at a time.

    TEXT is what you type here: nothing is read from a file or from standard input, as only what you type makes a job.
    """
    from app.jobs.commands import run_add
    from app.jobs.runner import system_clock
    from app.jobs.zones import local_zone_name
    from engine.jobs.values import Missed, NewJob

    if expert is not None and kind not in ("reminder", "prompt"):
        raise UsageProblem(f"A job of the kind {kind} asks no expert.", "Leave out --expert, or --kind.")
    schedule = _schedule(at, delay, every, cron, zone or local_zone_name(), system_clock())
    new = NewJob(
        title=title,
        kind="prompt" if expert is not None else kind,
        text=text,
        schedule=schedule,
        missed=Missed(missed, most),
        expert=expert or "",
    )
    return run_add(paths_of(home), os.environ, new, as_json=as_json)


@jobs.command(name="run")
@number_argument
@json_option
@home_option
def jobs_run(number: int, as_json: bool, home: str | None) -> int:
    """Run a job now, or as soon as the one that runs is over; its times stay as they are."""
    from app.jobs.commands import run_now

    return run_now(paths_of(home), os.environ, number, as_json=as_json)


@jobs.command(name="enable")
@number_argument
@json_option
@home_option
def jobs_enable(number: int, as_json: bool, home: str | None) -> int:
    """Let a job run again at its times; those that passed while it was off do not count."""
    from app.jobs.commands import run_enable

    return run_enable(paths_of(home), os.environ, number, as_json=as_json)


@jobs.command(name="disable")
@number_argument
@json_option
@home_option
def jobs_disable(number: int, as_json: bool, home: str | None) -> int:
    """Keep a job but let it run at no time."""
    from app.jobs.commands import run_disable

    return run_disable(paths_of(home), os.environ, number, as_json=as_json)


@jobs.command(name="remove")
@click.argument("numbers", metavar="NUMBER...", nargs=-1, required=True, type=click.IntRange(1, 2**62))
@json_option
@home_option
def jobs_remove(numbers: tuple[int, ...], as_json: bool, home: str | None) -> int:
    """Remove jobs with their history; one that runs is stopped."""
    from app.jobs.commands import run_remove

    return run_remove(paths_of(home), os.environ, numbers, as_json=as_json)


@jobs.command(name="history")
@click.argument("number", metavar="[NUMBER]", required=False, type=click.IntRange(1, 2**62))
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000))
@click.option("--before", type=click.IntRange(1, 2**62), metavar="NUMBER", help="Go on below this one.")
@json_option
@home_option
def jobs_history(number: int | None, limit: int, before: int | None, as_json: bool, home: str | None) -> int:
    """Show what became of the times of a job, or of all jobs, the newest first."""
    from app.jobs.commands import run_history

    return run_history(paths_of(home), os.environ, number, limit=limit, before=before, as_json=as_json)


def _schedule(
    at: str | None, delay: str | None, every: str | None, cron: str | None, zone: str, now: datetime
) -> "Schedule":
    """Raises: UsageProblem where not one way of saying when was given, or it makes no sense."""
    from engine.jobs import reading

    given = [
        (read, value)
        for read, value in (
            (reading.once_at, at),
            (reading.once_in, delay),
            (reading.every, every),
            (reading.cron, cron),
        )
        if value is not None
    ]
    if len(given) != 1:
        raise UsageProblem("When is not said, or said twice.", "Give one of --at, --in, --every and --cron.")
    ((read, value),) = given
    return read(value, zone, now)
