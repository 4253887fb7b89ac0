"""A check of the configuration of tools: what of harness.toml, of granted folders and of MCP servers is not in use."""

from pathlib import Path

from app.doctor.check import Check, bad, ok, warning
from app.harness.home_tools import APPROVALS_FILE
from app.harness.loading import HarnessFiles
from app.paths import Paths
from engine.errors import AgentError
from engine.harness.config import Harnessed
from engine.harness.mcp import ApprovalStore, entries_of
from engine.harness.mcp.entries import fingerprint_of


def harness(paths: Paths) -> Check:
    """Reads the files and starts nothing."""
    try:
        files = HarnessFiles(paths.home)
        own = files.current()
        found = files.current([Path(one.path).expanduser() for one in own.config.folders])
    except AgentError as error:
        return bad("harness", error.problem, error.hint)
    if found.complaints:
        first = found.complaints[0]
        return warning("harness", f"{len(found.complaints)} mistakes, such as {first.text}", first.hint)
    if found.waiting:
        place = found.waiting[0].place
        return warning(
            "harness", f"{place} brings instructions that are not used", f"Read them: `macaron tools trust {place}`."
        )
    return _servers(paths, found) or ok("harness", _told(found))


def _servers(paths: Paths, found: Harnessed) -> Check | None:
    entries, refused = entries_of(found.config.mcp_servers)
    if refused:
        return warning("harness", f"{refused[0].name}: {refused[0].problem}", "Correct it in harness.toml.")
    approvals = ApprovalStore(paths.home / APPROVALS_FILE)
    waiting = [one.name for one in entries if not approvals.may_start(one.name, fingerprint_of(one))]
    if not waiting:
        return None
    return warning(
        "harness", f"MCP servers that wait for you: {', '.join(waiting)}", f"`macaron servers approve {waiting[0]}`"
    )


def _told(found: Harnessed) -> str:
    config = found.config
    counts = {
        "instructions": config.instructions,
        "skills": config.skills,
        "hooks": config.hooks,
        "folders": config.folders,
        "servers": config.mcp_servers,
    }
    said = [f"{len(values)} {name}" for name, values in counts.items() if values]
    return ", ".join(said) or "nothing but what comes with the program"
