"""Ask a small program for one fact in a process of its own, where it may hang or crash without taking us along."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import app

_ROOT: Final = str(Path(app.__file__).resolve().parents[1])
_WORDS: Final = 200


class ProbeFailed(Exception):
    """The program did not answer in time, ended with an error or talked nonsense. The text says which."""


def ask_python(source: str, timeout_s: float, changes: Mapping[str, str] | None = None) -> Any:
    """What `source` prints as one line of JSON. It may import our packages. Raises: ProbeFailed."""
    environment = {**os.environ, "PYTHONPATH": _ROOT, **(changes or {})}
    return ask([sys.executable, "-P", "-c", source], timeout_s, environment)


def ask(command: list[str], timeout_s: float, environment: Mapping[str, str] | None = None) -> Any:
    """What the command prints as its last line, which is JSON. Raises: ProbeFailed."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, env=environment, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ProbeFailed(f"no answer within {timeout_s:.0f} seconds") from error
    except OSError as error:
        raise ProbeFailed(error.strerror or str(error)) from error
    words = done.stderr.decode("utf-8", "replace").strip().splitlines()
    last = words[-1][:_WORDS] if words else ""
    if done.returncode:
        raise ProbeFailed(last or f"it ended with code {done.returncode}")
    try:
        return json.loads(done.stdout.decode("utf-8", "replace").strip().splitlines()[-1])
    except (ValueError, IndexError) as error:
        raise ProbeFailed(last or "it gave no answer") from error
