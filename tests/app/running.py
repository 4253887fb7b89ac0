"""Run the program as its user does: in a process of its own, with bytes in and bytes out."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.assets import asset_path

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Done:
    """How one run ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What was printed, which must be one line of JSON and nothing else."""
        assert self.out.endswith("\n") and self.out.count("\n") == 1, self
        return json.loads(self.out)


def command(*arguments: str | bytes) -> list[str | bytes]:
    return [sys.executable, "-m", "app", *arguments]


def environment(**changes: str | None) -> dict[str, str]:
    """That of the test in UTF-8, with changes; None takes a variable away."""
    values: dict[str, str | None] = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT), **changes}
    return {name: value for name, value in values.items() if value is not None}


def macaron(
    *arguments: str | bytes,
    given: bytes = b"",
    changes: Mapping[str, str | None] | None = None,
    limits: Callable[[], None] | None = None,
) -> Done:
    """Run to the end. `given` is standard input; `limits` runs in the child first. Output must be UTF-8."""
    done = subprocess.run(
        command(*arguments),
        input=given,
        capture_output=True,
        env=environment(**(changes or {})),
        preexec_fn=limits,
        timeout=TIMEOUT_S,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def start(*arguments: str | bytes, **changes: str | None) -> subprocess.Popen[bytes]:
    """Run beside the test; use it in a `with` statement."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command(*arguments), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=environment(**changes)
    )


def complaint(done: Done, code: int) -> str:
    """The problem and hint of a run that must have failed with `code`, and said so as people are told."""
    assert done.code == code, done
    assert "Traceback" not in done.err, done.err
    problem, hint = done.err.splitlines()[-2:]
    assert problem.startswith("error: ") and hint.startswith("hint: ") and len(hint) > len("hint: "), done.err
    return f"{problem}\n{hint}"


def wait_until(is_true: Callable[[], bool], what: str, timeout_s: float = 30.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_true():
        assert time.monotonic() < deadline, f"waited {timeout_s} s in vain until {what}"
        time.sleep(0.01)


def profile_like_starter(folder: Path, changes: Sequence[tuple[str, str]] = ()) -> Path:
    """A copy of the starter's profile with lines of `profile.toml` replaced: (the old line, the new one)."""
    shutil.copytree(asset_path("profiles", "starter"), folder, ignore=shutil.ignore_patterns("adapters"))
    file = folder / "profile.toml"
    text = file.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, f"{old!r} is not in the starter's profile.toml"
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")
    return folder
