"""`macaron doctor`: is everything there, where is it computed and why, how fast; and what to do where not."""

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Final

import psutil

from app.bases import find_base
from app.opening import open_store
from app.output import ProgressLine, print_json, print_text
from app.paths import Paths, make_home
from app.settings import Settings, load_settings, screen_language
from app.wiring import engine_child, load_chosen_profile, load_plan
from engine.errors import AgentError, HomeBusy
from engine.routing.profile import Profile
from engine.runtime import ladder
from engine.runtime.protocol import Finished, Request
from ui.present import display_line
from ui.strings import say

_LITTLE_DISK: Final = 2 << 30
_LITTLE_MEMORY: Final = 1 << 30
_FAILED: Final = 1


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `hint` says what to do where `is_ok` is false."""

    name: str
    is_ok: bool
    detail: str
    hint: str = ""


def run_doctor(paths: Paths, *, profile: str | None, as_json: bool) -> int:
    """Exit code 0 when all is well, else 1."""
    make_home(paths)
    settings = load_settings(paths.settings)
    language = screen_language(settings, os.environ)
    progress, checks = ProgressLine(), []
    for check in _checks(paths, settings, profile):
        progress.clear()
        checks.append(check)
        if not as_json:
            print_text(_line(check, language))
            if check.hint and not check.is_ok:
                print_text(f"    {display_line(check.hint)}")
        progress.show(say("loading", language))
    progress.clear()
    if as_json:
        print_json({"ok": all(check.is_ok for check in checks), "checks": [asdict(check) for check in checks]})
    return 0 if all(check.is_ok for check in checks) else _FAILED


def _line(check: Check, language: str) -> str:
    mark = say("doctor.ok" if check.is_ok else "doctor.bad", language)
    return f"{mark}  {say(f'doctor.{check.name}', language)}: {display_line(check.detail)}"


def _checks(paths: Paths, settings: Settings, profile_name: str | None) -> Iterator[Check]:
    yield Check("system", True, f"{platform.platform()}, Python {platform.python_version()}")
    yield _memory()
    yield _disk(paths)
    yield _home(paths)
    yield _llama_cpp()
    try:
        profile = load_chosen_profile(paths, profile_name or settings.profile)
        yield Check("profile", True, f"{profile.name}: {len(profile.experts)} experts on {profile.base_model}")
        yield from _engine(paths, settings, profile)
    except AgentError as error:
        yield Check("engine", False, error.problem, error.hint)


def _memory() -> Check:
    memory = psutil.virtual_memory()
    detail = f"{memory.available / 2**30:.1f} of {memory.total / 2**30:.1f} GB free"
    return Check("memory", memory.available > _LITTLE_MEMORY, detail, "Close other programs.")


def _disk(paths: Paths) -> Check:
    free = shutil.disk_usage(paths.home).free
    return Check("disk", free > _LITTLE_DISK, f"{free / 2**30:.1f} GB free at {paths.home}", "Free some space.")


def _home(paths: Paths) -> Check:
    try:
        with open_store(paths) as store:
            found = store.integrity()
        return Check("home", found == "ok", f"{paths.home}: {found}", "Restore a copy of the home.")
    except HomeBusy as busy:
        return Check("home", True, busy.problem)
    except AgentError as error:
        return Check("home", False, error.problem, error.hint)


def _llama_cpp() -> Check:
    try:
        version = metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:
        hint = "Install it: `pip install llama-cpp-python`; it needs a C++ compiler, or a wheel built elsewhere."
        return Check("llama_cpp", False, "llama-cpp-python is not installed", hint)
    override = os.environ.get("LLAMA_CPP_LIB_PATH")
    return Check("llama_cpp", True, f"llama-cpp-python {version}" + (f", library from {override}" if override else ""))


def _engine(paths: Paths, settings: Settings, profile: Profile) -> Iterator[Check]:
    """Load the base as the chat would, say where it runs, and measure it."""
    base = find_base(profile, paths)
    yield Check("base", True, f"{base} ({base.stat().st_size / 2**20:,.0f} MB)")
    runtime = engine_child(paths)
    try:
        info, _, short = ladder.load(runtime, load_plan(profile, base, settings))
        yield Check("backend", True, f"{info.backend}: {info.backend_reason}")
        if short:
            yield Check("fit", False, short, "Close other programs, or choose a smaller base or context.")
        prompt = runtime.encode("The quick brown fox jumps over the lazy dog. " * 12)
        for piece in runtime.generate([Request(prompt, 24)]):
            if isinstance(piece, Finished):
                usage = piece.usage
                read = usage.prompt_tokens / max(usage.prefill_ms, 1e-3) * 1000
                write = usage.completion_tokens / max(usage.decode_ms, 1e-3) * 1000
                yield Check("speed", True, f"reads {read:.0f} and writes {write:.0f} tokens a second")
    finally:
        runtime.close()
