"""The verbs that look after the home: doctor, backup, restore and verify."""

import click

from app.cli.options import home_option, json_option, paths_of, profile_option


@click.command()
@click.option("--quick", is_flag=True, help="Do not load the base, which may take minutes.")
@json_option
@profile_option
@home_option
def doctor(quick: bool, as_json: bool, profile: str | None, home: str | None) -> int:
    """Check that everything is there, where the model runs and why, and how fast; and say what to do where not.

    Exit code 1 when something is bad; warnings do not count.
    """
    from app.doctor.run import run_doctor

    return run_doctor(paths_of(home), profile=profile, quick=quick, as_json=as_json)


@click.command()
@click.argument("file", required=False)
@click.option(
    "--keep", default=5, show_default=True, type=click.IntRange(1, 1000), help="Backups to keep in the home's folder."
)
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@json_option
@home_option
def backup(file: str | None, keep: int, force: bool, as_json: bool, home: str | None) -> int:
    """Copy conversations, settings, profiles and adapters into one archive, while work goes on.

    Without FILE it goes into the home's folder `backups`, which holds the newest few. Models are only named in it, and
    it never holds secrets.
    """
    from app.backup import run_backup

    return run_backup(paths_of(home), file, keep=keep, force=force, as_json=as_json)


@click.command()
@click.argument("file")
@json_option
@home_option
def restore(file: str, as_json: bool, home: str | None) -> int:
    """Put a backup in the place of what is here, which is put aside as a backup of its own first."""
    from app.backup import run_restore

    return run_restore(paths_of(home), file, as_json=as_json)


@click.command()
@click.argument("file", required=False)
@click.option("--salvage", "salvage_to", metavar="DATABASE", help="Write what can be read into this new database.")
@json_option
@home_option
def verify(file: str | None, salvage_to: str | None, as_json: bool, home: str | None) -> int:
    """Check that the home, or the backup FILE, is whole. Exit code 1 when it is not."""
    from app.backup import run_verify

    return run_verify(paths_of(home), file, salvage_to=salvage_to, as_json=as_json)
