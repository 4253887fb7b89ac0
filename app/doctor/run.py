"""Run every check and say what was found, one by one, for people and for scripts."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Final

from app.doctor import engine, harness, home, host, machine, sandbox
from app.doctor.check import Check
from app.host.address import read_address
from app.output import ProgressLine, print_json, print_text
from app.paths import Paths, make_home
from app.settings import Settings, load_settings, screen_language
from ui.present import display_line, display_text
from ui.strings import TEXTS, say

Checks = Callable[[], Iterable[Check]]
"""More checks, run before those of the system around."""

_FAILED: Final = 1


def run_doctor(
    paths: Paths, *, profile: str | None = None, quick: bool = False, as_json: bool = False, extra: Checks = tuple
) -> int:
    """Exit code 0 unless something is bad; a warning does not count.

    Where another process holds the home its base is not loaded a second time.
    """
    make_home(paths)
    settings = load_settings(paths.settings)
    language = screen_language(settings, os.environ)
    progress, checks = ProgressLine(), []
    for check in all_checks(paths, settings, profile, quick=quick, extra=extra):
        progress.clear()
        checks.append(check)
        if not as_json:
            for line in lines_of(check, language):
                print_text(line)
        progress.show(say("loading", language))
    progress.clear()
    is_well = all(check.level != "bad" for check in checks)
    if as_json:
        print_json({"ok": is_well, "checks": [asdict(check) for check in checks]})
    return 0 if is_well else _FAILED


def all_checks(paths: Paths, settings: Settings, profile: str | None, *, quick: bool, extra: Checks) -> Iterator[Check]:
    yield machine.system()
    yield machine.memory()
    yield machine.disk(paths)
    state = home.database(paths)
    yield state.check
    yield home.modes(paths)
    yield home.backups(paths)
    yield machine.clock(state.newest, datetime.now(UTC))
    yield machine.packages()
    yield engine.llama_cpp()
    yield engine.gpu()
    yield from engine.answering(paths, settings, profile, load=not quick and not state.is_busy)
    address = read_address(paths)
    if state.is_busy:
        yield from host.host(paths, address)
    yield from extra()
    yield sandbox.sandbox(paths)
    yield harness.harness(paths)
    yield home.keyring()
    yield home.port("port", settings.port, address.pid if address else None)
    yield home.port("page_port", settings.page_port, address.pid if address else None)
    yield machine.terminal(os.environ)
    yield machine.browser(os.environ)
    yield machine.hub(settings.hub, os.environ)


def lines_of(check: Check, language: str) -> Iterator[str]:
    """The finding on one line and, where it is not ok, what to do; commands keep their lines."""
    key = f"doctor.{check.name}"
    name = say(key, language) if key in TEXTS else display_line(check.name)
    yield f"{say(f'doctor.{check.level}', language)} {name}: {display_line(check.detail)}"
    if check.level != "ok":
        yield from (f"    {line}" for line in display_text(check.hint).splitlines())
