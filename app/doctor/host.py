"""Checks of the host that runs for this home: does it answer, what does it hold, what did it have to mend."""

from collections.abc import Iterator
from contextlib import closing

from app.doctor.check import Check, ok, warning
from app.host.address import HostAddress
from app.paths import Paths
from engine.errors import AgentError


def host(paths: Paths, address: HostAddress | None) -> Iterator[Check]:
    """For a home that another process holds. `address`: where its host says that it listens, if there is one."""
    if address is None:
        yield ok("host", "none; another program uses the home, and its base is not loaded a second time")
        return
    # Only now: HTTP is for homes that have a host.
    from app.host.starting import find_host
    from app.remote_client import RemoteClient

    found = find_host(paths)
    if found is None:
        yield _silent(address)
        return
    try:
        with closing(RemoteClient(paths, found)) as client:
            facts = client.host()
    except AgentError as error:
        yield warning("host", error.problem, error.hint or "Run `macaron serve --stop` and try again.")
        return
    held = f"{facts['profile']}, engine {facts['engine_bytes'] / 2**20:,.0f} MB" if facts["profile"] else "no base now"
    yield ok(
        "host",
        f"process {facts['pid']} on port {facts['port']}, {facts['rss_bytes'] / 2**20:,.0f} MB; holds {held}; "
        "its base is not loaded a second time",
    )
    for repair in facts["repairs"]:
        yield warning("repairs", str(repair), "Make a backup with `macaron backup`, and check the disk.")


def _silent(address: HostAddress) -> Check:
    return warning(
        "host",
        f"process {address.pid} should listen on port {address.port}, but does not answer",
        "Wait a moment. If it stays so, end that process; nothing that was said is lost.",
    )
