"""The verb models: which bases are here, what fits, get one, use one, remove one."""

import os
import sys
from pathlib import Path

import click

from app.cli.options import home_option, json_option, paths_of, read_secret
from app.output import is_terminal
from app.text_input import argument_text
from engine.errors import UsageProblem

name_option = click.option("--name", metavar="NAME", type=argument_text, help="Name of the profile that is made.")
force_option = click.option("--force", is_flag=True, help="Replace what is there already.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


@click.group()
def models() -> None:
    """Bases: list, find, get, use and remove them."""


@models.command(name="list")
@json_option
@home_option
def models_list(as_json: bool, home: str | None) -> int:
    """Show the profiles, the bases there are to pull, and what fits this machine."""
    from app.models.listing import run_list

    return run_list(paths_of(home), os.environ, as_json=as_json)


@models.command(name="scan")
@click.argument("folders", nargs=-1, type=click.Path(exists=True, path_type=Path))
@json_option
@home_option
def models_scan(folders: tuple[Path, ...], as_json: bool, home: str | None) -> int:
    """Find model files of Ollama, LM Studio, the hub cache and llama.cpp, and in FOLDERS."""
    from app.models.listing import run_scan

    return run_scan(paths_of(home), os.environ, folders, as_json=as_json)


@models.command(name="show")
@click.argument("name", type=argument_text)
@json_option
@home_option
def models_show(name: str, as_json: bool, home: str | None) -> int:
    """Show what is known of a profile's base or of a model file."""
    from app.models.listing import run_show

    return run_show(paths_of(home), os.environ, name, as_json=as_json)


@models.command(name="add")
@click.argument("model", type=argument_text)
@name_option
@force_option
@json_option
@home_option
def models_add(model: str, name: str | None, force: bool, as_json: bool, home: str | None) -> int:
    """Make a profile of MODEL, a GGUF file or a name that scan shows. The file is linked, not copied."""
    from app.models.changing import run_add

    return run_add(paths_of(home), os.environ, model, name=name, force=force, as_json=as_json)


@models.command(name="pull")
@click.argument("model", type=argument_text)
@click.option("--revision", metavar="R", type=argument_text, help="Branch, tag or commit of the repository.")
@name_option
@force_option
@json_option
@home_option
def models_pull(
    model: str, revision: str | None, name: str | None, force: bool, as_json: bool, home: str | None
) -> int:
    """Fetch MODEL, a name that list shows or OWNER/NAME[:FILE] at the hub, check it, and make a profile of it."""
    from app.models.changing import run_pull

    return run_pull(paths_of(home), os.environ, model, revision=revision, name=name, force=force, as_json=as_json)


@models.command(name="use")
@click.argument("name", type=argument_text)
@json_option
@home_option
def models_use(name: str, as_json: bool, home: str | None) -> int:
    """Use the profile NAME from now on; a host that runs changes to it at once."""
    from app.host_control import tell_host_of_profile
    from app.models.changing import run_use

    paths = paths_of(home)
    chosen = run_use(paths, os.environ, name, as_json=as_json)
    tell_host_of_profile(paths, chosen.name)
    return 0


@models.command(name="remove")
@click.argument("name", type=argument_text)
@yes_option
@json_option
@home_option
def models_remove(name: str, yes: bool, as_json: bool, home: str | None) -> int:
    """Remove the profile NAME, and its model file where this program fetched it and nobody else uses it."""
    from app.models.changing import run_remove

    if not yes and (as_json or not is_terminal(sys.stdin)):
        raise UsageProblem("Nobody is there to be asked.", "Add --yes to remove it without a question.")
    ask = None if yes else click.confirm
    return run_remove(paths_of(home), os.environ, name, ask, as_json=as_json)


@models.group()
def token() -> None:
    """The token for private and gated models, in the keyring of the system."""


@token.command(name="set")
@home_option
def token_set(home: str | None) -> int:
    """Store a token; it is read from the keyboard unseen, or from standard input."""
    from app.models.changing import run_token_set

    return run_token_set(paths_of(home), os.environ, read_secret)


@token.command(name="remove")
@home_option
def token_remove(home: str | None) -> int:
    """Remove the token from the keyring."""
    from app.models.changing import run_token_remove

    return run_token_remove(paths_of(home), os.environ)


@token.command(name="status")
@json_option
@home_option
def token_status(as_json: bool, home: str | None) -> int:
    """Say whether there is a token, never which."""
    from app.models.changing import run_token_status

    return run_token_status(paths_of(home), os.environ, as_json=as_json)
