"""Speak to the host that runs, for verbs that are no face: end it, say what it does, change its profile."""

import os
from contextlib import closing

from app.host.starting import find_host
from app.output import print_json, print_text
from app.paths import Paths
from app.remote_client import RemoteClient
from app.settings import load_settings, screen_language
from ui.present import display_line
from ui.strings import say


def stop_host(paths: Paths, *, as_json: bool) -> int:
    address = find_host(paths)
    if address is not None:
        RemoteClient(paths, address).end_host()
    if as_json:
        print_json({"stopped": address is not None})
    else:
        language = screen_language(load_settings(paths.settings), os.environ)
        print_text(say("serve.stopped" if address else "serve.none", language))
    return 0


def show_status(paths: Paths, *, as_json: bool) -> int:
    """Exit code 0 when a host runs, else 1."""
    address = find_host(paths)
    facts = RemoteClient(paths, address).host() if address else None
    if as_json:
        print_json({"running": facts is not None, **(facts or {})})
    elif facts is None:
        print_text(say("serve.none", screen_language(load_settings(paths.settings), os.environ)))
    else:
        for name, value in facts.items():
            print_text(f"{name}: {display_line(str(value))}")
    return 0 if facts else 1


def tell_host_of_profile(paths: Paths, name: str) -> None:
    """Have a host that runs change to another profile. Raises: AgentError when its base cannot be loaded."""
    address = find_host(paths)
    if address is not None:
        with closing(RemoteClient(paths, address)) as client:
            client.use_profile(name)
