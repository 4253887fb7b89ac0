"""The verbs that look after the home: doctor, backup, restore and verify."""

import click

from app.cli.options import home_option, json_option, paths_of, profile_option


@click.command()
@json_option
@profile_option
@home_option
def doctor(as_json: bool, profile: str | None, home: str | None) -> int:
    """Check that everything is there, where the model runs and why, and how fast."""
    from app.doctor import run_doctor

    return run_doctor(paths_of(home), profile=profile, as_json=as_json)
