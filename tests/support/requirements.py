"""What a test needs from the machine: a program on the path, a model file.

A developer without it sees the test skipped with a reason; under `MACARON_CI`, where everything must run, it fails.
"""

import importlib
import os
import shutil
from typing import Any, NoReturn

import pytest


def unavailable(reason: str) -> NoReturn:
    """End the test: skipped on a developer's machine, failed where `MACARON_CI` is set."""
    if os.environ.get("MACARON_CI"):
        pytest.fail(f"{reason} MACARON_CI is set, so nothing may be skipped.", pytrace=False)
    pytest.skip(reason)


def require_program(name: str) -> str:
    """The path of a program such as `tmux`, or the end of the test."""
    path = shutil.which(name)
    if path is None:
        unavailable(f"The program `{name}` is not installed.")
    return path


def require_module(name: str) -> Any:
    """The module `name`, such as `torch`; at the top of a test file its absence ends all tests of that file."""
    try:
        return importlib.import_module(name)
    except ImportError:
        reason = f"The Python module `{name}` is not installed."
        if os.environ.get("MACARON_CI"):
            pytest.fail(f"{reason} MACARON_CI is set, so nothing may be skipped.", pytrace=False)
        pytest.skip(reason, allow_module_level=True)
