"""The environment of programs of ours that run in another folder than this one. Starts none."""

import os
from pathlib import Path

import app


def child_environment(**more: str) -> dict[str, str]:
    """Ours, with the place this program was imported from, and `more`."""
    places = [str(Path(app.__file__).parents[1])]
    places += [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(place)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(places)), **more}
