"""Options that several verbs share."""

import os

import click

from app.paths import Paths, find_home
from app.text_input import argument_text, expert_label

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
