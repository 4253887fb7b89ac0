"""Options that several verbs share, and a question whose answer nobody sees."""

import os
import sys

import click

from app.output import is_terminal
from app.paths import Paths, find_home
from app.text_input import argument_text, expert_label
from engine.errors import BadText

home_option = click.option("--home", metavar="DIR", help="Folder for everything the program keeps.")
profile_option = click.option("--profile", metavar="P", help="Name or folder of a profile; default: starter.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")
expert_option = click.option(
    "--expert", type=expert_label, metavar="L2", help="Ask this expert instead of the one the router chooses."
)
conversation_option = click.option(
    "--conversation", type=argument_text, metavar="ID", help="Go on with this conversation."
)


def paths_of(home: str | None) -> Paths:
    """The home, in which a restore that was cut off is finished before anything of it is read."""
    paths = find_home(home, os.environ)
    if paths.restore.exists():
        from app.opening import settle

        settle(paths)
    return paths


def read_secret(prompt: str) -> str:
    """One line, unseen at a terminal. Raises: BadText."""
    if is_terminal(sys.stdin):
        secret: str = click.prompt(prompt, hide_input=True)
        return secret
    line = sys.stdin.buffer.readline() if sys.stdin is not None else b""
    try:
        return line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise BadText("The secret is not valid text.", "Send it as one line of plain letters and digits.") from error
