"""The verb tools: list, show, run, edit, promote, remove, export and import them, and what is permitted for good."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import click

from app.cli.options import home_option, json_option, paths_of
from app.output import is_terminal
from app.text_input import argument_text

folder_argument = click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
name_argument = click.argument("name", metavar="NAME", type=argument_text)


@click.group()
def tools() -> None:
    """Tools of the experts: those there are, and those that were written here.

    What a model or you wrote is offered once a person has approved it with everything it calls.
    """


@tools.command(name="list")
@json_option
@home_option
def tools_list(as_json: bool, home: str | None) -> int:
    """List all tools, those written here first."""
    from app.harness.commands import run_list

    return run_list(paths_of(home), os.environ, as_json=as_json)


@tools.command(name="show")
@name_argument
@json_option
@home_option
def tools_show(name: str, as_json: bool, home: str | None) -> int:
    """Show the source of a tool written here, what it calls, and its hash."""
    from app.harness.commands import run_show

    return run_show(paths_of(home), os.environ, name, as_json=as_json)


@tools.command(name="run")
@name_argument
@click.argument("arguments", metavar="JSON", type=argument_text, default="{}")
@json_option
@home_option
def tools_run(name: str, arguments: str, as_json: bool, home: str | None) -> int:
    """Run a tool written here, in the sandbox, with its arguments as a JSON object."""
    from app.harness.commands import run_run

    return run_run(paths_of(home), name, arguments, as_json=as_json)


@tools.command(name="edit")
@name_argument
@click.option("--file", "file", type=click.Path(path_type=Path), metavar="FILE", help="Take the text from this file.")
@json_option
@home_option
def tools_edit(name: str, file: Path | None, as_json: bool, home: str | None) -> int:
    """Write a new version, in your editor or from a file; it waits to be promoted."""
    from app.harness.commands import run_edit

    return run_edit(paths_of(home), os.environ, name, file, as_json=as_json)


@tools.command(name="promote")
@name_argument
@click.option("--hash", "approved_hash", type=argument_text, default="", metavar="HASH", help="As `show` tells it.")
@json_option
@home_option
def tools_promote(name: str, approved_hash: str, as_json: bool, home: str | None) -> int:
    """Offer a tool written here in all conversations, after you have read it and everything it calls."""
    from app.harness.commands import run_promote

    ask: Callable[[str], bool] | None = click.confirm if is_terminal(sys.stdin) and not as_json else None
    return run_promote(paths_of(home), os.environ, name, approved_hash, ask, as_json=as_json)


@tools.command(name="remove")
@name_argument
@json_option
@home_option
def tools_remove(name: str, as_json: bool, home: str | None) -> int:
    """Offer a tool written here no more."""
    from app.harness.commands import run_remove

    return run_remove(paths_of(home), os.environ, name, as_json=as_json)


@tools.command(name="export")
@name_argument
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@json_option
@home_option
def tools_export(name: str, file: Path, as_json: bool, home: str | None) -> int:
    """Write a tool to a file, for another home."""
    from app.harness.commands import run_export

    return run_export(paths_of(home), os.environ, name, file, as_json=as_json)


@tools.command(name="import")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@json_option
@home_option
def tools_import(file: Path, as_json: bool, home: str | None) -> int:
    """Take a tool from an exported file, once its example passes here; it waits to be promoted."""
    from app.harness.commands import run_import

    return run_import(paths_of(home), os.environ, file, as_json=as_json)


@tools.command(name="permissions")
@click.option("--forget", type=click.IntRange(1, 2**62), metavar="NUMBER", help="Ask again about this one.")
@json_option
@home_option
def tools_permissions(forget: int | None, as_json: bool, home: str | None) -> int:
    """List what you permitted or forbade for good, or forget one of it."""
    from app.harness.commands import run_permissions

    return run_permissions(paths_of(home), os.environ, forget, as_json=as_json)


@tools.command(name="folders")
@json_option
@home_option
def tools_folders(as_json: bool, home: str | None) -> int:
    """List granted folders that bring instructions, skills or programs, and whether you trust them."""
    from app.harness.folder_commands import run_list

    return run_list(paths_of(home), os.environ, as_json=as_json)


@tools.command(name="trust")
@folder_argument
@click.option("--hash", "approved_hash", type=argument_text, default="", metavar="HASH", help="As `folders` tells it.")
@json_option
@home_option
def tools_trust(folder: Path, approved_hash: str, as_json: bool, home: str | None) -> int:
    """Use what a granted folder brings, after you have read it; once it changes, you are asked again."""
    from app.harness.folder_commands import run_trust

    ask: Callable[[str], bool] | None = click.confirm if is_terminal(sys.stdin) and not as_json else None
    return run_trust(paths_of(home), os.environ, folder, approved_hash, ask, as_json=as_json)


@tools.command(name="distrust")
@folder_argument
@json_option
@home_option
def tools_distrust(folder: Path, as_json: bool, home: str | None) -> int:
    """Use nothing of what a folder brings any more."""
    from app.harness.folder_commands import run_distrust

    return run_distrust(paths_of(home), os.environ, folder, as_json=as_json)
