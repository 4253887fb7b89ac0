"""The verb servers: list, show, approve, revoke and restart MCP servers."""

import os
import sys

import click

from app.cli.options import home_option, json_option, paths_of, read_secret
from app.output import is_terminal
from app.text_input import argument_text

name_argument = click.argument("name", metavar="NAME", type=argument_text)


@click.group()
def servers() -> None:
    """MCP servers that harness.toml names.

    A server starts once you have approved its command or address, and its tools are offered once you have approved
    them; when either changes, it waits for you again.
    """


@servers.command(name="list")
@json_option
@home_option
def servers_list(as_json: bool, home: str | None) -> int:
    """List all servers, and what they wait for."""
    from app.harness.server_commands import run_list

    return run_list(paths_of(home), os.environ, as_json=as_json)


@servers.command(name="show")
@name_argument
@json_option
@home_option
def servers_show(name: str, as_json: bool, home: str | None) -> int:
    """Show the whole command or address of a server, its tools, and what it printed."""
    from app.harness.server_commands import run_show

    return run_show(paths_of(home), os.environ, name, as_json=as_json)


@servers.command(name="approve")
@name_argument
@click.option(
    "--entry", type=argument_text, default="", metavar="HASH", help="Of the entry, as `list --json` tells it."
)
@click.option("--tools", type=argument_text, default="", metavar="HASH", help="Of its tools, likewise.")
@json_option
@home_option
def servers_approve(name: str, entry: str, tools: str, as_json: bool, home: str | None) -> int:
    """Start a server and offer its tools, after you have read what it is and what it lists."""
    from app.harness.server_commands import run_approve

    ask = click.confirm if is_terminal(sys.stdin) and not as_json else None
    return run_approve(paths_of(home), os.environ, name, entry, tools, ask, as_json=as_json)


@servers.command(name="revoke")
@name_argument
@json_option
@home_option
def servers_revoke(name: str, as_json: bool, home: str | None) -> int:
    """End a server and do not start it again."""
    from app.harness.server_commands import run_revoke

    return run_revoke(paths_of(home), os.environ, name, as_json=as_json)


@servers.command(name="restart")
@name_argument
@json_option
@home_option
def servers_restart(name: str, as_json: bool, home: str | None) -> int:
    """Start a server that you have approved, where it ended or does not run."""
    from app.harness.server_commands import run_restart

    return run_restart(paths_of(home), os.environ, name, as_json=as_json)


@servers.group(name="secret")
def secret() -> None:
    """Secrets that harness.toml names as ${keyring:NAME}, in the keyring of the system."""


@secret.command(name="set")
@name_argument
@home_option
def secret_set(name: str, home: str | None) -> int:
    """Store a secret; it is read from the keyboard unseen, or from standard input."""
    from app.harness.server_commands import run_secret_set

    return run_secret_set(paths_of(home), os.environ, name, read_secret)


@secret.command(name="remove")
@name_argument
@home_option
def secret_remove(name: str, home: str | None) -> int:
    """Remove a secret from the keyring."""
    from app.harness.server_commands import run_secret_remove

    return run_secret_remove(paths_of(home), os.environ, name)
