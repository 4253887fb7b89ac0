"""The servers of the configuration as they are started and called, and what of them a person approves.

Pure: starts nothing and looks up no secret. The configuration has checked their shape; here is refused what could
deceive whoever approves them, or send what is said to them in the open.
"""

import ipaddress
import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit

from engine.errors import UsageProblem
from engine.harness.config import PlacedServer, SecretName, filled
from engine.harness.mcp.cleaning import is_plain

MOST_SERVERS: Final = 32
MOST_PREFIX_CHARACTERS: Final = 24

_TAKEN: Final = ("saved",)
"""Sources of tools that are no servers."""
_NOT_IN_PREFIX: Final = re.compile(r"[^A-Za-z0-9-]+")

SecretOf = Callable[[SecretName], str]
"""The secret of a name. Raises: AgentError where there is none."""


@dataclass(frozen=True, slots=True)
class StdioEntry:
    """A program that is started and spoken to over its standard input and output."""

    name: str
    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """What it is given beside what every program needs; secrets by name."""
    folder: str | None = None
    """Where it runs: the trusted folder that names it. None: an empty folder of its own."""
    call_s: float | None = None
    """How long a call may take without a sign of progress; None leaves it to the limits of all."""


@dataclass(frozen=True, slots=True)
class HttpEntry:
    """A server that runs elsewhere and speaks streamable HTTP."""

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every request; secrets by name."""
    call_s: float | None = None


Entry = StdioEntry | HttpEntry


@dataclass(frozen=True, slots=True)
class EntryProblem:
    name: str
    problem: str


def entries_of(servers: Mapping[str, PlacedServer]) -> tuple[tuple[Entry, ...], tuple[EntryProblem, ...]]:
    """The servers that may be used, without those switched off, and what is wrong with the others."""
    entries: dict[str, Entry] = {}
    problems: list[EntryProblem] = []
    for name, server in servers.items():
        if server.disabled:
            continue
        prefix = prefix_of(name).lower()
        try:
            if name.lower() in _TAKEN:
                raise UsageProblem("This name is the program's own.")
            if prefix in entries:
                raise UsageProblem(f"Its name is too much like `{entries[prefix].name}`.")
            if len(entries) >= MOST_SERVERS:
                raise UsageProblem(f"There may be at most {MOST_SERVERS} servers.")
            entries[prefix] = _entry_of(name, server)
        except UsageProblem as problem:
            problems.append(EntryProblem(name, problem.problem))
    return tuple(entries.values()), tuple(problems)


def fingerprint_of(entry: Entry) -> str:
    """Of everything that decides what runs or is asked; approving it approves exactly this."""
    match entry:
        case StdioEntry():
            told: list[Any] = ["stdio", entry.command, list(entry.arguments), dict(entry.environment), entry.folder]
        case HttpEntry():
            told = ["http", entry.url, dict(entry.headers)]
    return "sha256:" + sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def described(entry: Entry) -> str:
    """What a person approves, whole; the configuration holds only the names of secrets."""
    match entry:
        case StdioEntry():
            lines = [shlex.join([entry.command, *entry.arguments])]
            if entry.folder is not None:
                lines.append(f"cwd: {entry.folder}")
            lines += [f"env: {name}={value}" for name, value in sorted(entry.environment.items())]
        case HttpEntry():
            lines = [entry.url, *(f"header: {name}: {value}" for name, value in sorted(entry.headers.items()))]
    return "\n".join(lines)


def prefix_of(name: str) -> str:
    """What stands before the names of a server's tools: letters, digits, `-` and single `_`."""
    plain = _NOT_IN_PREFIX.sub("_", name).strip("_")
    if plain and name.isascii() and len(plain) <= MOST_PREFIX_CHARACTERS:
        return plain
    # Names in other scripts would all look alike, and long ones might once they are cut.
    mark = sha256(name.encode()).hexdigest()[:8]
    return f"{plain[: MOST_PREFIX_CHARACTERS - 9].rstrip('_') or 'server'}_{mark}"


def with_secrets(values: Mapping[str, str], secret_of: SecretOf) -> dict[str, str]:
    """`values` with every secret in the place of its name. Raises: AgentError where one is missing."""
    return {name: filled(value, secret_of) for name, value in values.items()}


def _entry_of(name: str, server: PlacedServer) -> Entry:
    """Raises: UsageProblem."""
    shown = (server.command or "", *server.args, server.url or "", *server.env.values(), *server.headers.values())
    if not all(map(is_plain, shown)):
        raise UsageProblem("It holds characters that cannot be seen.")
    if server.command is not None:
        folder = server.place or None
        return StdioEntry(name, server.command, tuple(server.args), dict(server.env), folder, server.timeout_s)
    return HttpEntry(name, _address(server.url or ""), dict(server.headers), server.timeout_s)


def _address(url: str) -> str:
    """Raises: UsageProblem unless it is https, or http within the own network, in letters that look like no others."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise UsageProblem("`url` is no address.") from None
    if parts.scheme not in ("http", "https") or not host or parts.fragment or not url.isascii():
        raise UsageProblem("`url` must be an http or https address in ASCII.")
    if parts.scheme == "http" and not _is_near(host):
        raise UsageProblem("`url` must begin with https, because others on the way could read and change http.")
    return url


def _is_near(host: str) -> bool:
    """Whether a host is this machine or one of the own network, as far as its name says."""
    if host == "localhost" or host.endswith((".localhost", ".local", ".lan", ".internal")):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False
