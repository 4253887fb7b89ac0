"""Checks of the machine: system, memory, disks, clock, packages, terminal, browser."""

import locale
import platform
import shutil
import sys
import webbrowser
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import Final

import psutil

from app.doctor.check import Check, bad, ok, warning
from app.models.hub import default_endpoint
from app.paths import Paths

_LITTLE_DISK: Final = 2 << 30
_LITTLE_MEMORY: Final = 1 << 30
_WRITTEN: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""A clock that shows an earlier time than this program was written at is wrong."""
_SKEW: Final = timedelta(minutes=10)
_NEEDED: Final = (
    "click",
    "fastapi",
    "filelock",
    "gradio",
    "httpx",
    "huggingface-hub",
    "keyring",
    "llama-cpp-python",
    "numpy",
    "platformdirs",
    "psutil",
    "sqlite-utils",
    "textual",
    "uvicorn",
)


def system() -> Check:
    return ok("system", f"{platform.platform()}, Python {platform.python_version()}")


def memory(available_bytes: int | None = None) -> Check:
    """`available_bytes`: instead of what this machine has."""
    found = psutil.virtual_memory()
    free = found.available if available_bytes is None else available_bytes
    detail = f"{free / 2**30:.1f} of {found.total / 2**30:.1f} GB free"
    if free < _LITTLE_MEMORY:
        return bad("memory", detail, "Close other programs, or choose a smaller base.")
    return ok("memory", detail)


def disk(paths: Paths) -> Check:
    """Of the home, and of the models where those are on another disk."""
    places = [paths.home]
    if paths.models.exists() and paths.models.stat().st_dev != paths.home.stat().st_dev:
        places.append(paths.models)
    free = {place: shutil.disk_usage(place).free for place in places}
    detail = ", ".join(f"{size / 2**30:.1f} GB free at {place}" for place, size in free.items())
    if min(free.values()) < _LITTLE_DISK:
        return bad("disk", detail, "Free some space: nothing can be stored, and no model fetched, on a full disk.")
    return ok("disk", detail)


def clock(newest: str | None, now: datetime) -> Check:
    """`newest`: when something was last said, ISO 8601."""
    detail = now.astimezone().isoformat(sep=" ", timespec="minutes")
    if now < _WRITTEN:
        return warning(
            "clock", f"{detail} is before this program was written", "Set the clock, or let it follow the net."
        )
    if newest and datetime.fromisoformat(newest) - now > _SKEW:
        return warning(
            "clock",
            f"{detail}, but something was said on {newest[:16].replace('T', ' ')} UTC",
            "The clock was set back, or was wrong then: what is said now sorts before it.",
        )
    return ok("clock", detail)


def packages() -> Check:
    found, missing = [], []
    for name in _NEEDED:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        return bad("packages", f"missing: {', '.join(missing)}", f"Run `pip install {' '.join(missing)}`.")
    return ok("packages", ", ".join(found))


def terminal(environment: Mapping[str, str], *, encoding: str | None = None) -> Check:
    """Whether what is shown arrives: the locale's encoding and the colours."""
    encoding = encoding or locale.getpreferredencoding(False)
    if environment.get("NO_COLOR"):
        colours = "no colours, as NO_COLOR is set"
    elif environment.get("COLORTERM") in ("truecolor", "24bit"):
        colours = "all colours"
    else:
        colours = f"colours of {environment.get('TERM') or 'an unknown terminal'}"
    size = shutil.get_terminal_size()
    detail = f"{encoding}, {colours}, {size.columns} x {size.lines}"
    if encoding.replace("-", "").lower() != "utf8":
        return warning(
            "terminal",
            detail,
            "Chinese and other signs may not show: choose a UTF-8 locale, such as `export LANG=C.UTF-8`.",
        )
    if environment.get("TERM") == "dumb":
        return warning("terminal", detail, "The chat needs a terminal that can move its cursor; ask works in any.")
    return ok("terminal", detail)


def browser(environment: Mapping[str, str]) -> Check:
    """Whether `macaron web` can open a page by itself."""
    hint = "`macaron web --no-browser` prints the address; open it in a browser on this machine."
    has_screen = sys.platform != "linux" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
    if not has_screen:
        return warning("browser", "there is no desktop here", hint)
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return warning("browser", "no browser was found", hint)
    return ok("browser", Path(str(getattr(found, "name", "") or type(found).__name__)).name)


def hub(address: str, environment: Mapping[str, str]) -> Check:
    """Where models would be fetched from; nothing is contacted. `address` is the setting."""
    chosen = address or environment.get("HF_ENDPOINT") or default_endpoint()
    by = "settings.toml" if address else "HF_ENDPOINT" if environment.get("HF_ENDPOINT") else "the default"
    detail = f"{chosen}, from {by}; contacted only when you fetch a model"
    if not chosen.startswith("https://"):
        return warning("hub", detail, "Use an https address, or anyone on the way may change what you fetch.")
    return ok("hub", detail)
